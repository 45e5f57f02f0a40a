import Glibc

/// A console that prints nothing, for what works for another command.
final class SilentConsole: Sendable {
    let console: Console
    private let descriptor: Int32

    init() {
        descriptor = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        console = Console(isJSON: true, output: descriptor, errors: descriptor)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
