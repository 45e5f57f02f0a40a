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

extension ATTReadMultipleRequest {
    /// Writes a request for `handles`, of which there must be at least two.
    public static func encode(_ handles: [AttributeHandle], into packet: inout PacketWriter) {
        packet.write(opcode.rawValue)
        for handle in handles { packet.write(handle.rawValue) }
    }
}

extension ATTReadMultipleVariableRequest {
    /// Writes a request for `handles`, of which there must be at least two.
    public static func encode(_ handles: [AttributeHandle], into packet: inout PacketWriter) {
        packet.write(opcode.rawValue)
        for handle in handles { packet.write(handle.rawValue) }
    }
}
