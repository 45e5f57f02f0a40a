import Synchronization

/// Octets that wait between one that brings them and one that takes them away.
final class OctetBuffer: Sendable {
    private struct Waiter {
        let number: Int
        let condition: @Sendable (_ count: Int, _ isFinished: Bool) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var octets: [UInt8] = []
        /// Where in `octets` those begin that wait.
        var start = 0
        var isFinished = false
        var waiters: [Waiter] = []
        var lastNumber = 0

        var count: Int { octets.count - start }

        /// Removes those whose condition holds.
        mutating func ready() -> [Waiter] {
            guard !waiters.isEmpty else { return [] }
            let (count, isFinished) = (count, isFinished)
            let ready = waiters.filter { $0.condition(count, isFinished) }
            if !ready.isEmpty { waiters.removeAll { $0.condition(count, isFinished) } }
            return ready
        }
    }

    private let state = Mutex(State())

    /// How many octets wait.
    var count: Int { state.withLock { $0.count } }
    /// Whether nothing more comes.
    var isFinished: Bool { state.withLock { $0.isFinished } }

    func append(_ octets: some Collection<UInt8>) {
        change { $0.octets += octets }
    }

    /// Puts octets back that were taken last and have gone nowhere.
    func putBack(_ octets: [UInt8]) {
        change { state in
            state.octets.replaceSubrange(..<state.start, with: octets)
            state.start = 0
        }
    }

    /// Nothing more comes.
    func finish() { change { $0.isFinished = true } }

    /// Takes what waits, as soon as there is something.
    /// - Returns: `nil` when nothing more comes, and when the task is cancelled.
    func next(atMost limit: Int) async -> [UInt8]? {
        await wait { count, isFinished in count > 0 || isFinished }
        guard !Task.isCancelled else { return nil }
        return change { state in
            guard state.count > 0 else { return nil }
            let end = min(state.octets.count, state.start + limit)
            defer {
                state.start = end
                if end == state.octets.count {
                    state.octets.removeAll(keepingCapacity: true)
                    state.start = 0
                } else if end >= 65536 {
                    state.octets.removeFirst(end)
                    state.start = 0
                }
            }
            return Array(state.octets[state.start..<end])
        }
    }

    /// Returns as soon as a condition holds, and when the task is cancelled.
    func wait(until condition: @escaping @Sendable (_ count: Int, _ isFinished: Bool) -> Bool) async {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // A cancellation that comes later finds the waiter.
                    if Task.isCancelled || condition(state.count, state.isFinished) { return true }
                    state.waiters.append(Waiter(number: number, condition: condition, continuation: continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume()
        }
    }

    @discardableResult
    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let (result, ready) = state.withLock { state -> (Result, [Waiter]) in
            let result = body(&state)
            return (result, state.ready())
        }
        for waiter in ready { waiter.continuation.resume() }
        return result
    }
}
