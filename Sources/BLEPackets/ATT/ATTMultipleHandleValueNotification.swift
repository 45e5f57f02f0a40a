/// Multiple Handle Value Notification: several values that changed (Core 5.4, Vol 3, Part F, 3.4.7.4).
public struct ATTMultipleHandleValueNotification: ATTProtocolDataUnit, ~Escapable {
    /// 0x23, from the server, only to clients that support it (Client Supported Features).
    public static var opcode: ATTOpcode { .multipleHandleValueNotification }

    /// A characteristic's value in the notification.
    public struct Element: ~Escapable {
        /// The handle of the characteristic's value.
        public let handle: AttributeHandle
        /// The octets that the length before them announces.
        public let value: RawSpan

        @inlinable @_lifetime(copy value)
        public init(handle: AttributeHandle, value: RawSpan) {
            self.handle = handle
            self.value = value
        }
    }

    @usableFromInline var rest: RawSpan

    /// - Throws: `DecodingError` for an empty list and for a value that is shorter than its length.
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        var reader = try parameters(of: pdu, Self.opcode)
        rest = reader.readRest()
        guard rest.byteCount > 0 else { throw .truncated(needed: 4, remaining: 0) }
        var walk = PacketReader(rest)
        while !walk.isAtEnd {
            _ = try walk.read(UInt16.self)
            let length = Int(try walk.read(UInt16.self))
            _ = try walk.readBytes(length)
        }
    }

    /// Reads the next value; `nil` after the last.
    @inlinable @_lifetime(copy self)
    public mutating func next() -> Element? {
        guard rest.byteCount >= 4 else { return nil }
        // In bounds: checked on the line above.
        let handle = unsafe UInt16(littleEndian: rest.unsafeLoadUnaligned(as: UInt16.self))
        let length = Int(unsafe UInt16(littleEndian: rest.unsafeLoadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        let behind = rest.extracting(droppingFirst: 4)
        let value = behind.extracting(first: min(length, behind.byteCount))
        rest = behind.extracting(droppingFirst: value.byteCount)
        return Element(handle: AttributeHandle(rawValue: handle), value: value)
    }

    /// Writes the values that have not been read.
    public func encode(into packet: inout PacketWriter) {
        Self.encodeHeader(into: &packet)
        packet.write(bytes: rest)
    }

    /// Begins a notification; its values follow with `encode(_:into:)`.
    public static func encodeHeader(into packet: inout PacketWriter) { packet.write(opcode.rawValue) }

    /// Adds a value of at most 65,535 octets with its handle and length. A notification carries two or more.
    public static func encode(_ element: Element, into packet: inout PacketWriter) {
        packet.write(element.handle.rawValue)
        packet.write(UInt16(truncatingIfNeeded: element.value.byteCount))
        packet.write(bytes: element.value)
    }
}
