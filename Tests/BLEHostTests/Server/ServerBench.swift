import BLEPackets
import Testing

@testable import BLEHost

/// A GATT server on a table: PDUs go in and out as hexadecimal text.
final class ServerBench {
    var server: GATTServer
    var now = Instant.zero
    /// PDUs for each link that went out and have not been taken.
    var sent: [LinkID: [String]] = [:]
    /// Tags of PDUs whose sending the controller has not confirmed, where `holdsBack` is set.
    var unsent: [(tag: GATTServerSendTag, link: LinkID)] = []
    var unsentOnBearers: [(tag: GATTServerSendTag, bearer: UInt32)] = []
    /// Events that have not been taken.
    var events: [GATTServerEvent] = []
    var faults: [GATTServerFault] = []
    /// PDUs that went out on the enhanced bearers of the first link and have not been taken.
    var sentOnBearers: [UInt32: [String]] = [:]
    /// Enhanced bearers that the server gave up.
    var closedBearers: [UInt32] = []
    /// What was to be broadcast, from the first change on.
    var broadcasts: [[String]] = []
    var hashes: [(message: [UInt8], revision: UInt64)] = []
    /// Whether the controller keeps what it gets until `release`.
    var holdsBack = false

    init(_ database: GATTDatabase = GATTDatabase(), settings: GATTServerSettings = GATTServerSettings()) {
        server = GATTServer(database: database, settings: settings)
    }

    /// A server with one client.
    convenience init(
        mtu: UInt16, _ database: GATTDatabase = GATTDatabase(), settings: GATTServerSettings = GATTServerSettings(),
        security: GATTLinkSecurity = .none
    ) {
        self.init(database, settings: settings)
        connect(ServerBench.link(1), mtu: mtu, security: security)
    }

    static func link(_ number: UInt16) -> LinkID {
        LinkID(handle: ConnectionHandle(rawValue: number), generation: 1)
    }

    func connect(
        _ link: LinkID, mtu: UInt16 = 23, security: GATTLinkSecurity = .none, restoring: GATTClientRecord? = nil
    ) {
        server.connected(link, mtu: mtu, security: security, restoring: restoring, at: now)
        drain()
    }

    @discardableResult
    func disconnect(_ link: LinkID = ServerBench.link(1), isBonded: Bool = false) -> GATTClientRecord? {
        let record = server.disconnected(link, isBonded: isBonded, at: now)
        drain()
        return record
    }

    func receive(_ text: String, from link: LinkID = ServerBench.link(1)) {
        let pdu = bytes(text)
        server.receive(pdu.span.bytes, from: link, at: now)
        drain()
    }

    /// Sends a request and takes what comes back.
    func ask(_ text: String, from link: LinkID = ServerBench.link(1)) -> [String] {
        receive(text, from: link)
        return take(link)
    }

    func take(_ link: LinkID = ServerBench.link(1)) -> [String] { sent.removeValue(forKey: link) ?? [] }

    func takeEvents() -> [GATTServerEvent] {
        defer { events = [] }
        return events
    }

    @discardableResult
    func respond(_ id: GATTRequestID, _ answer: GATTAnswer) -> Bool {
        let isTaken = server.respond(to: id, with: answer, at: now)
        drain()
        return isTaken
    }

    @discardableResult
    func update(
        _ value: [UInt8], of handle: AttributeHandle, to links: [LinkID]? = nil,
        as modes: SubscriptionModes = [.notifications, .indications]
    ) -> Bool {
        let isTaken = server.updateValue(value, of: handle, to: links, as: modes, at: now)
        drain()
        return isTaken
    }

    func advance(seconds: Int32) {
        now = now.advanced(by: .seconds(seconds))
        server.advance(to: now)
        drain()
    }

    func publish(_ service: GATTServiceDefinition, owner: ClientID = .local) throws -> GATTPublishedService {
        let published = try server.publish(service, owner: owner, at: now)
        drain()
        return published
    }

    func remove(_ handle: AttributeHandle) throws {
        try server.remove(handle, at: now)
        drain()
    }

    /// The controller takes one of the PDUs that it keeps.
    func release() {
        if !unsentOnBearers.isEmpty {
            let (tag, number) = unsentOnBearers.removeFirst()
            server.sent(tag, to: Self.link(1), onBearer: number, at: now)
            return drain()
        }
        guard !unsent.isEmpty else { return }
        let (tag, link) = unsent.removeFirst()
        server.sent(tag, to: link, at: now)
        drain()
    }

    // MARK: Enhanced bearers of the first link

    func open(_ number: UInt32, mtu: UInt16 = 64) {
        server.bearerOpened(number, mtu: mtu, on: Self.link(1))
        drain()
    }

    func close(_ number: UInt32) {
        server.bearerClosed(number, on: Self.link(1), at: now)
        drain()
    }

    /// Sends a PDU on a bearer and takes what comes back on it.
    func ask(_ text: String, on number: UInt32) -> [String] {
        let pdu = bytes(text)
        server.receive(pdu.span.bytes, from: Self.link(1), onBearer: number, at: now)
        drain()
        return take(number)
    }

    func take(_ number: UInt32) -> [String] { sentOnBearers.removeValue(forKey: number) ?? [] }

    func drain() {
        while let action = server.nextAction() {
            switch action {
            case .send(let pdu, let link, let tag):
                sent[link, default: []].append(hex(pdu))
                if holdsBack { unsent.append((tag, link)) } else { server.sent(tag, to: link, at: now) }
            case .sendEnhanced(let pdu, let link, let number, let tag):
                sentOnBearers[number, default: []].append(hex(pdu))
                if holdsBack {
                    unsentOnBearers.append((tag, number))
                } else {
                    server.sent(tag, to: link, onBearer: number, at: now)
                }
            case .closeBearer(_, let number, let fault):
                faults.append(fault)
                closedBearers.append(number)
            case .event(let event): events.append(event)
            case .disconnect(_, let fault): faults.append(fault)
            case .broadcast(let structures): broadcasts.append(structures.map { hex($0) })
            case .computeHash(let message, let revision): hashes.append((message, revision))
            }
        }
    }
}

extension GATTServerEvent {
    var readRequest: GATTReadRequest? { if case .read(let request) = self { request } else { nil } }
    var writeRequest: GATTWriteRequest? { if case .write(let request) = self { request } else { nil } }
}
