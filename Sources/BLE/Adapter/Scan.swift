import BLEHost
import BLEPackets

/// Discovered devices, as a sequence (SPEC CEN-5).
///
/// Each iteration is a separate scan: it starts with the loop and ends with it.
public struct Scan: AsyncSequence, Sendable {
    public typealias Element = Discovery

    /// The number of discoveries that can wait, with 1 MiB in all; beyond that the oldest are dropped.
    public static let capacity = 4096

    let adapter: Adapter
    let request: ScanRequest
    private let dropped = DropCounter()

    init(adapter: Adapter, request: ScanRequest) {
        self.adapter = adapter
        self.request = request
    }

    /// Discoveries that were dropped because they were not consumed in time.
    public var droppedCount: Int { dropped.value }

    /// Starts a scan, which ends with the iterator.
    public func makeAsyncIterator() -> Iterator {
        let (stream, values) = BoundedStream<Discovery>.make(capacity: Self.capacity, dropped: dropped)
        let source = Source(values: values)
        let adapter = adapter
        let request = request
        let beginning = Task { await adapter.beginScan(request, source: source) }
        values.onTermination {
            Task {
                if let operation = await beginning.value { await adapter.endSequence(operation) }
            }
        }
        return Iterator(base: stream.makeIterator())
    }

    /// Returns the discoveries of one scan, in their order.
    public struct Iterator: AsyncIteratorProtocol {
        var base: BoundedStream<Discovery>.Iterator

        /// - Throws: `BLEError` when scanning is not possible or the adapter is lost.
        public nonisolated(nonsending) mutating func next() async throws(BLEError) -> Discovery? {
            try await next(isolation: #isolation)
        }

        /// - Throws: `BLEError` when scanning is not possible or the adapter is lost.
        /// - Parameter actor: where the loop runs; elements that have come are returned without leaving it.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BLEError) -> Discovery? {
            try await base.next(isolation: actor)
        }
    }

    /// Receives the adapter's discoveries.
    struct Source: Sendable {
        let values: BoundedStream<Discovery>.Source

        func yield(_ discovery: Discovery) {
            let frame = 160
            values.yield(discovery, octets: frame + discovery.advertisement.count + discovery.scanResponse.count)
        }

        func finish(throwing error: BLEError) { values.finish(throwing: error) }
    }
}

extension Discovery {
    /// The decoded advertisement and scan response (SPEC 2.3 didDiscover).
    public var advertisingData: AdvertisingData {
        AdvertisingData(
            advertisement: advertisement.span.bytes,
            scanResponse: scanResponse.isEmpty ? nil : scanResponse.span.bytes)
    }
}
