extension DeviceAddress {
    /// Reads the octet of the type and the six of the address, as most HCI packets hold them.
    /// - Throws: `DecodingError.invalidValue` when the type is none that a device address can have.
    @inlinable
    public init(decodingWithKind reader: inout PacketReader) throws(DecodingError) {
        let octet = try reader.read(UInt8.self)
        guard let kind = Kind(rawValue: octet) else { throw .invalidValue(UInt64(octet), field: .addressType) }
        try self.init(decoding: &reader, kind: kind)
    }

    /// Reads a type and an address as far as they have meaning: where `status` is a failure, a type without meaning
    /// is taken as public, as the address then names nobody.
    init(decodingWithKind reader: inout PacketReader, status: HCIStatus) throws(DecodingError) {
        let octet = try reader.read(UInt8.self)
        guard let kind = Kind(rawValue: octet) ?? (status.isSuccess ? nil : .public) else {
            throw .invalidValue(UInt64(octet), field: .addressType)
        }
        try self.init(decoding: &reader, kind: kind)
    }

    /// Writes the octet of the type and the six of the address.
    public func encodeWithKind(into packet: inout PacketWriter) {
        packet.write(kind.rawValue)
        encodeOctets(into: &packet)
    }

    /// Reads six octets of a random address; `nil` where all are zero, which stands for none.
    static func random(decodingUnlessZero reader: inout PacketReader) throws(DecodingError) -> DeviceAddress? {
        let address = try DeviceAddress(decoding: &reader, kind: .random)
        return address.value == 0 ? nil : address
    }

    /// All 48 bits zero: names nobody.
    @usableFromInline static let nobody = DeviceAddress(value: 0, kind: .public)
}
