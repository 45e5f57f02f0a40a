/// Handles one after the other, at least two (Core 5.4, Vol 3, Part F, 3.4.4.7).
public struct ATTHandleList: ~Escapable {
    @usableFromInline var list: ATTElementList

    @inlinable @_lifetime(copy bytes)
    init(_ bytes: RawSpan) throws(DecodingError) {
        guard bytes.byteCount >= 4 else { throw .truncated(needed: 4, remaining: bytes.byteCount) }
        list = try ATTElementList(bytes, elementLength: 2)
    }

    /// The number of handles that have not been read.
    @inlinable public var count: Int { list.count }

    /// Reads the next handle; `nil` after the last.
    @inlinable
    public mutating func next() -> AttributeHandle? {
        guard let bytes = list.next() else { return nil }
        var reader = PacketReader(bytes)
        guard let handle = try? reader.read(UInt16.self) else { return nil }
        return AttributeHandle(rawValue: handle)
    }
}

/// Read Multiple Request: values of known lengths, run together (Core 5.4, Vol 3, Part F, 3.4.4.7).
public struct ATTReadMultipleRequest: ATTProtocolDataUnit, ~Escapable {
    /// 0x0E, from the client, which must know the length of every value but the last.
    public static var opcode: ATTOpcode { .readMultipleRequest }

    /// The attributes to read, in the order of their values. `encode(into:)` writes only the handles that have not been
    /// read.
    public var handles: ATTHandleList

    /// - Throws: `DecodingError` for fewer than two handles and for an incomplete one.
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        handles = try ATTHandleList(reader.readRest())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        packet.write(bytes: handles.list.bytes)
    }

    /// Writes a request for `handles`, of which there must be at least two.
    public static func encode(_ handles: [AttributeHandle], into packet: inout PacketWriter) {
        packet.write(opcode.rawValue)
        for handle in handles { packet.write(handle.rawValue) }
    }
}

/// Read Multiple Response: the values without their lengths (Core 5.4, Vol 3, Part F, 3.4.4.8).
public struct ATTReadMultipleResponse: ATTProtocolDataUnit, ~Escapable {
    /// 0x0F, from the server. One value that cannot be read makes it an Error Response for all.
    public static var opcode: ATTOpcode { .readMultipleResponse }

    /// All values one after the other, cut off at MTU − 1 octets, without their lengths.
    public let values: RawSpan

    @inlinable @_lifetime(copy values)
    public init(values: RawSpan) { self.values = values }

    /// - Throws: `DecodingError` when the opcode is another one.
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        values = reader.readRest()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        packet.write(bytes: values)
    }
}

/// Read Multiple Variable Request: values of any length (Core 5.4, Vol 3, Part F, 3.4.4.11).
public struct ATTReadMultipleVariableRequest: ATTProtocolDataUnit, ~Escapable {
    /// 0x20, from the client.
    public static var opcode: ATTOpcode { .readMultipleVariableRequest }

    /// The attributes to read, in the order of their values. `encode(into:)` writes only the handles that have not been
    /// read.
    public var handles: ATTHandleList

    /// - Throws: `DecodingError` for fewer than two handles and for an incomplete one.
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        handles = try ATTHandleList(reader.readRest())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        packet.write(bytes: handles.list.bytes)
    }

    /// Writes a request for `handles`, of which there must be at least two.
    public static func encode(_ handles: [AttributeHandle], into packet: inout PacketWriter) {
        packet.write(opcode.rawValue)
        for handle in handles { packet.write(handle.rawValue) }
    }
}

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
