extension DeviceAddress {
    /// Reads an address type and an address, as in most HCI packets.
    /// - Throws: `DecodingError.invalidValue` when the type is not valid for a device address.
    @inlinable
    public init(decodingWithKind reader: inout PacketReader) throws(DecodingError) {
        let kind = try reader.read(Kind.self, field: .addressType)
        try self.init(decoding: &reader, kind: kind)
    }

    /// Reads the type and the address in a PDU of SMP, which is public or static random.
    init(decodingIdentity reader: inout PacketReader) throws(DecodingError) {
        let kind = try reader.read(Kind.self, field: .addressType)
        guard kind.rawValue <= 1 else { throw .invalidValue(UInt64(kind.rawValue), field: .addressType) }
        try self.init(decoding: &reader, kind: kind)
    }

    /// Reads an address type and an address. If `status` is an error, an undefined type counts as public, because the
    /// address is meaningless.
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

    /// Writes the type and the address as SMP has them.
    func encodeIdentity(into packet: inout PacketWriter) {
        packet.write(boolean: isRandom)
        encodeOctets(into: &packet)
    }

    /// Reads six octets of a random address; `nil` if all are zero, which means none.
    static func random(decodingUnlessZero reader: inout PacketReader) throws(DecodingError) -> DeviceAddress? {
        let address = try DeviceAddress(decoding: &reader, kind: .random)
        return address.value == 0 ? nil : address
    }

    /// All 48 bits zero: no device.
    @usableFromInline static let zero = DeviceAddress(value: 0, kind: .public)
}
