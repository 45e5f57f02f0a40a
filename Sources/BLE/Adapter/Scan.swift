import BLEHost
import BLEPackets
import Synchronization

/// The devices that are heard, as a sequence (SPEC CEN-5).
///
/// Scanning begins with the first loop and ends with it; each loop is a scan of its own.
public struct Scan: AsyncSequence, Sendable {
    public typealias Element = Discovery

    /// Discoveries that may wait to be taken; beyond that the oldest are dropped.
    public static let capacity = 4096

    let adapter: Adapter
    let request: ScanRequest
    private let dropped = DropCounter()

    init(adapter: Adapter, request: ScanRequest) {
        self.adapter = adapter
        self.request = request
    }

    /// Discoveries that nobody took in time.
    public var droppedCount: Int { dropped.value }

    /// Begins a scan, which ends with the iterator.
    public func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncThrowingStream<Discovery, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.capacity))
        let source = Source(continuation: continuation, dropped: dropped)
        let adapter = adapter
        let request = request
        let beginning = Task { await adapter.beginScan(request, source: source) }
        continuation.onTermination = { _ in
            Task {
                if let operation = await beginning.value { await adapter.endScan(operation) }
            }
        }
        return Iterator(base: stream.makeAsyncIterator())
    }

    /// Hands out the discoveries of one scan, in their order.
    public struct Iterator: AsyncIteratorProtocol {
        var base: AsyncThrowingStream<Discovery, any Error>.Iterator

        /// - Throws: `AdapterError` when scanning is not possible or the adapter is lost.
        public mutating func next() async throws -> Discovery? { try await base.next() }
    }

    /// Where the adapter puts discoveries.
    struct Source: Sendable {
        let continuation: AsyncThrowingStream<Discovery, any Error>.Continuation
        let dropped: DropCounter

        func yield(_ discovery: Discovery) {
            if case .dropped = continuation.yield(discovery) { dropped.increment() }
        }

        func finish(throwing error: AdapterError) { continuation.finish(throwing: error) }
    }
}

/// A count that is written on one thread and read on others.
final class DropCounter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }
    func increment() { count.add(1, ordering: .relaxed) }
}

extension Discovery {
    /// Advertisement and scan response, taken apart (SPEC 2.3 didDiscover).
    public var advertisingData: AdvertisingData {
        AdvertisingData(
            advertisement: advertisement.span.bytes,
            scanResponse: scanResponse.isEmpty ? nil : scanResponse.span.bytes)
    }
}
