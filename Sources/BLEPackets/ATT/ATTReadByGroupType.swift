/// Read By Group Type Request: values and ends of all groups of a type (Core 5.4, Vol 3, Part F, 3.4.4.9).
public struct ATTReadByGroupTypeRequest: ATTProtocolDataUnit, Equatable, Sendable {
    /// 0x10, from the client: how it finds all primary services.
    public static let opcode = ATTOpcode.readByGroupTypeRequest

    /// The range to search. A client continues after the last group until it gets Attribute Not Found.
    public var range: AttributeHandleRange
    /// Of 16 or 128 bits.
    public var groupType: BluetoothUUID

    @inlinable
    public init(range: AttributeHandleRange, groupType: BluetoothUUID) {
        self.range = range
        self.groupType = groupType
    }

    /// - Throws: `DecodingError` when the opcode is another one or the PDU has neither 7 nor 21 octets. Check the range
    ///   with `AttributeHandleRange.isValid`.
    @inlinable
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        range = try AttributeHandleRange(decoding: &reader)
        groupType = try attributeType(&reader)
    }

    /// Writes the type in its own width, one of 32 bits in 128.
    public func encode(into packet: inout PacketWriter) {
        packet.write(Self.opcode.rawValue)
        range.encode(into: &packet)
        (groupType.width == .bits32 ? groupType.expanded : groupType).encode(into: &packet)
    }
}

/// Read By Group Type Response: groups with values, all values of one length (Core 5.4, Vol 3, Part F, 3.4.4.10).
public struct ATTReadByGroupTypeResponse: ATTProtocolDataUnit, ~Escapable {
    /// 0x11, from the server; a change of the values' length ends the list; the client continues with another request.
    public static var opcode: ATTOpcode { .readByGroupTypeResponse }

    /// A group of attributes, such as a service with everything in it.
    public struct Element: ~Escapable {
        /// The attribute that opens the group, and the last attribute of the group.
        public let range: AttributeHandleRange
        /// The value of the grouping attribute, for a service its UUID; cut off at 251 octets, or MTU − 6 if that is
        /// less.
        public let value: RawSpan

        @inlinable @_lifetime(copy value)
        public init(range: AttributeHandleRange, value: RawSpan) {
            self.range = range
            self.value = value
        }
    }

    @usableFromInline var list: ATTElementList

    /// - Throws: `DecodingError` for a length below 4, an empty list and an incomplete last element (pain 16).
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        let length = try reader.read(UInt8.self)
        guard length >= 4 else { throw .invalidValue(UInt64(length), field: .elementLength) }
        list = try ATTElementList(reader.readRest(), elementLength: Int(length))
    }

    /// The length of each value in octets, without the two handles.
    @inlinable public var valueLength: Int { list.elementLength - 4 }
    /// The number of elements that have not been read.
    @inlinable public var count: Int { list.count }

    /// Reads the next element; `nil` after the last.
    @inlinable @_lifetime(copy self)
    public mutating func next() -> Element? {
        guard let bytes = list.next() else { return nil }
        // In bounds: no element is shorter than four octets.
        let first = unsafe UInt16(littleEndian: bytes.unsafeLoadUnaligned(as: UInt16.self))
        let last = unsafe UInt16(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 2, as: UInt16.self))
        let range = AttributeHandleRange(AttributeHandle(rawValue: first), AttributeHandle(rawValue: last))
        return Element(range: range, value: bytes.extracting(droppingFirst: 4))
    }

    /// Writes the elements that have not been read.
    public func encode(into packet: inout PacketWriter) {
        Self.encodeHeader(valueLength: valueLength, into: &packet)
        packet.write(bytes: list.bytes)
    }

    /// Begins a response; its elements follow with `encode(_:into:)`.
    /// - Parameter valueLength: octets of each value, at most 251.
    public static func encodeHeader(valueLength: Int, into packet: inout PacketWriter) {
        packet.write(opcode.rawValue)
        packet.write(UInt8(truncatingIfNeeded: valueLength &+ 4))
    }

    /// Adds an element; its value must be of the length that the header names.
    public static func encode(_ element: Element, into packet: inout PacketWriter) {
        element.range.encode(into: &packet)
        packet.write(bytes: element.value)
    }
}
