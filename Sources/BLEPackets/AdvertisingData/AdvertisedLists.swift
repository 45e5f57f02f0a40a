/// UUIDs of one width, decoded one after the other.
public struct AdvertisedUUIDList: ~Escapable {
    @usableFromInline var reader: PacketReader
    /// The width that every UUID of the list has.
    public let width: BluetoothUUID.Width

    /// Reads a list; an incomplete UUID at its end is only found when `next()` reaches it.
    @inlinable @_lifetime(copy octets)
    public init(_ octets: RawSpan, width: BluetoothUUID.Width) {
        reader = PacketReader(octets)
        self.width = width
    }

    /// The number of complete UUIDs that are left.
    @inlinable public var remainingCount: Int { reader.remainingCount / Int(width.rawValue) }

    /// Reads the next UUID; `nil` at the end.
    /// - Throws: `DecodingError.truncated` when the last UUID is cut off. After that the list is at its end.
    @inlinable
    public mutating func next() throws(DecodingError) -> BluetoothUUID? {
        guard !reader.isAtEnd else { return nil }
        let remaining = reader.remainingCount
        guard remaining >= Int(width.rawValue) else {
            _ = reader.readRest()
            throw .truncated(needed: Int(width.rawValue), remaining: remaining)
        }
        return try BluetoothUUID(decoding: &reader, width: width)
    }
}

/// Addresses of one type, decoded one after the other.
public struct AdvertisedAddressList: ~Escapable {
    @usableFromInline var reader: PacketReader
    /// Public or random, by the type of the structure.
    public let kind: DeviceAddress.Kind

    /// Reads a list of six octets each; an incomplete address at its end is only found when `next()` reaches it.
    @inlinable @_lifetime(copy octets)
    public init(_ octets: RawSpan, kind: DeviceAddress.Kind) {
        reader = PacketReader(octets)
        self.kind = kind
    }

    /// Reads the next address; `nil` at the end.
    /// - Throws: `DecodingError.truncated` when the last address is cut off. After that the list is at its end.
    @inlinable
    public mutating func next() throws(DecodingError) -> DeviceAddress? {
        guard !reader.isAtEnd else { return nil }
        let remaining = reader.remainingCount
        guard remaining >= 6 else {
            _ = reader.readRest()
            throw .truncated(needed: 6, remaining: remaining)
        }
        return try DeviceAddress(decoding: &reader, kind: kind)
    }
}
