/// One structure of advertising data: what it is, and its octets, which are borrowed.
public struct AdvertisingDataStructure: ~Escapable {
    /// The meaning of the data; unnamed types occur, too.
    public let type: AdvertisingDataType
    /// The octets after the type, at most 254.
    public let data: RawSpan

    /// Puts the two together without a look at the octets; `element()` looks.
    @inlinable @_lifetime(copy data)
    public init(type: AdvertisingDataType, data: RawSpan) {
        self.type = type
        self.data = data
    }

    /// The decoded structure, without copying its octets.
    ///
    /// - Throws: `DecodingError` when the number of octets does not fit the type. A list of UUIDs whose last one is cut
    ///   off throws when the list reaches it.
    @inlinable @_lifetime(copy self)
    public func element() throws(DecodingError) -> AdvertisingDataElement {
        switch type.rawValue {
        case 0x01:
            // The field may be longer; octets after the first have no meaning yet (Supplement, Part A, 1.3).
            .flags(AdvertisingFlags(rawValue: data.byte(at: 0) ?? 0))
        case 0x02: .serviceUUIDs(AdvertisedUUIDList(data, width: .bits16), isComplete: false)
        case 0x03: .serviceUUIDs(AdvertisedUUIDList(data, width: .bits16), isComplete: true)
        case 0x04: .serviceUUIDs(AdvertisedUUIDList(data, width: .bits32), isComplete: false)
        case 0x05: .serviceUUIDs(AdvertisedUUIDList(data, width: .bits32), isComplete: true)
        case 0x06: .serviceUUIDs(AdvertisedUUIDList(data, width: .bits128), isComplete: false)
        case 0x07: .serviceUUIDs(AdvertisedUUIDList(data, width: .bits128), isComplete: true)
        case 0x08: .localName(data, isComplete: false)
        case 0x09: .localName(data, isComplete: true)
        case 0x0A: .txPowerLevel(try whole(Int8.self))
        case 0x12: .peripheralConnectionIntervalRange(try intervalRange())
        case 0x14: .solicitedServiceUUIDs(AdvertisedUUIDList(data, width: .bits16))
        case 0x15: .solicitedServiceUUIDs(AdvertisedUUIDList(data, width: .bits128))
        case 0x16: try serviceData(width: .bits16)
        case 0x17: .targetAddresses(AdvertisedAddressList(data, kind: .public))
        case 0x18: .targetAddresses(AdvertisedAddressList(data, kind: .random))
        case 0x19: .appearance(try whole(UInt16.self))
        case 0x1A: .advertisingInterval(UInt32(try whole(UInt16.self)))
        case 0x1B: .deviceAddress(try deviceAddress())
        case 0x1C: .role(LERole(rawValue: try whole(UInt8.self)))
        case 0x1F: .solicitedServiceUUIDs(AdvertisedUUIDList(data, width: .bits32))
        case 0x20: try serviceData(width: .bits32)
        case 0x21: try serviceData(width: .bits128)
        case 0x24: .uri(data)
        case 0x27: .leSupportedFeatures(data)
        case 0x2F: .advertisingInterval(try longInterval())
        case 0x30: .broadcastName(data)
        case 0xFF: try manufacturerData()
        default: .other(type, data)
        }
    }

    @inlinable
    func whole<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value.Type) throws(DecodingError) -> Value {
        var reader = PacketReader(data)
        let value = try reader.read(Value.self)
        try reader.expectEnd()
        return value
    }

    @usableFromInline
    func longInterval() throws(DecodingError) -> UInt32 {
        guard data.byteCount == 3 else { return try whole(UInt32.self) }
        var reader = PacketReader(data)
        return try reader.readUInt24()
    }

    @usableFromInline
    func intervalRange() throws(DecodingError) -> ConnectionIntervalRange {
        var reader = PacketReader(data)
        let minimum = try reader.read(UInt16.self)
        let maximum = try reader.read(UInt16.self)
        try reader.expectEnd()
        return ConnectionIntervalRange(minimum: minimum, maximum: maximum)
    }

    @usableFromInline
    func deviceAddress() throws(DecodingError) -> DeviceAddress {
        var reader = PacketReader(data)
        guard let last = data.byte(at: 6) else { throw .truncated(needed: 7, remaining: data.byteCount) }
        let address = try DeviceAddress(decoding: &reader, kind: last & 1 == 0 ? .public : .random)
        _ = try reader.read(UInt8.self)
        try reader.expectEnd()
        return address
    }

    @inlinable @_lifetime(copy self)
    func serviceData(width: BluetoothUUID.Width) throws(DecodingError) -> AdvertisingDataElement {
        var reader = PacketReader(data)
        let uuid = try BluetoothUUID(decoding: &reader, width: width)
        return .serviceData(uuid, reader.readRest())
    }

    @inlinable @_lifetime(copy self)
    func manufacturerData() throws(DecodingError) -> AdvertisingDataElement {
        var reader = PacketReader(data)
        let company = try reader.read(UInt16.self)
        return .manufacturerData(company: company, reader.readRest())
    }
}
