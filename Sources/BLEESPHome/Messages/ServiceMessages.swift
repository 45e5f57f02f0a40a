import BLEHost
import BLEMessages
import BLEPackets

/// A UUID in one of its two forms.
struct NativeUUID: Equatable {
    /// The halves of 128 bits, the high one first; empty with a short form.
    var halves: [UInt64] = []
    var short: UInt32 = 0

    init() {}

    /// - Parameter isShort: whether the client knows short forms.
    init(_ uuid: BluetoothUUID, isShort: Bool) {
        let octets = uuid.bytes
        func number(_ range: Range<Int>) -> UInt64 { octets[range].reduce(0) { $0 << 8 | UInt64($1) } }
        if isShort, uuid.isOnBase { short = UInt32(truncatingIfNeeded: number(0..<4)) }
        // A short form of zero would be no form.
        if short == 0 { halves = [number(0..<8), number(8..<16)] }
    }
}

struct NativeDescriptor: Message, Equatable {
    var uuid = NativeUUID()
    var handle: UInt32 = 0

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "uuid", &it.uuid.halves)
        try c.field(2, "handle", &it.handle)
        try c.field(3, "short_uuid", &it.uuid.short)
    }
}

struct NativeCharacteristic: Message, Equatable {
    var uuid = NativeUUID()
    /// That of the value.
    var handle: UInt32 = 0
    var properties: UInt32 = 0
    var descriptors: [NativeDescriptor] = []

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "uuid", &it.uuid.halves)
        try c.field(2, "handle", &it.handle)
        try c.field(3, "properties", &it.properties)
        try c.field(4, "descriptors", &it.descriptors)
        try c.field(5, "short_uuid", &it.uuid.short)
    }
}

struct NativeService: Message, Equatable {
    var uuid = NativeUUID()
    var handle: UInt32 = 0
    var characteristics: [NativeCharacteristic] = []

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "uuid", &it.uuid.halves)
        try c.field(2, "handle", &it.handle)
        try c.field(3, "characteristics", &it.characteristics)
        try c.field(4, "short_uuid", &it.uuid.short)
    }
}

extension NativeService {
    init(_ contents: ServiceContents, isShort: Bool) {
        func uuid(_ uuid: BluetoothUUID) -> NativeUUID { NativeUUID(uuid, isShort: isShort) }
        self.uuid = uuid(contents.service.uuid)
        handle = UInt32(contents.service.range.first.rawValue)
        characteristics = contents.characteristics.map { content in
            NativeCharacteristic(
                uuid: uuid(content.characteristic.uuid),
                handle: UInt32(content.characteristic.valueHandle.rawValue),
                properties: UInt32(content.characteristic.properties.rawValue),
                descriptors: content.descriptors.map {
                    NativeDescriptor(uuid: uuid($0.uuid), handle: UInt32($0.handle.rawValue))
                })
        }
    }
}

struct GetServicesResponse: Message, Equatable {
    var address: UInt64 = 0
    var services: [NativeService] = []

    static let blank = Self()
    static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "address", &it.address)
        try c.field(2, "services", &it.services)
    }

    /// The length of messages that clients receive well, in octets.
    private static let goodLength = 1360

    /// The services of a device, several in a message; one that exceeds the length has a message to itself.
    static func messages(_ address: UInt64, _ services: [NativeService]) -> [Self] {
        var messages: [Self] = []
        var length = 0
        for service in services {
            // With its key and its length.
            let own = (try? service.encoded().count) ?? 0
            if let last = messages.indices.last, length + own + 4 <= Self.goodLength {
                messages[last].services.append(service)
            } else {
                messages.append(Self(address: address, services: [service]))
                length = 10
            }
            length += own + 4
        }
        return messages
    }
}
