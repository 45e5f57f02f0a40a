import BLEPackets

/// One client's view of an attribute server, without link, radio or clock: a PDU goes in, PDUs come out.
///
/// It joins what a connection joins: the bearer, which exchanges ATT_MTU, and the server behind it. The table is given
/// attribute by attribute and the server keeps all values, so the app is never asked. Time does not advance, so nothing
/// times out.
public struct AttributeServerSession {
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 0), generation: 0)

    /// The table as it was given; writes do not change it.
    private let database: GATTDatabase
    private let settings: GATTServerSettings
    /// Octets that the server says it can receive, at least 23.
    public let receiveMTU: UInt16
    private var bearer = ATTBearer()
    private var server: GATTServer

    /// - Parameters:
    ///   - database: a table whose values are all kept in it (`GATTDatabase(attributes:)`).
    ///   - receiveMTU: octets of a PDU that the server can receive; less than 23 counts as 23
    ///     (Core 5.4, Vol 3, Part F, 3.4.2.2).
    public init(database: GATTDatabase, receiveMTU: UInt16, settings: GATTServerSettings = GATTServerSettings()) {
        self.database = database
        self.settings = settings
        self.receiveMTU = max(ATTBearer.defaultMTU, receiveMTU)
        server = GATTServer(database: database, settings: settings)
        server.connected(Self.link, at: .zero)
    }

    /// ATT_MTU in octets: 23 until another is agreed on.
    public var mtu: UInt16 { bearer.mtu }

    /// Counters since the start of the session.
    public var counters: GATTServerCounters { server.counters }

    /// Ends the session and starts a new one with the initial table.
    public mutating func reset() { self = Self(database: database, receiveMTU: receiveMTU, settings: settings) }

    /// A PDU of the client.
    /// - Returns: the PDUs that follow from it, in order.
    public mutating func receive(_ pdu: RawSpan) -> [[UInt8]] {
        if pdu.byte(at: 0) == ATTOpcode.exchangeMTURequest.rawValue { return [exchangeMTU(pdu)] }
        server.receive(pdu, from: Self.link, at: .zero)
        return sentPDUs()
    }

    /// A value of the server has changed; subscribers are notified.
    ///
    /// - Parameter modes: the ways of telling that are allowed.
    /// - Returns: the PDUs that follow from it; none where no client subscribed in one of these ways, or where an
    ///   indication is still to be confirmed.
    public mutating func updateValue(
        _ value: [UInt8], of handle: AttributeHandle, as modes: SubscriptionModes
    ) -> [[UInt8]] {
        _ = server.updateValue(value, of: handle, as: modes, at: .zero)
        return sentPDUs()
    }

    private mutating func exchangeMTU(_ pdu: RawSpan) -> [UInt8] {
        do throws(DecodingError) {
            let request = try ATTExchangeMTURequest(pdu)
            let told = bearer.tellMTU(preferred: receiveMTU)
            if bearer.agree(peerMTU: request.clientReceiveMTU) { server.mtuChanged(to: bearer.mtu, on: Self.link) }
            return ATTExchangeMTUResponse(serverReceiveMTU: told).encoded()
        } catch {
            return ATTErrorResponse(request: .exchangeMTURequest, handle: .none, error: .invalidPDU).encoded()
        }
    }

    private mutating func sentPDUs() -> [[UInt8]] {
        var pdus: [[UInt8]] = []
        while let action = server.nextAction() {
            guard case .send(let pdu, _, let tag) = action else { continue }
            pdus.append(pdu)
            server.sent(tag, to: Self.link, at: .zero)
        }
        return pdus
    }
}
