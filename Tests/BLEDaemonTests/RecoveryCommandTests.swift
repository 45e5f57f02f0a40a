import BLETransport
import FoundationEssentials
import Glibc
import Testing

@testable import BLEDaemon

@Suite("The owner's own step to reset an adapter")
struct RecoveryCommandTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "jelling-command-\(UUID())")

    /// Runs a command to its end.
    private func run(_ command: [String], adapter: String = "hci7") async throws -> String? {
        let loop = try EventLoop(name: "command")
        let runner = RecoveryCommand(on: loop)
        nonisolated(unsafe) let held = runner
        let (stream, continuation) = AsyncStream<String?>.makeStream()
        try loop.start()
        loop.run { unsafe held.run(command, adapter: adapter) { continuation.yield($0) } }
        var ends = stream.makeAsyncIterator()
        let problem = await ends.next() ?? "no end"
        loop.run { unsafe held.cancel() }
        loop.stop()
        await loop.waitUntilStopped()
        return problem
    }

    @Test("it gets its arguments and the adapter's name, without a shell, and its end is told in words (A78)")
    func runs() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let script = folder.appending(path: "step").path
        let said = folder.appending(path: "said").path
        try Data("#!/bin/sh\nprintf '%s|' \"$@\" >\(said)\n".utf8).write(to: URL(filePath: script))
        unsafe chmod(script, 0o700)
        #expect(try await run([script, "$HOME; rm -rf /", "a b"]) == nil)
        #expect(try String(contentsOfFile: said, encoding: .utf8) == "$HOME; rm -rf /|a b|hci7|")
        #expect(try await run(["/bin/false"]) == "‘/bin/false’ failed with status 1")
        #expect(try await run([folder.path + "/none"])?.contains("could not be started") == true)
    }

    @Test(
        "a settings file names a program by its path, or is refused",
        arguments: [
            (#"{"recoveryCommand": ["/bin/true", "-q"]}"#, true), (#"{"recoveryCommand": []}"#, false),
            (#"{"recoveryCommand": ["/nonexistent/x"]}"#, false), (#"{"recoveryCommand": ["/bin"]}"#, false),
            (#"{"recoveryCommand": ["reset-radio"]}"#, false), (#"{"recoveryCommand": [""]}"#, false),
            (#"{"recoveryCommand": "/bin/sh -c x"}"#, false),
            (#"{"keepsAwake": true, "unblocksAfterReset": true}"#, true),
            (#"{"keepsAwake": 1}"#, false),
        ])
    func settings(text: String, isAccepted: Bool) throws {
        let settings = try? DaemonSettings(file: Data(text.utf8))
        #expect((settings != nil) == isAccepted)
        if text.contains("-q") {
            #expect(settings?.recoveryCommand == ["/bin/true", "-q"])
            #expect(settings?.warnings.isEmpty == true)
            #expect(settings?.keysForRestart(since: DaemonSettings()) == ["recoveryCommand"])
        }
    }
}
