import BLEHost

/// What was measured on a link, or is missing on it, as a sequence: see `Peripheral.reports()`. A sequence can be
/// iterated once.
public struct LinkReports: AsyncSequence, Sendable {
    public typealias Element = LinkReport

    /// The number of reports that can wait; beyond it the oldest are dropped.
    public static let capacity = 256

    let stream: BoundedStream<LinkReport>
    let dropped: DropCounter

    /// Reports that were dropped because they were not consumed in time.
    public var droppedCount: Int { dropped.value }

    /// Create only one iterator: a second one would take reports from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeIterator()) }

    /// Returns the reports in their order. They end with `nil` if this side released the link, otherwise with an error.
    public struct Iterator: AsyncIteratorProtocol {
        var base: BoundedStream<LinkReport>.Iterator

        /// - Throws: `BLEError.linkLost` when the link ends.
        public nonisolated(nonsending) mutating func next() async throws(BLEError) -> LinkReport? {
            try await next(isolation: #isolation)
        }

        /// - Throws: `BLEError.linkLost` when the link ends.
        /// - Parameter actor: where the loop runs; elements that have come are returned without leaving it.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BLEError) -> LinkReport? {
            try await base.next(isolation: actor)
        }
    }
}
