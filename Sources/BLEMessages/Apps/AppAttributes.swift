import BLEAppLifecycle
import BLEPackets

// MARK: Published attributes

extension LocalService: Message {
    public static var blank: Self { Self(id: .blank, uuid: .blank, isPrimary: false) }
    public static var schemaName: String { "AppService" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "id", &it.id)
        try c.field(2, "uuid", &it.uuid)
        try c.field(3, "is_primary", &it.isPrimary)
        try c.field(4, "included_services", &it.includedServices)
        try c.field(5, "characteristics", &it.characteristics)
    }
}

extension LocalCharacteristic: Message {
    public static var blank: Self { Self(id: .blank, uuid: .blank, properties: 0, permissions: 0) }
    public static var schemaName: String { "AppCharacteristic" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "id", &it.id)
        try c.field(2, "uuid", &it.uuid)
        try c.field(3, "properties", &it.properties)
        try c.field(4, "permissions", &it.permissions)
        try c.field(5, "value", &it.value)
        try c.field(6, "descriptors", &it.descriptors)
    }
}

extension LocalDescriptor: Message {
    public static var blank: Self { Self(id: .blank, uuid: .blank, value: []) }
    public static var schemaName: String { "AppDescriptor" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "id", &it.id)
        try c.field(2, "uuid", &it.uuid)
        try c.field(3, "value", &it.value)
    }
}

// MARK: Attributes of devices

extension RemoteService: Message {
    public static var blank: Self { Self(id: .blank, uuid: .blank, isPrimary: false, endHandle: 0) }
    public static var schemaName: String { "AppRemoteService" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "id", &it.id)
        try c.field(2, "uuid", &it.uuid)
        try c.field(3, "is_primary", &it.isPrimary)
        try c.field(4, "end_handle", &it.endHandle)
        try c.field(5, "included_services", as: "AppNumbers", "numbers", &it.includedServices)
        try c.field(
            6, "characteristics", as: "AppRemoteCharacteristics", "characteristics", &it.characteristics)
    }
}

extension RemoteCharacteristic: Message {
    public static var blank: Self {
        Self(id: .blank, uuid: .blank, properties: 0, isNotifying: false, valueHandle: 0, endHandle: 0)
    }
    public static var schemaName: String { "AppRemoteCharacteristic" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "id", &it.id)
        try c.field(2, "uuid", &it.uuid)
        try c.field(3, "properties", &it.properties)
        try c.field(4, "is_notifying", &it.isNotifying)
        try c.field(5, "descriptors", as: "AppRemoteDescriptors", "descriptors", &it.descriptors)
        try c.field(6, "value_handle", &it.valueHandle)
        try c.field(7, "end_handle", &it.endHandle)
        try c.field(8, "configuration", &it.configuration)
    }
}

extension RemoteDescriptor: Message {
    public static var blank: Self { Self(id: .blank, uuid: .blank) }
    public static var schemaName: String { "Descriptor" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "uuid", &it.uuid)
        try c.field(2, "handle", &it.id)
    }
}
