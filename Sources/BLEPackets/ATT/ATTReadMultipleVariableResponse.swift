/// Read Multiple Variable Response: values, each after its length (Core 5.4, Vol 3, Part F, 3.4.4.12).
///
/// If the PDU is full, the server cuts the last value off and states its full length.
public struct ATTReadMultipleVariableResponse: ATTProtocolDataUnit, ~Escapable {
    /// 0x21, from the server. One value that cannot be read makes it an Error Response for all.
    public static var opcode: ATTOpcode { .readMultipleVariableResponse }

    /// A value with its length, in the place of its handle in the request.
    public struct Element: ~Escapable {
        /// The full length of the value; more than that of `value` if the PDU is full.
        public let length: Int
        /// The value; complete unless it is the last one and the PDU is full.
        public let value: RawSpan

        @inlinable @_lifetime(copy value)
        init(length: Int, value: RawSpan) {
            self.length = length
            self.value = value
        }
    }

    @usableFromInline var rest: RawSpan

    /// - Throws: `DecodingError` for an empty list and for half a length at its end.
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        rest = reader.readRest()
        guard rest.byteCount > 0 else { throw .truncated(needed: 2, remaining: 0) }
        var walk = PacketReader(rest)
        while !walk.isAtEnd {
            let length = Int(try walk.read(UInt16.self))
            _ = try walk.readBytes(min(length, walk.remainingCount))
        }
    }

    /// Reads the next value; `nil` after the last.
    @inlinable @_lifetime(copy self)
    public mutating func next() -> Element? {
        guard rest.byteCount >= 2 else { return nil }
        // In bounds: checked on the line above.
        let length = Int(unsafe UInt16(littleEndian: rest.unsafeLoadUnaligned(as: UInt16.self)))
        let behind = rest.extracting(droppingFirst: 2)
        let value = behind.extracting(first: min(length, behind.byteCount))
        rest = behind.extracting(droppingFirst: value.byteCount)
        return Element(length: length, value: value)
    }

    /// Writes the values that have not been read.
    public func encode(into packet: inout PacketWriter) {
        Self.encodeHeader(into: &packet)
        packet.write(bytes: rest)
    }

    /// Begins a response; its values follow with `encodeElement(_:into:)`.
    public static func encodeHeader(into packet: inout PacketWriter) { packet.write(opcode.rawValue) }

    /// Adds a value of at most 65,535 octets with its length.
    public static func encodeElement(_ value: RawSpan, into packet: inout PacketWriter) {
        packet.write(UInt16(truncatingIfNeeded: value.byteCount))
        packet.write(bytes: value)
    }
}
