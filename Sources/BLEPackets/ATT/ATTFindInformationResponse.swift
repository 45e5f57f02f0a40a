/// Find Information Response: pairs of handle and type, all types of one width (Core 5.4, Vol 3, Part F, 3.4.3.2).
public struct ATTFindInformationResponse: ATTProtocolDataUnit, ~Escapable {
    /// 0x05, from the server; a change of the types' width ends the list; the client continues with another request.
    public static var opcode: ATTOpcode { .findInformationResponse }

    /// The format of the types in the list.
    public enum Format: UInt8, Sendable {
        /// Every type has 16 bits.
        case bits16 = 0x01
        /// Every type has 128 bits.
        case bits128 = 0x02

        /// Octets of one pair in the list, the two of its handle included.
        @inlinable public var elementLength: Int { self == .bits16 ? 4 : 18 }
    }

    /// One attribute of the server.
    public struct Element: Equatable, Sendable {
        /// Where the attribute is; handles rise from pair to pair.
        public var handle: AttributeHandle
        /// The attribute's type.
        public var type: BluetoothUUID

        @inlinable
        public init(handle: AttributeHandle, type: BluetoothUUID) {
            self.handle = handle
            self.type = type
        }
    }

    /// How wide the types of all pairs are.
    public let format: Format
    @usableFromInline var list: ATTElementList

    /// - Throws: `DecodingError` for an unknown format, an empty list and an incomplete last pair.
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        format = try reader.read(Format.self, field: .uuidFormat)
        list = try ATTElementList(reader.readRest(), elementLength: format.elementLength)
    }

    /// The number of pairs that have not been read.
    @inlinable public var count: Int { list.count }

    /// Reads the next pair; `nil` after the last.
    @inlinable
    public mutating func next() -> Element? {
        guard let bytes = list.next() else { return nil }
        var reader = PacketReader(bytes)
        guard let handle = try? reader.read(UInt16.self),
            let type = try? BluetoothUUID(decoding: &reader, width: format == .bits16 ? .bits16 : .bits128)
        else { return nil }
        return Element(handle: AttributeHandle(rawValue: handle), type: type)
    }

    /// Writes the pairs that have not been read.
    public func encode(into packet: inout PacketWriter) {
        Self.encodeHeader(format, into: &packet)
        packet.write(bytes: list.bytes)
    }

    /// Begins a response; its pairs follow with `encode(_:into:)`.
    public static func encodeHeader(_ format: Format, into packet: inout PacketWriter) {
        packet.write(opcode.rawValue)
        packet.write(format.rawValue)
    }

    /// Adds a pair; its type must be of the width that the header names.
    public static func encode(_ element: Element, into packet: inout PacketWriter) {
        packet.write(element.handle.rawValue)
        element.type.encode(into: &packet)
    }
}
