/// Read By Type Request: the values of all attributes of a type in a range (Core 5.4, Vol 3, Part F, 3.4.4.1).
public struct ATTReadByTypeRequest: ATTProtocolDataUnit, Equatable, Sendable {
    /// 0x08, from the client: how it finds included services and characteristics, or reads a value by its UUID.
    public static let opcode = ATTOpcode.readByTypeRequest

    /// The range to search. A client continues after the last handle until it gets Attribute Not Found.
    public var range: AttributeHandleRange
    /// Of 16 or 128 bits.
    public var type: BluetoothUUID

    @inlinable
    public init(range: AttributeHandleRange, type: BluetoothUUID) {
        self.range = range
        self.type = type
    }

    /// - Throws: `DecodingError` when the opcode is another one or the PDU has neither 7 nor 21 octets. Check the range
    ///   with `AttributeHandleRange.isValid`.
    @inlinable
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        range = try AttributeHandleRange(decoding: &reader)
        type = try attributeType(&reader)
    }

    /// Writes the type in its own width, one of 32 bits in 128.
    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        range.encode(into: &packet)
        (type.width == .bits32 ? type.expanded : type).encode(into: &packet)
    }
}

/// Read By Type Response: handles with values, all values of one length (Core 5.4, Vol 3, Part F, 3.4.4.2).
public struct ATTReadByTypeResponse: ATTProtocolDataUnit, ~Escapable {
    /// 0x09, from the server; a change of the values' length ends the list; the client continues with another request.
    public static var opcode: ATTOpcode { .readByTypeResponse }

    /// An attribute of the requested type.
    public struct Element: ~Escapable {
        /// Where the attribute is; handles rise from element to element.
        public let handle: AttributeHandle
        /// The value, cut off at 253 octets, or MTU − 4 if that is less.
        public let value: RawSpan

        @inlinable @_lifetime(copy value)
        public init(handle: AttributeHandle, value: RawSpan) {
            self.handle = handle
            self.value = value
        }
    }

    @usableFromInline var list: ATTElementList

    /// - Throws: `DecodingError` for a length below 2, an empty list and an incomplete last element (pain 16).
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        let length = try reader.read(UInt8.self)
        guard length >= 2 else { throw .invalidValue(UInt64(length), field: .elementLength) }
        list = try ATTElementList(reader.readRest(), elementLength: Int(length))
    }

    /// The length of each value in octets, without the handle.
    @inlinable public var valueLength: Int { list.elementLength - 2 }
    /// The number of elements that have not been read.
    @inlinable public var count: Int { list.count }

    /// Reads the next element; `nil` after the last.
    @inlinable @_lifetime(copy self)
    public mutating func next() -> Element? {
        guard let bytes = list.next() else { return nil }
        // In bounds: no element is shorter than two octets.
        let handle = unsafe UInt16(littleEndian: bytes.unsafeLoadUnaligned(as: UInt16.self))
        return Element(handle: AttributeHandle(rawValue: handle), value: bytes.extracting(droppingFirst: 2))
    }

    /// Writes the elements that have not been read.
    public func encode(into packet: inout PacketWriter) {
        Self.encodeHeader(valueLength: valueLength, into: &packet)
        packet.write(bytes: list.bytes)
    }

    /// Begins a response; its elements follow with `encode(_:into:)`.
    /// - Parameter valueLength: octets of each value, at most 253.
    public static func encodeHeader(valueLength: Int, into packet: inout PacketWriter) {
        packet.write(opcode.rawValue)
        packet.write(UInt8(truncatingIfNeeded: valueLength &+ 2))
    }

    /// Adds an element; its value must be of the length that the header names.
    public static func encode(_ element: Element, into packet: inout PacketWriter) {
        packet.write(element.handle.rawValue)
        packet.write(bytes: element.value)
    }
}
