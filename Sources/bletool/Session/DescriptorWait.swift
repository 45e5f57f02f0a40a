import Glibc

/// A wait for a descriptor, in a thread of its own, so that tasks go on meanwhile; it ends with the task that waits.
enum DescriptorWait {
    /// Whether a descriptor is ready, or has failed, at this moment.
    static func isReady(_ descriptor: Int32, _ events: Int32) -> Bool {
        var waited = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        return unsafe poll(&waited, 1, 0) > 0
    }

    /// Whether nobody is at the other side any more.
    static func isHungUp(_ descriptor: Int32) -> Bool { isReady(descriptor, 0) }

    /// - Parameter events: `POLLIN`, `POLLOUT`.
    /// - Returns: whether the descriptor is ready, or has failed; `false` when the task is cancelled.
    static func until(_ descriptor: Int32, _ events: Int32) async -> Bool {
        if isReady(descriptor, events) { return !Task.isCancelled }
        let end = WaitEnd()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                ThreadBody { continuation.resume(returning: end.wait(for: descriptor, events) == .ready) }.start()
            }
        } onCancel: {
            end.end()
        }
    }
}
