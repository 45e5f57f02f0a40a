import BLEHost
import BLEPackets

extension ChannelCommand: Choice {
    public static var blank: Self { .stopListening(spsm: 0) }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(
            24, "listen", as: "Listen", &it,
            { .listen(spsm: $0 == 0 ? nil : $0, $1, requiresEncryption: $2, demanding: $3) }, "spsm",
            "settings", "requires_encryption", "security",
            from: {
                guard case .listen(let spsm, let settings, let isEncrypted, let demanded) = $0 else { return nil }
                return (spsm ?? 0, settings, isEncrypted, demanded)
            })
        try c.option(
            25, "stop_listening", &it, Self.stopListening, { if case .stopListening(let a) = $0 { a } else { nil } })
        try c.option(26, "open_channel", as: "OpenChannel", &it, Self.open, "link", "spsm", "settings") {
            if case .open(let link, let spsm, let settings) = $0 { (link, spsm, settings) } else { nil }
        }
        try c.option(27, "send_on_channel", as: "SendOnChannel", &it, Self.send, "channel", "unit") {
            if case .send(let channel, let unit) = $0 { (channel, unit) } else { nil }
        }
        try c.option(28, "consume_on_channel", as: "ConsumeOnChannel", &it, Self.consume, "channel", "units") {
            if case .consume(let channel, let units) = $0 { (channel, units) } else { nil }
        }
        try c.option(29, "close_channel", &it, Self.close) { if case .close(let channel) = $0 { channel } else { nil } }
        try c.option(
            31, "open_enhanced_channels", as: "OpenEnhancedChannels", &it, Self.openEnhancedChannels, "link",
            "spsm", "settings", "count"
        ) {
            guard case .openEnhanced(let link, let spsm, let settings, let count) = $0 else { return nil }
            return (link, spsm, settings, count)
        }
        try c.option(
            32, "reconfigure_channels", as: "ReconfigureChannels", &it, Self.reconfigureChannels, "channels",
            "maximum_transmission_unit", "maximum_payload_size"
        ) {
            guard case .reconfigure(let channels, let unit, let payload) = $0 else { return nil }
            return (channels, unit, payload)
        }
    }

    private static func openEnhancedChannels(
        _ link: LinkID, _ spsm: UInt16, _ settings: ChannelSettings, _ count: Int
    ) throws(MessageError) -> Self {
        guard 1...5 ~= count else { throw .invalidField }
        return .openEnhanced(link, spsm: spsm, settings, count: count)
    }

    private static func reconfigureChannels(
        _ channels: [ChannelID], _ unit: UInt16, _ payload: UInt16
    ) throws(MessageError) -> Self {
        guard 1...5 ~= channels.count else { throw .invalidField }
        return .reconfigure(channels, maximumTransmissionUnit: unit, maximumPayloadSize: payload)
    }
}

extension ChannelID: Message {
    public static var blank: Self { Self(link: .blank, number: 0) }
    public static var schemaName: String { "Channel" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "link", &it.link)
        try c.field(2, "number", &it.number)
    }
}

extension ChannelSettings: Message {
    public static var blank: Self { Self() }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "maximum_transmission_unit", &it.maximumTransmissionUnit)
        try c.field(2, "maximum_payload_size", &it.maximumPayloadSize)
        try c.field(3, "credits", &it.credits)
        guard C.reads else { return }
        // Brings them into their bounds.
        it = Self(
            maximumTransmissionUnit: it.maximumTransmissionUnit, maximumPayloadSize: it.maximumPayloadSize,
            credits: it.credits)
    }
}

extension ChannelSecurity: Message {
    public static var blank: Self { Self() }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "requires_authentication", &it.requiresAuthentication)
        try c.field(2, "minimum_key_size", &it.minimumKeySize)
        guard !C.reads || 7...16 ~= it.minimumKeySize else { throw .invalidField }
    }
}

extension ChannelInformation: Message {
    public static var blank: Self { Self(id: .blank, spsm: 0, sendMTU: 0, receiveMTU: 0) }
    public static var schemaName: String { "OpenedChannel" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "channel", &it.id)
        try c.field(2, "spsm", &it.spsm)
        try c.field(3, "send_mtu", &it.sendMTU)
        try c.field(4, "receive_mtu", &it.receiveMTU)
    }
}

/// An event of the client's own channel.
extension ChannelEvent: Choice {
    public static var blank: Self { .received(.blank, []) }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(1, "opened", &it, { .opened($0, .local) }, { if case .opened(let a, _) = $0 { a } else { nil } })
        try c.option(2, "received", as: "ReceivedOnChannel", &it, Self.received, "channel", "unit") {
            if case .received(let channel, let unit) = $0 { (channel, unit) } else { nil }
        }
        try c.option(3, "closed", as: "ChannelClosed", &it, Self.closed, "channel", "reason") {
            if case .closed(let channel, let end) = $0 { (channel, end) } else { nil }
        }
        try c.option(4, "reconfigured", &it, Self.reconfigured) { if case .reconfigured(let a) = $0 { a } else { nil } }
    }
}
