import BLETransport
import Glibc

/// Reports that memory is short: the kernel's pressure stall information (Linux, Documentation/accounting/psi.rst), or
/// a named pipe into which somebody writes.
///
/// Nothing polls: the kernel tells it when tasks have waited for memory for a tenth of two seconds, and at most once in
/// that time.
final class MemoryPressure {
    private let descriptor: Int32
    private let isPipe: Bool
    private var registration: EventLoop.Registration?

    /// An unprivileged process may only watch windows of a multiple of two seconds.
    private static let trigger = "some 200000 2000000"

    /// `nil`, with errno, if the kernel or the path does not offer it.
    init?(path: String) {
        descriptor = unsafe open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        var information = stat()
        let isKnown = unsafe fstat(descriptor, &information) == 0
        isPipe = isKnown && information.st_mode & S_IFMT == S_IFIFO
        let trigger = Array(Self.trigger.utf8) + [0]
        let written = isPipe ? 0 : unsafe write(descriptor, trigger, trigger.count)
        guard written >= 0 else {
            let code = errno
            close(descriptor)
            errno = code
            return nil
        }
    }

    deinit { close(descriptor) }

    /// - Parameter report: called on the loop, for each report.
    func watch(on loop: EventLoop, report: @escaping () -> Void) throws(TransportError) {
        registration = try loop.register(descriptor, for: isPipe ? .readable : .urgent) { [weak self] readiness in
            guard let self else { return }
            // The group that it belonged to has been removed.
            if readiness.contains(.failed) { return cancel() }
            if isPipe {
                var octets = [UInt8](repeating: 0, count: 256)
                guard unsafe read(descriptor, &octets, octets.count) > 0 else { return }
            }
            report()
        }
    }

    func cancel() {
        registration?.cancel()
        registration = nil
    }
}
