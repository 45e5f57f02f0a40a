import Glibc
import Synchronization

/// A wait for a descriptor, in a thread of its own, so that tasks go on meanwhile; it ends with the task that waits.
enum DescriptorWait {
    /// How often a wait checks for cancellation, in milliseconds.
    private static let cancellationCheckInterval: Int32 = 100

    /// Whether a descriptor is ready, or has failed, at this moment.
    static func isReady(_ descriptor: Int32, _ events: Int32) -> Bool { poll(descriptor, events, 0) }

    /// Whether nobody is at the other side any more.
    static func isHungUp(_ descriptor: Int32) -> Bool {
        var waited = pollfd(fd: descriptor, events: 0, revents: 0)
        return unsafe Glibc.poll(&waited, 1, 0) > 0
    }

    /// - Parameter events: `POLLIN`, `POLLOUT`.
    /// - Returns: whether the descriptor is ready, or has failed; `false` when the task is cancelled.
    static func until(_ descriptor: Int32, _ events: Int32) async -> Bool {
        if isReady(descriptor, events) { return !Task.isCancelled }
        let isCancelled = Flag()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                ThreadBody {
                    var isReady = false
                    while !isReady, !isCancelled.value.load(ordering: .relaxed) {
                        isReady = poll(descriptor, events, cancellationCheckInterval)
                    }
                    continuation.resume(returning: isReady)
                }.start()
            }
        } onCancel: {
            isCancelled.value.store(true, ordering: .relaxed)
        }
    }

    private final class Flag: Sendable { let value = Atomic<Bool>(false) }

    private static func poll(_ descriptor: Int32, _ events: Int32, _ limit: Int32) -> Bool {
        var waited = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return unsafe Glibc.poll(&waited, 1, limit) > 0
    }
}
