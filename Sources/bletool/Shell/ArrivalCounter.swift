import Synchronization

/// Counts the values that arrive while a command of the shell waits for them.
///
/// Each command counts for itself: a wait that was cancelled has ended its stream for good, and values that arrived
/// before the command are not what it waits for.
final class ArrivalCounter: Sendable {
    private struct State {
        var count = 0
        var counts: AsyncStream<Int>.Continuation?
    }

    private let state = Mutex(State())

    /// A value has arrived.
    func add() {
        state.withLock { state in
            state.count += 1
            _ = state.counts?.yield(state.count)
        }
    }

    /// Begins at 0 again.
    /// - Returns: the count after each value; only the latest waits to be read.
    func restart() -> AsyncStream<Int> {
        let (counts, continuation) = AsyncStream<Int>.makeStream(bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0 = State(counts: continuation) }
        return counts
    }
}
