import BLEHost

/// An event of the peripheral role (SPEC 1.3).
public enum ServerEvent: Equatable, Sendable {
    /// The controller started advertising.
    case advertisingStarted
    /// Advertising stopped: no client asks for it, or a central connected.
    case advertisingStopped
    /// What of an advertisement of this program finds no room beside those of other users of the same daemon.
    case advertisingRoom(AdvertisingRoom)
    /// A central has connected.
    case connected(LinkInformation)
    /// ATT_MTU was exchanged with a peer, in octets.
    case mtuChanged(LinkID, mtu: Int)
    /// A central's link has ended.
    case disconnected(LinkID, DisconnectionReason)
    /// A request to answer with `Adapter.respond(to:with:)`, a subscription, or room for updates.
    case gatt(GATTServerEvent)
    /// Progress of a pairing on a link in either role. Questions go to the agent (`AdapterConfiguration.pairingAgent`).
    case pairing(LinkID, PairingEvent)
    /// The encryption of a link in either role was switched on or off.
    case securityChanged(LinkID, LinkSecurity)
    /// A bond could not be saved; it is valid until the program ends.
    case bondNotKept(BondStoreError)
}

/// The events of the peripheral role, as a sequence. They are collected from the creation of the sequence on. A
/// sequence can be iterated once.
///
/// If too many events wait, the oldest are dropped and counted: values that peers write without a response,
/// subscriptions, and informational events. Room for updates is never dropped. Further requests that need an answer are
/// refused with Insufficient Resources. Centrals that disconnected before the app saw them are left out.
public struct ServerEvents: AsyncSequence, Sendable {
    public typealias Element = ServerEvent

    /// The number of droppable events that can wait, with 1 MiB in all; beyond that the oldest are dropped.
    public static let capacity = 4096

    private let buffer = ServerEventBuffer(capacity: Self.capacity)
    /// Signals that events wait, and how the sequence ends.
    private let signals: AsyncThrowingStream<Void, any Error>
    private let dropped = DropCounter()

    /// - Returns: the sequence and its source.
    static func make() -> (ServerEvents, Source) {
        let (signals, continuation) = AsyncThrowingStream<Void, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let events = ServerEvents(signals: signals)
        return (events, Source(buffer: events.buffer, continuation: continuation, dropped: events.dropped))
    }

    private init(signals: AsyncThrowingStream<Void, any Error>) { self.signals = signals }

    /// Events that were dropped because they were not consumed in time.
    public var droppedCount: Int { dropped.value }

    /// Create only one iterator: a second one would take events from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(buffer: buffer, signals: signals.makeAsyncIterator()) }

    /// Returns the events in their order until the adapter is lost or closed.
    public struct Iterator: AsyncIteratorProtocol {
        let buffer: ServerEventBuffer
        var signals: AsyncThrowingStream<Void, any Error>.Iterator

        /// - Throws: `BLEError` if the adapter is lost.
        public mutating func next() async throws(BLEError) -> ServerEvent? {
            while !Task.isCancelled {
                if let event = buffer.popFirst() { return event }
                // Nothing else ends the sequence: see `Source.end`.
                do {
                    guard try await signals.next() != nil else { break }
                } catch { throw error as? BLEError ?? .closed }
            }
            return nil
        }
    }

    /// Receives the adapter's events.
    struct Source: Observer {
        let buffer: ServerEventBuffer
        let continuation: AsyncThrowingStream<Void, any Error>.Continuation
        let dropped: DropCounter

        func deliver(_ event: ServerEvent) -> Bool {
            let (isTaken, lost) = buffer.append(event)
            if lost > 0 { dropped.increment(by: lost) }
            continuation.yield()
            return isTaken
        }

        func end(with error: BLEError) { continuation.finish(throwing: error) }
    }
}
