import BLEHost
import BLEPackets

/// What happens to the local device as a peripheral (SPEC 1.3).
public enum ServerEvent: Equatable, Sendable {
    /// The controller began to advertise.
    case advertisingStarted
    /// Advertising stopped: no client asks for it, or a central connected.
    case advertisingStopped
    /// A central has connected.
    case connected(LinkInformation)
    /// ATT_MTU was agreed on with a peer, in octets.
    case mtuChanged(LinkID, mtu: Int)
    /// A central's link is gone.
    case disconnected(LinkID, DisconnectionReason)
    /// A question to answer with `Adapter.respond(to:with:)`, a subscription, or room for updates.
    case gatt(GATTServerEvent)
    /// What pairing tells on a link of either role. Questions go to the agent (`AdapterConfiguration.pairingAgent`).
    case pairing(LinkID, PairingEvent)
    /// The encryption of a link in either role was switched on or off.
    case securityChanged(LinkID, LinkSecurity)
    /// A bond could not be saved; it is valid until the program ends.
    case bondNotKept(BondStoreError)
}

/// The events of the peripheral role, as a sequence. They are kept from the moment at which the sequence is made; each
/// sequence is looped over once.
///
/// What nobody takes in time is dropped from a bound on, oldest first, and counted: values that peers write without
/// waiting for an answer, subscriptions, and what is told for information. Room for updates is never dropped. Questions
/// that need an answer are refused with Insufficient Resources once too many wait; of centrals that come and go, those are
/// forgotten that had gone before anybody heard of them.
public struct ServerEvents: AsyncSequence, Sendable {
    public typealias Element = ServerEvent

    /// Events that may be dropped and wait to be taken, of 1 MiB in all; beyond that the oldest are.
    public static let capacity = 4096

    private let buffer = ServerEventBuffer(capacity: Self.capacity)
    /// Tells that something waits, and how it all ends.
    private let signals: AsyncThrowingStream<Void, any Error>
    private let dropped = DropCounter()

    /// - Returns: the sequence, and where its events are put.
    static func make() -> (ServerEvents, Source) {
        let (signals, continuation) = AsyncThrowingStream<Void, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let events = ServerEvents(signals: signals)
        return (events, Source(buffer: events.buffer, continuation: continuation, dropped: events.dropped))
    }

    private init(signals: AsyncThrowingStream<Void, any Error>) { self.signals = signals }

    /// Events that nobody took in time.
    public var droppedCount: Int { dropped.value }

    /// For the one loop that is possible: a second iterator would take events from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(buffer: buffer, signals: signals.makeAsyncIterator()) }

    /// Hands out the events in their order until the adapter is lost or closed.
    public struct Iterator: AsyncIteratorProtocol {
        let buffer: ServerEventBuffer
        var signals: AsyncThrowingStream<Void, any Error>.Iterator

        /// - Throws: `AdapterError` when the adapter is lost.
        public mutating func next() async throws -> ServerEvent? {
            while !Task.isCancelled {
                if let event = buffer.popFirst() { return event }
                guard try await signals.next() != nil else { break }
            }
            return nil
        }
    }

    /// Where the adapter puts events.
    struct Source: Observer {
        let buffer: ServerEventBuffer
        let continuation: AsyncThrowingStream<Void, any Error>.Continuation
        let dropped: DropCounter

        func tell(_ event: ServerEvent) -> Bool {
            let (isTaken, lost) = buffer.append(event)
            if lost > 0 { dropped.increment(by: lost) }
            continuation.yield()
            return isTaken
        }

        func end(with error: any Error) { continuation.finish(throwing: error) }
    }
}
