import BLEPackets

/// The outputs for the owner of an `AppLifecycle`, in order.
struct OutputQueue {
    private var outputs = Queue<LifecycleOutput>()

    mutating func next() -> LifecycleOutput? { outputs.popFirst() }

    mutating func emit(_ output: LifecycleOutput) { outputs.append(output) }

    /// Before all outputs that have not been fetched: events are written to the journal before an app receives them.
    mutating func emitFirst(_ output: LifecycleOutput) { outputs.prepend(output) }
}
