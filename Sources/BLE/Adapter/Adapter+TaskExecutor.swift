import BLETransport

extension Adapter {
    /// Runs tasks on the adapter's own thread. A call to the adapter then switches no thread, and a program that does
    /// nothing else needs no other one.
    ///
    ///     try await withTaskExecutorPreference(adapter.taskExecutor) {
    ///         for handle in handles { values.append(try await peripheral.read(handle)) }
    ///     }
    ///
    /// What such a task computes between two calls holds up the adapter and its links: it must not block or take long.
    nonisolated public var taskExecutor: any TaskExecutor { loopTaskExecutor }
}
