import BLETransport

extension Adapter {
    /// Runs tasks on the adapter's own thread, so that a call to the adapter switches no threads.
    ///
    ///     try await withTaskExecutorPreference(adapter.taskExecutor) {
    ///         for handle in handles { values.append(try await peripheral.read(handle)) }
    ///     }
    ///
    /// The adapter and its links wait while such a task computes: it must not block or compute for long.
    nonisolated public var taskExecutor: any TaskExecutor { loopTaskExecutor }
}
