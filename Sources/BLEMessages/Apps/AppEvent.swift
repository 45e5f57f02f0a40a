import BLEAppLifecycle
import BLEHost
import BLEPackets

/// An event for a manager of an app.
public struct AppEvent: Message, Hashable, Sendable {
    public var manager: ManagerID
    /// `nil` is an event of a newer daemon that is unknown here.
    public var event: ClientEvent?

    public init(_ event: ClientEvent?, to manager: ManagerID) {
        self.manager = manager
        self.event = event
    }

    public static var blank: Self { Self(nil, to: .blank) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "manager", &it.manager)
        try c.choice(optional: &it.event)
    }
}

extension ClientEvent: Choice {
    public static var blank: Self { .readyToUpdateSubscribers }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(2, "will_restore_central", &it, Self.willRestoreCentral) {
            if case .willRestoreCentral(let restored) = $0 { restored } else { nil }
        }
        try c.option(3, "will_restore_peripheral", &it, Self.willRestorePeripheral) {
            if case .willRestorePeripheral(let restored) = $0 { restored } else { nil }
        }
        try c.option(
            4, "state_changed", as: "AppState", &it, Self.stateChanged, "state", "authorization"
        ) { if case .stateChanged(let state, let authorization) = $0 { (state, authorization) } else { nil } }
        try c.option(5, "state_passed", &it, Self.statePassed) { if case .statePassed(let a) = $0 { a } else { nil } }
        try c.option(6, "events_lost", &it, Self.eventsLost) { if case .eventsLost(let a) = $0 { a } else { nil } }
        try c.option(
            7, "discovered", &it, { (it: AppDiscovered) in .discovered(it.peripheral, it.content, rssi: it.rssi) },
            {
                guard case .discovered(let peripheral, let content, let rssi) = $0 else { return nil }
                return AppDiscovered(peripheral: peripheral, content: content, rssi: rssi)
            })
        try c.option(8, "connected", as: "AppConnected", &it, Self.connected, "peripheral", "limits") {
            if case .connected(let peripheral, let limits) = $0 { (peripheral, limits) } else { nil }
        }
        try c.option(
            9, "connection_failed", as: "AppConnectionFailed", &it, Self.connectionFailed, "peer", "error"
        ) { if case .connectionFailed(let peer, let error) = $0 { (peer, error) } else { nil } }
        try c.option(
            10, "disconnected", as: "AppDisconnected", &it, Self.disconnected, "peer", "error",
            "microseconds", "is_reconnecting"
        ) { if case .disconnected(let peer, let a, let b, let c) = $0 { (peer, a, b, c) } else { nil } }
        try c.option(
            11, "connection_event", as: "AppConnectionEvent", &it, Self.connectionEvent, "peripheral", "is_connected",
            from: { if case .connectionEvent(let a, let b) = $0 { (a, b) } else { nil } })
        try c.option(12, "retrieved", as: "AppRetrieved", &it, Self.retrieved, "query", "peripherals") {
            if case .retrieved(let query, let peripherals) = $0 { (query, peripherals) } else { nil }
        }
        var isKnown = true
        try c.option(
            13, "peripheral", &it, { (it: AppPeripheralEvent) in it.clientEvent(&isKnown) },
            { if case .peripheral(let a, let b) = $0 { AppPeripheralEvent(peer: a, event: b) } else { nil } })
        try c.option(14, "service_added", as: "AppServiceAdded", &it, Self.serviceAdded, "service", "error") {
            if case .serviceAdded(let service, let error) = $0 { (service, error) } else { nil }
        }
        try c.option(15, "advertising_started", as: "AppEnded", &it, Self.advertisingStarted, "error") {
            if case .advertisingStarted(let error) = $0 { .some(error) } else { nil }
        }
        try c.option(16, "read_request", &it, Self.readRequest) { if case .readRequest(let a) = $0 { a } else { nil } }
        try c.option(
            17, "write_requests", &it, Self.writeRequests, { if case .writeRequests(let a) = $0 { a } else { nil } })
        try c.option(
            18, "subscribed", as: "AppSubscription", &it,
            { .subscribed($1, characteristic: $0) }, "characteristic", "central",
            from: {
                if case .subscribed(let central, let characteristic) = $0 { (characteristic, central) } else { nil }
            })
        try c.option(
            19, "unsubscribed", as: "AppSubscription", &it,
            { .unsubscribed($1, characteristic: $0) }, "characteristic", "central",
            from: {
                if case .unsubscribed(let central, let characteristic) = $0 { (characteristic, central) } else { nil }
            })
        try c.option(20, "ready_to_update", &it, .readyToUpdateSubscribers) {
            if case .readyToUpdateSubscribers = $0 { true } else { false }
        }
        try c.option(
            21, "update_queued", as: "AppUpdateQueued", &it, Self.updateQueued, "query", "is_queued"
        ) { if case .updateQueued(let query, let isQueued) = $0 { (query, isQueued) } else { nil } }
        try c.option(
            22, "channel_published", as: "AppChannelPublished", &it, Self.channelPublished, "psm", "error"
        ) { if case .channelPublished(let psm, let error) = $0 { (psm, error) } else { nil } }
        try c.option(
            23, "channel_unpublished", as: "AppChannelPublished", &it, Self.channelUnpublished, "psm", "error"
        ) { if case .channelUnpublished(let psm, let error) = $0 { (psm, error) } else { nil } }
        try c.option(
            24, "channel_accepted", as: "AppChannelAccepted", &it, Self.channelAccepted, "channel", "psm", "central",
            from: { if case .channelAccepted(let id, let psm, let central) = $0 { (id, psm, central) } else { nil } })
        try c.option(
            25, "channel", &it, { (it: AppChannelEvent) in it.clientEvent(&isKnown) },
            { if case .channel(let id, let event) = $0 { AppChannelEvent(channel: id, event: event) } else { nil } })
        if !isKnown { c.isChosen = false }
    }
}

extension ClientChannelEvent: Choice {
    public static var blank: Self { .closed(nil) }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(2, "received", &it, Self.received) { if case .received(let octets) = $0 { octets } else { nil } }
        try c.option(3, "can_send", &it, Self.canSend) { if case .canSend(let count) = $0 { count } else { nil } }
        try c.option(4, "closed", as: "AppEnded", &it, Self.closed, "error") {
            if case .closed(let error) = $0 { .some(error) } else { nil }
        }
    }
}

/// `ClientEvent.channel`.
private struct AppChannelEvent: Message {
    var channel: L2CAPChannelID
    var event: ClientChannelEvent?

    func clientEvent(_ isKnown: inout Bool) -> ClientEvent {
        isKnown = event != nil
        return .channel(channel, event ?? .blank)
    }

    static var blank: Self { Self(channel: .blank) }
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "channel", &it.channel)
        try c.choice(optional: &it.event)
    }
}

/// `ClientEvent.discovered`.
struct AppDiscovered: Message {
    var peripheral: PeripheralDescription
    var content: AdvertisementContent
    var rssi: Int8

    static var blank: Self { Self(peripheral: .blank, content: AdvertisementContent(), rssi: 0) }
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "peripheral", &it.peripheral)
        try c.field(2, "rssi", &it.rssi)
        // The content shares its storage: its fields are set at once.
        var fields = it.content.fields
        try c.field(3, "local_name", &fields.localName)
        try c.field(4, "manufacturer_data", &fields.manufacturerData)
        try c.field(5, "service_data", &fields.serviceData)
        // An extended advertisement has room for more services than a request may name.
        try c.field(6, "services", &fields.serviceUUIDs, atMost: .max)
        try c.field(7, "overflow_services", &fields.overflowServiceUUIDs, atMost: .max)
        try c.field(8, "solicited_services", &fields.solicitedServiceUUIDs, atMost: .max)
        try c.field(9, "tx_power", &fields.txPower)
        try c.field(10, "is_connectable", &fields.isConnectable)
        try c.field(11, "microseconds", &fields.microseconds)
        if C.reads { it.content = AdvertisementContent(fields) }
    }
}

extension AdvertisementContent.ServiceData: Message {
    public static var blank: Self { Self(uuid: .blank, data: []) }
    public static var schemaName: String { "AppServiceData" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "uuid", &it.uuid)
        try c.field(2, "data", &it.data)
    }
}

extension CentralReadRequest: Message {
    public static var blank: Self { Self(id: .blank, central: .blank, characteristic: .blank, offset: 0) }
    public static var schemaName: String { "AppReadRequest" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "request", &it.id)
        try c.field(2, "central", &it.central)
        try c.field(3, "characteristic", &it.characteristic)
        try c.field(4, "offset", &it.offset)
    }
}

extension CentralWriteRequests: Message {
    public static var blank: Self { Self(id: .blank, central: .blank, writes: []) }
    public static var schemaName: String { "AppWriteRequests" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "request", &it.id)
        try c.field(2, "central", &it.central)
        try c.field(3, "writes", &it.writes)
    }
}

extension CentralWriteRequests.Write: Message {
    public static var blank: Self { Self(characteristic: .blank, offset: 0, value: []) }
    public static var schemaName: String { "AppWrite" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "characteristic", &it.characteristic)
        try c.field(2, "offset", &it.offset)
        try c.field(3, "value", &it.value)
    }
}
