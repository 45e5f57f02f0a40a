/// What the owner of an `AppLifecycle` has yet to do, in order.
struct OutputQueue {
    private var outputs: [LifecycleOutput] = []
    private var taken = 0

    mutating func next() -> LifecycleOutput? {
        guard taken < outputs.count else {
            outputs.removeAll(keepingCapacity: true)
            taken = 0
            return nil
        }
        taken += 1
        return outputs[taken - 1]
    }

    mutating func emit(_ output: LifecycleOutput) { outputs.append(output) }

    /// Before all that has not been fetched: what an app hears of has been written down by then.
    mutating func emitFirst(_ output: LifecycleOutput) { outputs.insert(output, at: taken) }
}
