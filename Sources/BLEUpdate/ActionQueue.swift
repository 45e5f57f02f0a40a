/// The actions that a machine wants done, in order.
struct ActionQueue: Sendable {
    private var actions: [UpdateAction] = []
    private var start = 0

    mutating func add(_ action: UpdateAction) { actions.append(action) }

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
