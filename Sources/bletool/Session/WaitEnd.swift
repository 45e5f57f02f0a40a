import BLELinux
import Glibc
import Synchronization

/// Ends a wait for a descriptor from another thread, so that the wait need not look again and again whether it should.
final class WaitEnd: Sendable {
    enum Outcome {
        /// The descriptor is ready, or has failed.
        case ready
        /// `end` was called.
        case ended
        /// The time was over.
        case overdue
    }

    /// How often a wait looks where the system has no descriptor left that could end it, in milliseconds.
    private static let slice: Int32 = 100

    private let isEnded = Atomic<Bool>(false)
    private let descriptor = clinux_eventfd_create()

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Ends the wait that goes on, and each later one.
    func end() {
        isEnded.store(true, ordering: .releasing)
        var one: UInt64 = 1
        _ = unsafe write(descriptor, &one, 8)
    }

    /// Waits in the kernel.
    /// - Parameters:
    ///   - events: `POLLIN`, `POLLOUT`.
    ///   - limit: milliseconds; `nil` for no limit.
    func wait(for waited: Int32, _ events: Int32, limit: Int32? = nil) -> Outcome {
        while !isEnded.load(ordering: .acquiring) {
            var descriptors = [
                pollfd(fd: waited, events: Int16(events), revents: 0),
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            ]
            let count = unsafe poll(&descriptors, 2, limit ?? (descriptor < 0 ? Self.slice : -1))
            if count > 0, descriptors[0].revents != 0 { return .ready }
            if count == 0, limit != nil { return .overdue }
        }
        return .ended
    }
}
