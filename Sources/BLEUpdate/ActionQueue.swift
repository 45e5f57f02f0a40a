/// The actions that a machine wants done, in order.
struct ActionQueue: Sendable {
    private var actions: [UpdateAction] = []
    private var start = 0
    private(set) var failure: UpdateError?

    /// Of progress that still waits the first and the last remain: a device may report as often as it likes.
    mutating func add(_ action: UpdateAction) {
        let last = actions.count - 1
        if case .progress = action, last > start, case .progress = actions[last], case .progress = actions[last - 1] {
            actions[last] = action
        } else {
            actions.append(action)
        }
    }

    /// The machine cannot go on: what was to be sent is not sent any more.
    mutating func fail(_ error: UpdateError) {
        failure = error
        actions = [.failed(error)]
        start = 0
    }

    mutating func next() -> UpdateAction? {
        guard start < actions.count else {
            actions.removeAll(keepingCapacity: true)
            start = 0
            return nil
        }
        defer { start += 1 }
        return actions[start]
    }
}
