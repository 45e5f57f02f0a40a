import BLEHost
import BLEPackets

/// What happens to the local device as a peripheral (SPEC 1.3).
public enum ServerEvent: Equatable, Sendable {
    /// The controller began to advertise.
    case advertisingStarted
    /// The controller advertises no more, because nobody wants it or a central has connected.
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
    /// A link of either role was encrypted, or is so no more.
    case securityChanged(LinkID, LinkSecurity)
    /// A bond holds for this run, but could not be written into the store.
    case bondNotKept(BondStoreError)
}

/// The events of the peripheral role, as a sequence. They are kept from the moment at which the sequence is made; each
/// sequence is looped over once.
public struct ServerEvents: AsyncSequence, Sendable {
    public typealias Element = ServerEvent

    let stream: AsyncThrowingStream<ServerEvent, any Error>

    /// For the one loop that is possible: a second iterator would take events from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator()) }

    /// Hands out the events in their order until the adapter is lost or closed.
    public struct Iterator: AsyncIteratorProtocol {
        var base: AsyncThrowingStream<ServerEvent, any Error>.Iterator

        /// - Throws: `AdapterError` when the adapter is lost.
        public mutating func next() async throws -> ServerEvent? { try await base.next() }
    }
}
