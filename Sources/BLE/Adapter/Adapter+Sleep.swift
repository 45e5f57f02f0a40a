import BLETransport
import Synchronization

extension Adapter {
    /// Waits on the clock of the adapter's loop, the clock of everything else here.
    /// - Throws: `CancellationError` if the task is cancelled or the adapter ends first.
    func sleep(for duration: Duration) async throws {
        let token = Self.nextToken.add(1, ordering: .relaxed).oldValue
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard ending == nil, !Task.isCancelled else { return continuation.resume(returning: false) }
                let deadline = loop.makeDeadline { self.assumeIsolated { $0.wake(token, isOver: true) } }
                sleepers[token] = (continuation, deadline)
                deadline.set(atMicroseconds: loop.nowMicroseconds + UInt64(max(0, duration.microseconds)))
            }
        } onCancel: {
            Task { await self.wake(token, isOver: false) }
        }
        guard isOver else { throw CancellationError() }
    }

    func wake(_ token: UInt64, isOver: Bool) {
        guard let sleeper = sleepers.removeValue(forKey: token) else { return }
        sleeper.deadline.cancel()
        sleeper.continuation.resume(returning: isOver)
    }
}
