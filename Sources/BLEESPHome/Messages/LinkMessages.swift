import BLEMessages

struct DeviceRequest: Message, Equatable {
    var address: UInt64 = 0
    var type: UInt32 = 0
    var hasAddressType = false
    var addressType: UInt32 = 0

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "address", &it.address)
        try c.field(2, "request_type", &it.type)
        try c.field(3, "has_address_type", &it.hasAddressType)
        try c.field(4, "address_type", &it.addressType)
    }
}

struct DeviceConnectionResponse: Message, Equatable {
    var address: UInt64 = 0
    var isConnected = false
    var mtu: UInt32 = 0
    var error: Int64 = 0

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "address", &it.address)
        try c.field(2, "connected", &it.isConnected)
        try c.field(3, "mtu", &it.mtu)
        try c.field(4, "error", &it.error)
    }
}

/// A message about a device that has nothing but its address.
struct AddressMessage: Message, Equatable {
    var address: UInt64 = 0

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "address", &it.address)
    }
}

/// A message about an attribute.
struct HandleMessage: Message, Equatable {
    var address: UInt64 = 0
    var handle: UInt32 = 0

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "address", &it.address)
        try c.field(2, "handle", &it.handle)
    }
}

/// A message about an attribute, with one thing more.
struct AttributeMessage<Content: FieldValue & Equatable & Sendable>: Message, Equatable {
    var address: UInt64 = 0
    var handle: UInt32 = 0
    var content = Content.blank

    static var blank: Self { Self() }
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "address", &it.address)
        try c.field(2, "handle", &it.handle)
        try c.field(3, "content", &it.content)
    }
}

/// An attribute with its value.
typealias ValueMessage = AttributeMessage<[UInt8]>
/// Whether a client wants what a device sends for an attribute.
typealias NotifyRequest = AttributeMessage<Bool>
/// Why an operation on an attribute failed.
typealias ErrorResponse = AttributeMessage<Int64>

struct WriteRequest: Message, Equatable {
    var address: UInt64 = 0
    var handle: UInt32 = 0
    var wantsResponse = false
    var data: [UInt8] = []

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "address", &it.address)
        try c.field(2, "handle", &it.handle)
        try c.field(3, "response", &it.wantsResponse)
        try c.field(4, "data", &it.data)
    }
}

/// How pairing, unpairing or clearing the cache ended.
struct OutcomeResponse: Message, Equatable {
    var address: UInt64 = 0
    var isSuccess = false
    var error: Int64 = 0

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "address", &it.address)
        try c.field(2, "success", &it.isSuccess)
        try c.field(3, "error", &it.error)
    }
}

struct ConnectionsFreeResponse: Message, Equatable {
    var free: UInt32 = 0
    var limit: UInt32 = 0
    var allocated: [UInt64] = []

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "free", &it.free)
        try c.field(2, "limit", &it.limit)
        try c.field(3, "allocated", &it.allocated)
    }
}

struct SetConnectionParametersRequest: Message, Equatable {
    var address: UInt64 = 0
    /// In units of 1.25 ms.
    var minimumInterval: UInt32 = 0
    var maximumInterval: UInt32 = 0
    var latency: UInt32 = 0
    /// In units of 10 ms.
    var timeout: UInt32 = 0

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "address", &it.address)
        try c.field(2, "min_interval", &it.minimumInterval)
        try c.field(3, "max_interval", &it.maximumInterval)
        try c.field(4, "latency", &it.latency)
        try c.field(5, "timeout", &it.timeout)
    }
}

struct SetConnectionParametersResponse: Message, Equatable {
    var address: UInt64 = 0
    var error: Int64 = 0

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "address", &it.address)
        try c.field(2, "error", &it.error)
    }
}
