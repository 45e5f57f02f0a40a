import BLEHost

/// The notifications and indications of a characteristic, as a sequence (SPEC CEN-17).
///
/// The subscription is active once the sequence exists and ends with the loop. A sequence can be iterated once.
public struct Notifications: AsyncSequence, Sendable {
    /// One value.
    public struct Value: Hashable, Sendable {
        /// What the peer sent: at most ATT_MTU − 3 octets.
        public var bytes: [UInt8]
        /// Whether the value was indicated; the stack has confirmed it.
        public var isIndication: Bool
        /// When it was received, on the clock that never jumps; `unixMicroseconds` is the same as wall-clock time.
        public var time: Instant

        public init(bytes: [UInt8], isIndication: Bool, time: Instant = .zero) {
            self.bytes = bytes
            self.isIndication = isIndication
            self.time = time
        }
    }

    public typealias Element = Value

    /// The number of values that can wait, with 1 MiB in all; beyond that the oldest are dropped.
    public static let capacity = 4096

    let stream: BoundedStream<Value>
    let dropped: DropCounter

    /// Values that were dropped because they were not consumed in time.
    public var droppedCount: Int { dropped.value }

    /// Create only one iterator: a second one would take values from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeIterator()) }

    /// Returns the values in their order. They end with `nil` if this side released the link, otherwise with an error.
    public struct Iterator: AsyncIteratorProtocol {
        var base: BoundedStream<Value>.Iterator

        /// - Throws: `BLEError.linkLost` when the link ends, `BLEError.notSubscribed` when
        ///   the device reports that the characteristic's service has changed.
        public nonisolated(nonsending) mutating func next() async throws(BLEError) -> Value? {
            try await next(isolation: #isolation)
        }

        /// - Throws: `BLEError.linkLost` when the link ends, `BLEError.notSubscribed` when
        ///   the device reports that the characteristic's service has changed.
        /// - Parameter actor: where the loop runs; elements that have come are returned without leaving it.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(BLEError) -> Value? {
            try await base.next(isolation: actor)
        }
    }

    /// Receives the values.
    struct Source: Sendable {
        let values: BoundedStream<Value>.Source

        private static let frame = 64

        func yield(_ value: Value) { values.yield(value, octets: Self.frame + value.bytes.count) }

        func yield(_ burst: [Value]) { values.yield(burst) { Self.frame + $0.bytes.count } }

        /// The peer's services have changed, so the characteristic no longer exists.
        func finishVoid() { values.finish(throwing: BLEError.notSubscribed) }

        func finish(_ reason: DisconnectionReason) {
            if reason == .releasedByClient {
                values.finish()
            } else {
                values.finish(throwing: BLEError.linkLost(reason))
            }
        }
    }
}
