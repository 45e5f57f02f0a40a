import BLEMessages

struct RawAdvertisement: Message, Equatable {
    var address: UInt64 = 0
    var rssi: Int8 = 0
    var addressType: UInt32 = 0
    var data: [UInt8] = []

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "address", &it.address)
        try c.field(2, "rssi", &it.rssi)
        try c.field(3, "address_type", &it.addressType)
        try c.field(4, "data", &it.data)
    }
}

struct RawAdvertisementsResponse: Message, Equatable {
    var advertisements: [RawAdvertisement] = []

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "advertisements", &it.advertisements)
    }
}

struct ScannerSetModeRequest: Message, Equatable {
    /// 0 passive, 1 active.
    var mode: UInt32 = 0

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "mode", &it.mode)
    }
}

struct ScannerStateResponse: Message, Equatable {
    var state: UInt32 = 0
    var mode: UInt32 = 0
    var configuredMode: UInt32 = 0

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "state", &it.state)
        try c.field(2, "mode", &it.mode)
        try c.field(3, "configured_mode", &it.configuredMode)
    }
}
