/// A PDU of the Attribute Protocol (Core 5.4, Vol 3, Part F, 3.4).
///
/// Every such type has `init(_ pdu: RawSpan) throws(DecodingError)`, which decodes the whole PDU with its opcode;
/// `encode(into:)` writes the same bytes. Types with a value borrow it from the packet without copying.
public protocol ATTProtocolDataUnit: ~Escapable {
    /// The first octet of every PDU of this type; decoding anything else throws `DecodingError.invalidValue`.
    static var opcode: ATTOpcode { get }

    /// Writes the whole PDU, opcode first.
    func encode(into packet: inout PacketWriter)
}

extension ATTProtocolDataUnit where Self: ~Escapable {
    /// A copy of the whole PDU.
    @inlinable
    public func encoded() -> [UInt8] {
        var packet = PacketWriter(reservingCapacity: 32)
        encode(into: &packet)
        return packet.bytes
    }
}

/// A reader after the opcode of `pdu`.
@inlinable @_lifetime(copy pdu)
func parameters(of pdu: RawSpan, _ opcode: ATTOpcode) throws(DecodingError) -> PacketReader {
    var reader = PacketReader(pdu)
    let found = try reader.read(UInt8.self)
    guard found == opcode.rawValue else { throw .invalidValue(UInt64(found), field: .attOpcode) }
    return reader
}

/// An attribute type of 16 or 128 bits at the end of a PDU (Core 5.4, Vol 3, Part F, 3.2.1).
@inlinable
func attributeType(_ reader: inout PacketReader) throws(DecodingError) -> BluetoothUUID {
    switch reader.remainingCount {
    case 0, 1: throw .truncated(needed: 2, remaining: reader.remainingCount)
    case 2: return try BluetoothUUID(decoding: &reader, width: .bits16)
    case 16: return try BluetoothUUID(decoding: &reader, width: .bits128)
    default: throw .invalidValue(UInt64(reader.remainingCount), field: .uuidFormat)
    }
}
