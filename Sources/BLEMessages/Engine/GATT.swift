import BLEHost
import BLEPackets

extension GATTOperation: Choice {
    public static var blank: Self { .discoverSecondaryServices }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(2, "exchange_mtu", &it, Self.exchangeMTU) { if case .exchangeMTU(let a) = $0 { a } else { nil } }
        try c.option(3, "discover_services", as: "UUIDs", &it, Self.discoverServices, "uuids") {
            if case .discoverServices(let uuids) = $0 { uuids } else { nil }
        }
        try c.option(4, "discover_secondary_services", &it, .discoverSecondaryServices)
        try c.option(5, "discover_included_services", &it, Self.discoverIncludedServices) {
            if case .discoverIncludedServices(let range) = $0 { range } else { nil }
        }
        try c.option(
            6, "discover_characteristics", as: "DiscoverCharacteristics", &it, Self.discoverCharacteristics,
            "range", "uuids"
        ) { if case .discoverCharacteristics(let range, let uuids) = $0 { (range, uuids) } else { nil } }
        try c.option(7, "discover_descriptors", &it, Self.discoverDescriptors) {
            if case .discoverDescriptors(let range) = $0 { range } else { nil }
        }
        try c.option(8, "read", &it, Self.read) { if case .read(let handle) = $0 { handle } else { nil } }
        try c.option(9, "read_long", as: "ReadLong", &it, Self.readLong, "handle", "offset") {
            if case .readLong(let handle, let offset) = $0 { (handle, offset) } else { nil }
        }
        try c.option(10, "read_using_uuid", as: "ReadUsingUUID", &it, Self.readUsingUUID, "uuid", "range") {
            if case .readUsingUUID(let uuid, let range) = $0 { (uuid, range) } else { nil }
        }
        try c.option(11, "read_multiple", as: "Handles", &it, Self.readMultiple, "handles") {
            if case .readMultiple(let handles) = $0 { handles } else { nil }
        }
        try c.option(12, "read_multiple_variable", as: "Handles", &it, Self.readMultipleVariable, "handles") {
            if case .readMultipleVariable(let handles) = $0 { handles } else { nil }
        }
        try c.option(13, "write", as: "Value", &it, Self.write, "handle", "value") {
            if case .write(let handle, let value) = $0 { (handle, value) } else { nil }
        }
        try c.option(14, "write_long", as: "Value", &it, Self.writeLong, "handle", "value") {
            if case .writeLong(let handle, let value) = $0 { (handle, value) } else { nil }
        }
        try c.option(15, "reliable_write", as: "Values", &it, Self.reliableWrite, "values") {
            if case .reliableWrite(let writes) = $0 { writes } else { nil }
        }
        try c.option(16, "write_command", as: "Value", &it, Self.writeCommand, "handle", "value") {
            if case .writeCommand(let handle, let value) = $0 { (handle, value) } else { nil }
        }
        try c.option(17, "write_signed", as: "Value", &it, Self.writeSigned, "handle", "value") {
            if case .writeSigned(let handle, let value) = $0 { (handle, value) } else { nil }
        }
        try c.option(
            18, "subscribe", as: "Subscribe", &it, Self.subscribe, "handle", "configuration", "indications",
            from: { if case .subscribe(let a, let b, let c) = $0 { (a, b, c) } else { nil } })
        try c.option(19, "unsubscribe", &it, Self.unsubscribe) { if case .unsubscribe(let a) = $0 { a } else { nil } }
        try c.since(6) { c throws(MessageError) in
            try c.option(
                20, "write_part", as: "WritePart", &it, Self.writePart, "handle", "offset", "value", "is_reliable",
                from: { if case .writePart(let a, let b, let c, let d) = $0 { (a, b, c, d) } else { nil } })
            try c.option(
                21, "subscribe_confirming", as: "SubscribeConfirming", &it, Self.subscribeConfirming, "handle",
                "configuration"
            ) { if case .subscribeConfirming(let a, let b) = $0 { (a, b) } else { nil } }
            try c.option(22, "confirm", &it, Self.confirm) { if case .confirm(let a) = $0 { a } else { nil } }
        }
    }
}

extension AttributeWrite: Message {
    public static var blank: Self { Self(handle: .none, value: []) }
    public static var schemaName: String { "Value" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "handle", &it.handle)
        try c.field(2, "value", &it.value)
    }
}
