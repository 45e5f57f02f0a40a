import BLEHost
import BLEPackets

extension ServerCommand: Choice {
    public static var blank: Self { .setDeviceName("") }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(14, "publish", &it, Self.publish) { if case .publish(let service) = $0 { service } else { nil } }
        try c.option(
            15, "remove_service", &it, Self.removeService, { if case .removeService(let a) = $0 { a } else { nil } })
        try c.option(
            16, "respond", as: "Respond", &it, Self.respond, "question",
            rest: { if case .respond(let question, let answer) = $0 { (question, answer) } else { nil } })
        try c.option(
            17, "update_value", as: "Update", &it,
            { (handle, value, links: Links?) in .updateValue(handle, value: value, links: links?.links) },
            "handle",
            "value", "links",
            from: {
                guard case .updateValue(let handle, let value, let links) = $0 else { return nil }
                return (handle, value, links.map { Links(links: $0) })
            })
        try c.option(
            18, "set_device_name", &it, Self.setDeviceName, { if case .setDeviceName(let a) = $0 { a } else { nil } })
        try c.recorded { c throws(MessageError) in
            try c.option(102, "disable_services", as: "DisableServices", &it, Self.disableServices, "error") {
                if case .disableServices(let error) = $0 { .some(error) } else { nil }
            }
        }
    }
}

struct Links: Message {
    var links: [LinkID] = []
    static var blank: Self { Self() }
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "links", &it.links)
    }
}

extension GATTAnswer: Choice {
    public static var blank: Self { .success }
    public static func options<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.option(2, "value", &it, Self.value) { if case .value(let octets) = $0 { octets } else { nil } }
        try c.option(3, "success", &it, .success)
        try c.option(
            4, "error", as: "ServerError", &it, { .failure($0, handle: $1) }, "code", "handle",
            from: { if case .failure(let error, let handle) = $0 { (error, handle) } else { nil } })
    }
}

extension GATTServiceDefinition: Message {
    public static var blank: Self { Self(uuid: .blank) }
    public static var schemaName: String { "ServiceDefinition" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "uuid", &it.uuid)
        try c.field(2, "is_primary", &it.isPrimary)
        try c.field(3, "included_services", &it.includedServices)
        try c.field(4, "characteristics", &it.characteristics)
    }
}

extension GATTCharacteristicDefinition: Message {
    public static var blank: Self { Self(uuid: .blank, properties: [], permissions: []) }
    public static var schemaName: String { "CharacteristicDefinition" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "uuid", &it.uuid)
        try c.field(2, "properties", &it.properties)
        try c.field(3, "permissions", &it.permissions)
        try c.field(4, "value", &it.value)
        try c.field(5, "descriptors", &it.descriptors)
        try c.field(6, "extended_properties", &it.extendedProperties)
        try c.field(7, "needs_encryption_to_subscribe", &it.needsEncryptionToSubscribe)
        try c.field(8, "minimum_key_size", &it.minimumKeySize)
        guard it.minimumKeySize <= 16 else { throw .invalidField }
    }
}

extension GATTDescriptorDefinition: Message {
    public static var blank: Self { Self(uuid: .blank, value: nil) }
    public static var schemaName: String { "DescriptorDefinition" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "uuid", &it.uuid)
        try c.field(2, "permissions", &it.permissions)
        try c.field(3, "value", &it.value)
    }
}

extension GATTPublishedService: Message {
    public static var blank: Self {
        Self(uuid: .blank, isPrimary: false, range: .blank, characteristics: [], owner: .local)
    }
    public static var schemaName: String { "PublishedService" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "uuid", &it.uuid)
        try c.field(2, "is_primary", &it.isPrimary)
        try c.field(3, "range", &it.range)
        try c.field(4, "characteristics", &it.characteristics)
    }
}

extension GATTPublishedCharacteristic: Message {
    public static var blank: Self {
        Self(uuid: .blank, declaration: .none, valueHandle: .none, configuration: .none, descriptors: [])
    }
    public static var schemaName: String { "PublishedCharacteristic" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "uuid", &it.uuid)
        try c.field(2, "declaration", &it.declaration)
        try c.field(3, "value_handle", &it.valueHandle)
        try c.field(4, "configuration", &it.configuration)
        try c.field(5, "descriptors", &it.descriptors)
    }
}
