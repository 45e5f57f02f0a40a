import BLEAppLifecycle
import BLEPackets

extension PeripheralRequest: Choice {
    public static var blank: Self { .readRSSI }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(
            2, "discover_services", as: "UUIDs", &it, Self.discoverServices, "uuids"
        ) { if case .discoverServices(let uuids) = $0 { uuids } else { nil } }
        try c.option(
            3, "discover_included_services", as: "AppDiscover", &it,
            { .discoverIncludedServices($1, service: $0) }, "service", "uuids",
            from: { if case .discoverIncludedServices(let uuids, let service) = $0 { (service, uuids) } else { nil } })
        try c.option(
            4, "discover_characteristics", as: "AppDiscover", &it,
            { .discoverCharacteristics($1, service: $0) }, "service", "uuids",
            from: { if case .discoverCharacteristics(let uuids, let service) = $0 { (service, uuids) } else { nil } })
        try c.option(5, "discover_descriptors", &it, Self.discoverDescriptors) {
            if case .discoverDescriptors(let characteristic) = $0 { characteristic } else { nil }
        }
        try c.option(6, "read_value", &it, Self.readValue) { if case .readValue(let a) = $0 { a } else { nil } }
        try c.option(
            7, "read_descriptor", &it, Self.readDescriptor, { if case .readDescriptor(let a) = $0 { a } else { nil } })
        try c.option(
            8, "write_value", as: "Value", &it, { .writeValue($1, characteristic: $0) }, "handle", "value",
            from: { if case .writeValue(let value, let characteristic) = $0 { (characteristic, value) } else { nil } })
        try c.option(
            9, "write_without_response", as: "Value", &it,
            { .writeWithoutResponse($1, characteristic: $0) }, "handle", "value",
            from: {
                if case .writeWithoutResponse(let value, let characteristic) = $0 {
                    (characteristic, value)
                } else {
                    nil
                }
            })
        try c.option(
            10, "write_descriptor", as: "Value", &it, { .writeDescriptor($1, $0) }, "handle", "value",
            from: { if case .writeDescriptor(let value, let descriptor) = $0 { (descriptor, value) } else { nil } })
        try c.option(
            11, "set_notify", as: "AppSetNotify", &it,
            { .setNotify($1, characteristic: $0) }, "characteristic", "is_notifying",
            from: { if case .setNotify(let isNotifying, let attribute) = $0 { (attribute, isNotifying) } else { nil } })
        try c.option(12, "read_rssi", &it, .readRSSI) { if case .readRSSI = $0 { true } else { false } }
        try c.option(13, "open_channel", &it, Self.openChannel) { if case .openChannel(let a) = $0 { a } else { nil } }
    }
}
