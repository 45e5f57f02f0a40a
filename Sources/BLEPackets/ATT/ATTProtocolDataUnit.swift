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

/// A PDU without parameters.
public protocol ATTPlainPDU: ATTProtocolDataUnit {
    init()
}

extension ATTPlainPDU {
    /// - Throws: `DecodingError` when the opcode is another one or octets follow it.
    @inlinable
    public init(_ pdu: RawSpan) throws(DecodingError) {
        let reader = try parameters(of: pdu, Self.opcode)
        try reader.expectEnd()
        self.init()
    }

    @inlinable public func encode(into packet: inout PacketWriter) { packet.write(Self.opcode.rawValue) }
}

/// A PDU with the handle of an attribute, and a value up to the end of the PDU.
public protocol ATTHandleAndValue: ATTProtocolDataUnit, ~Escapable {
    var handle: AttributeHandle { get }
    var value: RawSpan { @_lifetime(copy self) get }
    @_lifetime(copy value)
    init(handle: AttributeHandle, value: RawSpan)
}

extension ATTHandleAndValue where Self: ~Escapable {
    /// - Throws: `DecodingError` when the opcode is another one or the PDU is shorter than 3 octets.
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        let handle = AttributeHandle(rawValue: try reader.read())
        self.init(handle: handle, value: reader.readRest())
    }

    @inlinable
    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        packet.write(handle.rawValue)
        packet.write(bytes: value)
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
