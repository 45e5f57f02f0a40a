extension Adapter {
    /// How often the adapter's thread has woken up; constant while nothing happens.
    @_spi(Benchmark) nonisolated public var wakeUpCount: UInt64 { loop.wakeUpCount }
}
