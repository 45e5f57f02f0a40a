import BLETransport
import Glibc

// The loop's thread inherits the mask, so that only this thread takes the signals.
var signals = sigset_t()
unsafe sigemptyset(&signals)
unsafe sigaddset(&signals, SIGINT)
unsafe sigaddset(&signals, SIGTERM)
unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)

func fail(_ message: String, status: Int32) -> Never {
    let text = Array((message + "\n").utf8)
    _ = unsafe write(STDERR_FILENO, text, text.count)
    exit(status)
}

switch CommandLine.arguments.dropFirst().first {
case "--help", "-h":
    print(Options.usage)
    exit(0)
case "--version":
    print(Options.version)
    exit(0)
default: break
}

do throws(UsageError) {
    let options = try Options(CommandLine.arguments.dropFirst())
    do throws(TransportError) {
        let loop = try EventLoop(name: "air")
        nonisolated(unsafe) let server = try Server(options, on: loop)
        // From here on only the loop uses the server; this thread waits.
        let readiness = unsafe server.readiness
        try loop.start()
        print(readiness)
        fflush(nil)
        var signal: Int32 = 0
        while unsafe sigwait(&signals, &signal) != 0 {}
        loop.run {
            unsafe server.close()
            loop.stop()
        }
        loop.join()
    } catch {
        fail("simulated-controllers: \(error)", status: 3)
    }
} catch {
    fail("simulated-controllers: \(error.message); see ‘simulated-controllers --help’", status: 2)
}
