import BLEPackets

/// The outputs for the owner of an `AppLifecycle`, in order.
struct OutputQueue {
    private var outputs = Queue<LifecycleOutput>()

    mutating func next() -> LifecycleOutput? { outputs.popFirst() }

    mutating func emit(_ output: LifecycleOutput) { outputs.append(output) }

    /// Puts an output before all that have not been fetched: a journal entry must be written before an app receives the
    /// event.
    mutating func emitFirst(_ output: LifecycleOutput) { outputs.prepend(output) }
}
