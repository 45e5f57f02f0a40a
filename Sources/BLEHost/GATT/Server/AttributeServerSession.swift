import BLEPackets

/// One client's view of an attribute server, without link, radio or clock: a PDU goes in, PDUs come out.
///
/// It contains what belongs to one connection: the bearer, which exchanges ATT_MTU, and the server behind it. The table
/// is given attribute by attribute and the server stores all values, so the app is never asked. Time does not advance,
/// so nothing times out.
public struct AttributeServerSession {
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 0), generation: 0)

    /// The original table; writes do not change it.
    private let database: GATTDatabase
    private let settings: GATTServerSettings
    /// The largest PDU in octets that the server reports that it can receive, at least 23.
    public let receiveMTU: UInt16
    private var bearer = ATTBearer()
    private var server: GATTServer

    /// - Parameters:
    ///   - database: a table that stores all its values itself (`GATTDatabase(attributes:)`).
    ///   - receiveMTU: the largest PDU in octets that the server can receive; less than 23 counts as 23 (Core 5.4, Vol
    ///     3, Part F, 3.4.2.2).
    ///   - settings: limits and behaviour of the server.
    public init(database: GATTDatabase, receiveMTU: UInt16, settings: GATTServerSettings = GATTServerSettings()) {
        self.database = database
        self.settings = settings
        self.receiveMTU = max(ATTBearer.defaultMTU, receiveMTU)
        server = GATTServer(database: database, settings: settings)
        server.connected(Self.link, at: .zero)
    }

    /// ATT_MTU in octets: 23 until the exchange.
    public var mtu: UInt16 { bearer.mtu }

    /// Counters since the start of the session.
    public var counters: GATTServerCounters { server.counters }

    /// Ends the session and starts a new one with the initial table.
    public mutating func reset() { self = Self(database: database, receiveMTU: receiveMTU, settings: settings) }

    /// Processes a PDU of the client.
    /// - Returns: the PDUs to send as a result, in order.
    public mutating func receive(_ pdu: RawSpan) -> [[UInt8]] {
        if pdu.byte(at: 0) == ATTOpcode.exchangeMTURequest.rawValue { return [exchangeMTU(pdu)] }
        server.receive(pdu, from: Self.link, at: .zero)
        return sentPDUs()
    }

    /// Changes a value of the server and notifies or indicates it to the client if it has subscribed.
    ///
    /// - Parameter modes: the ways of sending that are allowed.
    /// - Returns: the PDUs to send as a result; none if the client has not subscribed in one of these ways, or if an
    ///   indication is still unconfirmed.
    public mutating func updateValue(
        _ value: [UInt8], of handle: AttributeHandle, as modes: SubscriptionModes
    ) -> [[UInt8]] {
        _ = server.updateValue(value, of: handle, as: modes, at: .zero)
        return sentPDUs()
    }

    private mutating func exchangeMTU(_ pdu: RawSpan) -> [UInt8] {
        do throws(DecodingError) {
            let request = try ATTExchangeMTURequest(pdu)
            let told = bearer.reportMTU(preferred: receiveMTU)
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
