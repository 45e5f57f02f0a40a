import BLEMessages

/// Messages have the fields that are used here, with their numbers in ESPHome's `api.proto`.
struct EmptyMessage: Message {
    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {}
}

struct HelloRequest: Message, Equatable {
    var client = ""
    var major: UInt32 = 0
    var minor: UInt32 = 0

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "client_info", &it.client)
        try c.field(2, "api_version_major", &it.major)
        try c.field(3, "api_version_minor", &it.minor)
    }
}

struct HelloResponse: Message, Equatable {
    var major: UInt32 = 0
    var minor: UInt32 = 0
    var server = ""
    var name = ""

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "api_version_major", &it.major)
        try c.field(2, "api_version_minor", &it.minor)
        try c.field(3, "server_info", &it.server)
        try c.field(4, "name", &it.name)
    }
}

struct DeviceInfoResponse: Message, Equatable {
    var name = ""
    /// Capitals and colons.
    var address = ""
    var esphomeVersion = ""
    var model = ""
    var projectName = ""
    var projectVersion = ""
    var manufacturer = ""
    var proxyFeatures: UInt32 = 0
    var bluetoothAddress = ""
    var supportsEncryption = false

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(2, "name", &it.name)
        try c.field(3, "mac_address", &it.address)
        try c.field(4, "esphome_version", &it.esphomeVersion)
        try c.field(6, "model", &it.model)
        try c.field(8, "project_name", &it.projectName)
        try c.field(9, "project_version", &it.projectVersion)
        try c.field(12, "manufacturer", &it.manufacturer)
        try c.field(15, "bluetooth_proxy_feature_flags", &it.proxyFeatures)
        try c.field(18, "bluetooth_mac_address", &it.bluetoothAddress)
        try c.field(19, "api_encryption_supported", &it.supportsEncryption)
    }
}
