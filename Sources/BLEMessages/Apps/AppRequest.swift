import BLEAppLifecycle
import BLEHost
import BLEPackets

/// A request of an app's manager.
public struct AppRequest: Message, Hashable, Sendable {
    /// The app's number for the manager, each used once.
    public var manager: ManagerID
    /// If not 0, the daemon reports with this number that it has accepted the request.
    public var number: UInt64
    public var request: ClientRequest

    public init(_ request: ClientRequest, from manager: ManagerID, number: UInt64 = 0) {
        self.manager = manager
        self.number = number
        self.request = request
    }

    public static var blank: Self { Self(.blank, from: .blank) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "manager", &it.manager)
        try c.field(2, "number", &it.number)
        try c.choice(&it.request)
    }
}

extension ClientRequest: Choice {
    public static var blank: Self { .release }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(
            3, "create_central", &it, Self.createCentral, { if case .createCentral(let a) = $0 { a } else { nil } })
        try c.option(4, "create_peripheral", &it, Self.createPeripheral) {
            if case .createPeripheral(let options) = $0 { options } else { nil }
        }
        try c.option(5, "release", &it, .release) { if case .release = $0 { true } else { false } }
        try c.options(&it, Self.central) { if case .central(let request) = $0 { request } else { nil } }
        try c.options(&it, Self.peripheral) { if case .peripheral(let request) = $0 { request } else { nil } }
        try c.option(
            26, "channel", as: "AppChannelRequest", &it, Self.channel, "channel",
            rest: { if case .channel(let id, let request) = $0 { (id, request) } else { nil } })
    }
}

extension ChannelRequest: Choice {
    public static var blank: Self { .close }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(2, "send", &it, Self.send) { if case .send(let octets) = $0 { octets } else { nil } }
        try c.option(3, "received", &it, Self.received) { if case .received(let count) = $0 { count } else { nil } }
        try c.option(4, "close", &it, .close) { if case .close = $0 { true } else { false } }
    }
}

extension CentralManagerRequest: Choice {
    public static var blank: Self { .stopScan }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(6, "scan", &it, Self.scan) { if case .scan(let options) = $0 { options } else { nil } }
        try c.option(7, "stop_scan", &it, .stopScan) { if case .stopScan = $0 { true } else { false } }
        try c.option(8, "connect", as: "AppConnect", &it, Self.connect, "peer", "options") {
            if case .connect(let peer, let options) = $0 { (peer, options) } else { nil }
        }
        try c.option(9, "cancel_connection", &it, Self.cancelConnection) {
            if case .cancelConnection(let peer) = $0 { peer } else { nil }
        }
        try c.option(10, "let_go", &it, Self.letGo) { if case .letGo(let peer) = $0 { peer } else { nil } }
        try c.option(
            11, "retrieve_peripherals", as: "AppRetrieve", &it, Self.retrievePeripherals, "query", "peers"
        ) { if case .retrievePeripherals(let query, let peers) = $0 { (query, peers) } else { nil } }
        try c.option(
            12, "retrieve_connected", as: "AppRetrieveConnected", &it,
            Self.retrieveConnectedPeripherals, "query", "services"
        ) { if case .retrieveConnectedPeripherals(let query, let services) = $0 { (query, services) } else { nil } }
        try c.option(13, "connection_events", &it, Self.registerForConnectionEvents) {
            if case .registerForConnectionEvents(let filter?) = $0 { filter } else { nil }
        }
        try c.option(14, "end_connection_events", &it, .registerForConnectionEvents(nil)) {
            if case .registerForConnectionEvents(nil) = $0 { true } else { false }
        }
        try c.option(
            15, "peripheral", as: "AppPeripheralRequest", &it, Self.peripheral, "peer",
            rest: { if case .peripheral(let peer, let request) = $0 { (peer, request) } else { nil } })
    }
}

extension PeripheralManagerRequest: Choice {
    public static var blank: Self { .stopAdvertising }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(16, "add_service", &it, Self.addService) { if case .addService(let a) = $0 { a } else { nil } }
        try c.option(
            17, "remove_service", &it, Self.removeService, { if case .removeService(let a) = $0 { a } else { nil } })
        try c.option(18, "remove_all_services", &it, .removeAllServices) {
            if case .removeAllServices = $0 { true } else { false }
        }
        try c.option(19, "start_advertising", &it, Self.startAdvertising) {
            if case .startAdvertising(let advertisement) = $0 { advertisement } else { nil }
        }
        try c.option(
            20, "stop_advertising", &it, .stopAdvertising, { if case .stopAdvertising = $0 { true } else { false } })
        try c.option(
            21, "respond", as: "AppResponse", &it, Self.respond, "request", "code", "value"
        ) { if case .respond(let request, let code, let value) = $0 { (request, code, value) } else { nil } }
        try c.option(
            22, "update_value", as: "AppUpdate", &it,
            { .updateValue($0, $1, value: $2, centrals: ($3 as AppPeers?)?.peers) }, "query",
            "characteristic", "value", "centrals",
            from: {
                guard case .updateValue(let query, let characteristic, let value, let centrals) = $0 else { return nil }
                return (query, characteristic, value, centrals.map { AppPeers(peers: $0) })
            })
        try c.option(
            23, "set_latency", as: "AppLatency", &it, { .setConnectionLatency($1, central: $0) }, "central", "latency",
            from: { if case .setConnectionLatency(let latency, let central) = $0 { (central, latency) } else { nil } })
        try c.option(
            24, "publish_channel", &it, Self.publishChannel, { if case .publishChannel(let a) = $0 { a } else { nil } })
        try c.option(25, "unpublish_channel", &it, Self.unpublishChannel) {
            if case .unpublishChannel(let psm) = $0 { psm } else { nil }
        }
    }
}

/// Centrals, where none differs from all.
private struct AppPeers: Message {
    var peers: [PeerIdentifier] = []

    static var blank: Self { Self() }
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "peers", &it.peers)
    }
}
