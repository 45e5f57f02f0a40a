import BLEHost
import BLEPackets

extension Result: FieldValue, SingleValue, Message, Choice where Success == HostResult, Failure == HostFailure {
    public static var blank: Self { .success(.done) }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.options(&it, { .success($0) }, { if case .success(let result) = $0 { result } else { nil } })
        try c.option(2, "failure", &it, { .failure($0) }, { if case .failure(let a) = $0 { a } else { nil } })
    }
}

extension HostResult: Choice {
    public static var blank: Self { .done }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.options(&it, Self.gatt) { if case .gatt(let result) = $0 { result } else { nil } }
        try c.option(3, "done", &it, .done)
        try c.option(4, "link", &it, Self.connected) { if case .connected(let link) = $0 { link } else { nil } }
        try c.option(5, "rssi", &it, Self.rssi) { if case .rssi(let rssi) = $0 { rssi } else { nil } }
        try c.option(17, "paired", &it, Self.paired) { if case .paired(let summary) = $0 { summary } else { nil } }
        try c.option(18, "accepted", &it, Self.accepted) { if case .accepted(let isIt) = $0 { isIt } else { nil } }
        try c.option(19, "published", &it, Self.published) { if case .published(let a) = $0 { a } else { nil } }
        try c.option(20, "listening", &it, Self.listening) { if case .listening(let spsm) = $0 { spsm } else { nil } }
        try c.option(21, "channel", &it, Self.channel) { if case .channel(let opened) = $0 { opened } else { nil } }
        try c.option(22, "parameters", &it, Self.connectionParameters) {
            if case .connectionParameters(let used) = $0 { used } else { nil }
        }
        try c.option(23, "channels", as: "OpenedChannels", &it, Self.channels, "channels") {
            if case .channels(let opened) = $0 { opened } else { nil }
        }
        try c.option(
            24, "remote_version", &it, Self.remoteVersion, { if case .remoteVersion(let a) = $0 { a } else { nil } })
        try c.option(
            25, "remote_features", &it, Self.remoteFeatures, { if case .remoteFeatures(let a) = $0 { a } else { nil } })
        try c.option(26, "data_length", &it, Self.dataLength) { if case .dataLength(let a) = $0 { a } else { nil } }
        try c.option(
            27, "phys", &it, { (phys: PHYs) in .phy(transmit: phys.transmit, receive: phys.receive) },
            { if case .phy(let a, let b) = $0 { PHYs(transmit: a, receive: b) } else { nil } })
        try c.option(28, "subrate", &it, Self.subrate) { if case .subrate(let subrate) = $0 { subrate } else { nil } }
        try c.option(
            29, "transmit_power", &it, Self.transmitPower, { if case .transmitPower(let a) = $0 { a } else { nil } })
        try c.option(30, "hci_answer", &it, Self.hciAnswer) { if case .hciAnswer(let a) = $0 { a } else { nil } }
        try c.option(31, "out_of_band", as: "OutOfBand", &it, Self.outOfBand, "values", "public_key") {
            guard case .outOfBandData(let data) = $0 else { return nil }
            return (
                OutOfBandData.SecureConnectionsData(random: data.random, confirm: data.confirm), data.publicKey
            )
        }
    }

    private static func outOfBand(_ values: OutOfBandData.SecureConnectionsData, _ key: P256PublicKey) -> Self {
        .outOfBandData(
            LocalOutOfBandData(random: values.random, confirm: values.confirm, privateKey: [], publicKey: key))
    }
}

extension GATTResult: Choice {
    public static var blank: Self { .written }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        // The end of a write command comes first, and a value that was read.
        try c.option(14, "written", &it, .written) { if case .written = $0 { true } else { false } }
        try c.option(11, "value", &it, Self.value) { if case .value(let octets) = $0 { octets } else { nil } }
        try c.option(6, "mtu", &it, Self.mtu) { if case .mtu(let mtu) = $0 { mtu } else { nil } }
        try c.option(7, "services", as: "Services", &it, Self.services, "services") {
            if case .services(let found) = $0 { found } else { nil }
        }
        try c.option(8, "included_services", as: "Services", &it, Self.includedServices, "services") {
            if case .includedServices(let found) = $0 { found } else { nil }
        }
        try c.option(9, "characteristics", as: "Characteristics", &it, Self.characteristics, "characteristics") {
            if case .characteristics(let found) = $0 { found } else { nil }
        }
        try c.option(10, "descriptors", as: "Descriptors", &it, Self.descriptors, "descriptors") {
            if case .descriptors(let found) = $0 { found } else { nil }
        }
        try c.option(12, "values", as: "Octets", &it, Self.values, "values") {
            if case .values(let list) = $0 { list } else { nil }
        }
        try c.option(13, "attribute_values", as: "Values", &it, Self.attributeValues, "values") {
            if case .attributeValues(let list) = $0 { list } else { nil }
        }
        try c.option(15, "subscribed", &it, .subscribed)
        try c.option(16, "unsubscribed", &it, .unsubscribed)
        try c.option(32, "confirmed", &it, .confirmed)
    }
}

extension DiscoveredService: Message {
    public static var blank: Self { Self(uuid: .blank, range: .blank, isPrimary: false) }
    public static var schemaName: String { "Service" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "uuid", &it.uuid)
        try c.field(2, "range", &it.range)
        try c.field(3, "is_primary", &it.isPrimary)
        var declaration = AttributeHandle.none
        try c.field(4, "declaration", &declaration)
    }
}

extension DiscoveredInclude: Message {
    public static var blank: Self { Self(handle: .none, uuid: .blank, range: .blank) }
    public static var schemaName: String { "Service" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "uuid", &it.uuid)
        try c.field(2, "range", &it.range)
        var isPrimary = false
        try c.field(3, "is_primary", &isPrimary)
        try c.field(4, "declaration", &it.handle)
    }
}

extension DiscoveredCharacteristic: Message {
    public static var blank: Self {
        Self(handle: .none, valueHandle: .none, endHandle: .none, properties: [], uuid: .blank)
    }
    public static var schemaName: String { "Characteristic" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "uuid", &it.uuid)
        try c.field(2, "handle", &it.handle)
        try c.field(3, "value_handle", &it.valueHandle)
        try c.field(4, "end_handle", &it.endHandle)
        try c.field(5, "properties", &it.properties)
    }
}

extension DiscoveredDescriptor: Message {
    public static var blank: Self { Self(handle: .none, uuid: .blank) }
    public static var schemaName: String { "Descriptor" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "uuid", &it.uuid)
        try c.field(2, "handle", &it.handle)
    }
}

extension AttributeValue: Message {
    public static var blank: Self { Self(handle: .none, value: []) }
    public static var schemaName: String { "Value" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "handle", &it.handle)
        try c.field(2, "value", &it.value)
    }
}

extension RemoteVersion: Message {
    public static var blank: Self { Self(version: 0, companyIdentifier: 0, subversion: 0) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "version", &it.version)
        try c.field(2, "company", &it.companyIdentifier)
        try c.field(3, "subversion", &it.subversion)
    }
}

extension ConnectionParameters: Message {
    public static var blank: Self { Self(interval: .blank, peripheralLatency: 0, supervisionTimeout: .blank) }
    public static var schemaName: String { "ConnectionParametersInForce" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "interval", &it.interval)
        try c.field(2, "peripheral_latency", &it.peripheralLatency)
        try c.field(3, "supervision_timeout", &it.supervisionTimeout)
    }
}

extension DataLength: Message {
    public static var blank: Self {
        Self(maxTransmitOctets: 0, maxTransmitMicroseconds: 0, maxReceiveOctets: 0, maxReceiveMicroseconds: 0)
    }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "transmit_octets", &it.maxTransmitOctets)
        try c.field(2, "transmit_microseconds", &it.maxTransmitMicroseconds)
        try c.field(3, "receive_octets", &it.maxReceiveOctets)
        try c.field(4, "receive_microseconds", &it.maxReceiveMicroseconds)
    }
}

struct PHYs: Message {
    var transmit = PHY.blank
    var receive = PHY.blank
    static var blank: Self { Self() }
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "transmit", &it.transmit)
        try c.field(2, "receive", &it.receive)
    }
}

extension LinkSubrate: Message {
    public static var blank: Self {
        Self(factor: 0, continuationNumber: 0, latency: 0, supervisionTimeout: .blank)
    }
    public static var schemaName: String { "Subrate" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "factor", &it.factor)
        try c.field(2, "continuation_number", &it.continuationNumber)
        try c.field(3, "latency", &it.latency)
        try c.field(4, "supervision_timeout", &it.supervisionTimeout)
    }
}
