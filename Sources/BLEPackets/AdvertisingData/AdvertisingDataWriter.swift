/// Writes advertising-data structures one after the other while there is room (Core 5.4, Vol 3, Part C, 11).
///
/// A structure that does not fit is not written at all; earlier ones are kept.
public struct AdvertisingDataWriter: Sendable {
    /// Room of a legacy advertisement or scan response, in octets.
    public static let legacyCapacity = 31
    /// The most that an extended advertisement can carry, in octets.
    public static let extendedCapacity = 1650
    /// The most data that one structure can carry, in octets.
    public static let maximumDataByteCount = 254

    /// A structure does not fit.
    public struct DoesNotFit: Error, Equatable, Sendable {
        /// Octets of the structure or structures, lengths and types included.
        public var needed: Int
        /// Octets that are free.
        public var remaining: Int
    }

    /// Octets that may be written in all.
    public let capacity: Int
    private var packet: PacketWriter

    /// - Parameter capacity: octets that may be written in all.
    public init(capacity: Int = Self.legacyCapacity) {
        self.capacity = capacity
        packet = PacketWriter(reservingCapacity: capacity)
    }

    /// The written octets, without padding.
    public var bytes: [UInt8] { packet.bytes }
    /// Octets that are free, headers of further structures included.
    public var remainingCount: Int { capacity - packet.count }

    /// Forgets what was written and keeps the memory.
    public mutating func removeAll() { packet.removeAll() }

    /// Appends a structure of any type.
    /// - Throws: `DoesNotFit` when the room or the length octet does not suffice.
    public mutating func append(_ type: AdvertisingDataType, _ data: [UInt8]) throws(DoesNotFit) {
        try begin(type, dataByteCount: data.count)
        packet.write(bytes: data)
    }

    /// - Throws: `DoesNotFit`.
    /// Appends the flags: three octets, which leave 28 in a legacy packet.
    public mutating func append(_ flags: AdvertisingFlags) throws(DoesNotFit) {
        try begin(.flags, dataByteCount: 1)
        packet.write(flags.rawValue)
    }

    /// Appends one list for each width that occurs, 16, 32, 128 bits in this order, all of them or none.
    ///
    /// - Parameters:
    ///   - uuids: each is written in its own width.
    ///   - areComplete: whether the device offers no others of the same width.
    /// - Throws: `DoesNotFit`.
    public mutating func append(serviceUUIDs uuids: [BluetoothUUID], areComplete: Bool) throws(DoesNotFit) {
        try append(uuids) { width in
            switch width {
            case .bits16: areComplete ? .completeServiceUUIDs16 : .incompleteServiceUUIDs16
            case .bits32: areComplete ? .completeServiceUUIDs32 : .incompleteServiceUUIDs32
            case .bits128: areComplete ? .completeServiceUUIDs128 : .incompleteServiceUUIDs128
            }
        }
    }

    /// Appends one list for each width that occurs, 16, 32, 128 bits in this order, all of them or none.
    /// - Throws: `DoesNotFit`.
    public mutating func append(solicitedServiceUUIDs uuids: [BluetoothUUID]) throws(DoesNotFit) {
        try append(uuids) { width in
            switch width {
            case .bits16: .solicitedServiceUUIDs16
            case .bits32: .solicitedServiceUUIDs32
            case .bits128: .solicitedServiceUUIDs128
            }
        }
    }

    /// - Throws: `DoesNotFit`; a name is never cut off. Appends the name in UTF-8, which may take up to four octets for
    ///   a character.
    public mutating func append(localName: String, isComplete: Bool = true) throws(DoesNotFit) {
        try append(isComplete ? .completeLocalName : .shortenedLocalName, localName.utf8Prefix(.max))
    }

    /// - Parameter txPowerLevel: dBm.
    /// - Throws: `DoesNotFit`.
    /// Appends the power at which the packet is going to be sent.
    public mutating func append(txPowerLevel: Int8) throws(DoesNotFit) {
        try begin(.txPowerLevel, dataByteCount: 1)
        packet.write(txPowerLevel)
    }

    /// - Throws: `DoesNotFit`.
    /// Appends a number of the Assigned Numbers that says what the device looks like.
    public mutating func append(appearance: UInt16) throws(DoesNotFit) {
        try begin(.appearance, dataByteCount: 2)
        packet.write(appearance)
    }

    /// - Throws: `DoesNotFit`.
    /// Appends the connection intervals that the device would like.
    public mutating func append(_ range: ConnectionIntervalRange) throws(DoesNotFit) {
        try begin(.peripheralConnectionIntervalRange, dataByteCount: 4)
        packet.write(range.minimum)
        packet.write(range.maximum)
    }

    /// - Parameter company: a company identifier of the Assigned Numbers.
    /// - Throws: `DoesNotFit`.
    /// Appends a company's data: its own octets and four more.
    public mutating func append(manufacturerData data: [UInt8], company: UInt16) throws(DoesNotFit) {
        try begin(.manufacturerSpecificData, dataByteCount: 2 + data.count)
        packet.write(company)
        packet.write(bytes: data)
    }

    /// - Throws: `DoesNotFit`.
    /// Appends data of a service, behind the UUID in its own width.
    public mutating func append(serviceData data: [UInt8], uuid: BluetoothUUID) throws(DoesNotFit) {
        let type: AdvertisingDataType =
            switch uuid.width {
            case .bits16: .serviceData16
            case .bits32: .serviceData32
            case .bits128: .serviceData128
            }
        try begin(type, dataByteCount: Int(uuid.width.rawValue) + data.count)
        uuid.encode(into: &packet)
        packet.write(bytes: data)
    }

    /// Appends the 21 octets that carry a mask of hashed UUIDs (SPEC 3.1).
    ///
    /// - Parameter company: whose identifier stands before the mask; that of `OverflowArea.company` belongs to Apple.
    /// - Throws: `DoesNotFit`.
    public mutating func append(_ area: OverflowArea, company: UInt16) throws(DoesNotFit) {
        try append(manufacturerData: [OverflowArea.subtype] + area.mask, company: company)
    }

    private mutating func append(
        _ uuids: [BluetoothUUID], type: (BluetoothUUID.Width) -> AdvertisingDataType
    ) throws(DoesNotFit) {
        let widths: [BluetoothUUID.Width] = [.bits16, .bits32, .bits128]
        var needed = 0
        for width in widths {
            let octets = uuids.count { $0.width == width } * Int(width.rawValue)
            guard octets <= Self.maximumDataByteCount else {
                throw DoesNotFit(needed: octets + 2, remaining: remainingCount)
            }
            if octets > 0 { needed += 2 + octets }
        }
        guard needed <= remainingCount else { throw DoesNotFit(needed: needed, remaining: remainingCount) }
        for width in widths {
            let count = uuids.count { $0.width == width }
            guard count > 0 else { continue }
            try begin(type(width), dataByteCount: count * Int(width.rawValue))
            for uuid in uuids where uuid.width == width { uuid.encode(into: &packet) }
        }
    }

    private mutating func begin(_ type: AdvertisingDataType, dataByteCount: Int) throws(DoesNotFit) {
        guard dataByteCount <= Self.maximumDataByteCount, dataByteCount + 2 <= remainingCount else {
            throw DoesNotFit(needed: dataByteCount + 2, remaining: remainingCount)
        }
        packet.write(UInt8(truncatingIfNeeded: dataByteCount + 1))
        packet.write(type.rawValue)
    }
}
