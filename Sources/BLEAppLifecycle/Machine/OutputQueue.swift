import BLEPackets

/// What the owner of an `AppLifecycle` has yet to do, in order.
struct OutputQueue {
    private var outputs = Queue<LifecycleOutput>()

    mutating func next() -> LifecycleOutput? { outputs.popFirst() }

    mutating func emit(_ output: LifecycleOutput) { outputs.append(output) }

    /// Before all that has not been fetched: what an app hears of has been written down by then.
    mutating func emitFirst(_ output: LifecycleOutput) { outputs.prepend(output) }
}
