import BLEAppLifecycle
import BLEPackets

/// `ClientEvent.peripheral`.
struct AppPeripheralEvent: Message {
    var peer: PeerIdentifier
    /// `nil` is an event of a newer daemon that is unknown here.
    var event: PeripheralEvent?

    func clientEvent(_ isKnown: inout Bool) -> ClientEvent {
        isKnown = event != nil
        return .peripheral(peer, event ?? .nameUpdated(nil))
    }

    static var blank: Self { Self(peer: .blank) }
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "peer", &it.peer)
        var failure = it.event?.error
        try c.field(2, "error", &failure)
        let error = failure
        try c.choice(optional: &it.event, .nameUpdated(nil)) { it, c throws(MessageError) in
            try options(&it, error, &c)
        }
    }

    private static func options<C: Coder>(
        _ it: inout PeripheralEvent, _ error: ClientError?, _ c: inout C
    ) throws(MessageError) {
        try c.option(
            3, "services_discovered", as: "AppRemoteServices", &it, { .servicesDiscovered($0, error) }, "services",
            from: { if case .servicesDiscovered(let services, _) = $0 { services } else { nil } })
        try c.option(
            4, "included_services_discovered", as: "AppFoundIn", &it,
            { .includedServicesDiscovered(service: $0, $1, error) }, "parent", "services",
            from: {
                if case .includedServicesDiscovered(let parent, let found, _) = $0 { (parent, found) } else { nil }
            })
        try c.option(
            5, "characteristics_discovered", as: "AppFoundIn", &it,
            { .characteristicsDiscovered(service: $0, $1, error) }, "parent", FieldKey(3, "characteristics"),
            from: { if case .characteristicsDiscovered(let parent, let found, _) = $0 { (parent, found) } else { nil } }
        )
        try c.option(
            6, "descriptors_discovered", as: "AppFoundIn", &it,
            { .descriptorsDiscovered(characteristic: $0, $1, error) }, "parent", FieldKey(4, "descriptors"),
            from: { if case .descriptorsDiscovered(let parent, let found, _) = $0 { (parent, found) } else { nil } })
        try c.option(
            7, "value_updated", as: "AppValue", &it, { .valueUpdated(characteristic: $0, $1, error) }, "id", "value",
            from: { if case .valueUpdated(let a, let b, _) = $0 { (a, b) } else { nil } })
        try c.option(
            8, "descriptor_value_updated", as: "AppValue", &it,
            { .descriptorValueUpdated($0, $1, error) }, "id", "value",
            from: {
                if case .descriptorValueUpdated(let descriptor, let value, _) = $0 { (descriptor, value) } else { nil }
            })
        try c.option(
            9, "value_written", &it, { .valueWritten(characteristic: $0, error) },
            { if case .valueWritten(let characteristic, _) = $0 { characteristic } else { nil } })
        try c.option(
            10, "descriptor_written", &it, { .descriptorWritten($0, error) },
            { if case .descriptorWritten(let descriptor, _) = $0 { descriptor } else { nil } })
        try c.option(
            11, "notification_state_updated", as: "AppSetNotify", &it,
            { .notificationStateUpdated(characteristic: $0, isNotifying: $1, error) }, "characteristic",
            "is_notifying",
            from: {
                if case .notificationStateUpdated(let id, let isNotifying, _) = $0 { (id, isNotifying) } else { nil }
            })
        try c.option(
            12, "rssi_read", &it, { .rssiRead(rssi: $0, error) },
            { if case .rssiRead(let rssi, _) = $0 { rssi } else { nil } })
        try c.option(
            13, "name_updated", as: "AppName", &it, { .nameUpdated($0) }, "name",
            from: { if case .nameUpdated(let name) = $0 { .some(name) } else { nil } })
        try c.option(
            14, "services_modified", as: "AppNumbers", &it, { .servicesModified(invalidated: $0) }, "numbers",
            from: { if case .servicesModified(let services) = $0 { services } else { nil } })
        try c.option(
            15, "write_without_response_available", &it, { .writeWithoutResponseAvailable($0) },
            { if case .writeWithoutResponseAvailable(let isAvailable) = $0 { isAvailable } else { nil } })
        try c.option(
            16, "write_limits_changed", &it, { .writeLimitsChanged($0) },
            { if case .writeLimitsChanged(let limits) = $0 { limits } else { nil } })
        try c.option(
            17, "channel_opened", as: "AppChannelOpened", &it, { .channelOpened($0, psm: $1, error) }, "channel", "psm",
            from: { if case .channelOpened(let channel, let psm, _) = $0 { (channel, psm) } else { nil } })
    }
}

extension PeripheralEvent {
    fileprivate var error: ClientError? {
        switch self {
        case .servicesDiscovered(_, let error), .includedServicesDiscovered(_, _, let error),
            .characteristicsDiscovered(_, _, let error), .descriptorsDiscovered(_, _, let error),
            .valueUpdated(_, _, let error), .descriptorValueUpdated(_, _, let error), .valueWritten(_, let error),
            .descriptorWritten(_, let error), .notificationStateUpdated(_, _, let error), .rssiRead(_, let error),
            .channelOpened(_, _, let error):
            error
        case .nameUpdated, .servicesModified, .writeWithoutResponseAvailable, .writeLimitsChanged: nil
        }
    }
}
