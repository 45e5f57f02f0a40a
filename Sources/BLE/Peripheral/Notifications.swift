import BLEHost
import BLEPackets

/// The values of a characteristic that the peer sends by itself, as a sequence (SPEC CEN-17).
///
/// The subscription is active once the sequence exists and ends with the loop. A sequence can be iterated once.
public struct Notifications: AsyncSequence, Sendable {
    /// One value.
    public struct Value: Hashable, Sendable {
        /// What the peer sent: at most ATT_MTU − 3 octets.
        public var bytes: [UInt8]
        /// Whether the peer asked for a confirmation; it has been given.
        public var isIndication: Bool

        public init(bytes: [UInt8], isIndication: Bool) {
            self.bytes = bytes
            self.isIndication = isIndication
        }
    }

    public typealias Element = Value

    /// Values that may wait to be taken, of 1 MiB in all; beyond that the oldest are dropped.
    public static let capacity = 4096

    let stream: BoundedStream<Value>
    let dropped: DropCounter

    /// Values that nobody took in time.
    public var droppedCount: Int { dropped.value }

    /// For the one loop that is possible: a second iterator would take values from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeIterator()) }

    /// Hands out the values in their order. They end with `nil` if this side released the link, otherwise with an
    /// error.
    public struct Iterator: AsyncIteratorProtocol {
        var base: BoundedStream<Value>.Iterator

        /// - Throws: `AdapterError.host(.linkLost)` when the link ends, `AdapterError.host(.gatt(.notSubscribed))` when
        ///   the device tells that the characteristic's service has changed.
        public mutating func next() async throws -> Value? { try await base.next() }
    }

    /// Where the adapter puts values.
    struct Source: Sendable {
        let values: BoundedStream<Value>.Source

        func yield(_ value: Value) {
            let frame = 64
            values.yield(value, octets: frame + value.bytes.count)
        }

        /// The peer's services have changed: what was subscribed to does not exist any more.
        func finishVoid() { values.finish(throwing: AdapterError.host(.gatt(.notSubscribed))) }

        func finish(_ reason: DisconnectionReason) {
            if reason == .releasedByClient {
                values.finish()
            } else {
                values.finish(throwing: AdapterError.host(.linkLost(reason)))
            }
        }
    }
}
