/// Reads little-endian fields from the front of a packet and never past its end.
///
/// The reader borrows the bytes: nothing is copied until a caller asks for an array.
public struct PacketReader: ~Escapable {
    @usableFromInline var rest: RawSpan

    /// - Parameter bytes: the fields to read, often the rest of a packet; they must outlive the reader.
    @inlinable @_lifetime(copy bytes)
    public init(_ bytes: RawSpan) { rest = bytes }

    /// Whether all bytes have been read.
    @inlinable public var isAtEnd: Bool { rest.byteCount == 0 }
    /// The number of bytes that have not been read.
    @inlinable public var remainingCount: Int { rest.byteCount }

    /// Reads an integer, least significant byte first.
    /// - Throws: `DecodingError.truncated` when fewer bytes remain than the field needs.
    @inlinable
    public mutating func read<Value: FixedWidthInteger & BitwiseCopyable>(
        _ type: Value.Type = Value.self
    ) throws(DecodingError) -> Value {
        let width = MemoryLayout<Value>.size
        guard rest.byteCount >= width else { throw .truncated(needed: width, remaining: rest.byteCount) }
        let value = unsafe rest.unsafeLoadUnaligned(as: Value.self)  // in bounds: checked on the line above
        rest = rest.extracting(droppingFirst: width)
        return Value(littleEndian: value)
    }

    /// Reads an octet that must be one of the values of a type.
    /// - Throws: `DecodingError.invalidValue` with the field for another octet.
    @inlinable
    public mutating func read<Value: RawRepresentable<UInt8>>(
        _ type: Value.Type, field: DecodingError.Field
    ) throws(DecodingError) -> Value {
        let octet = try read(UInt8.self)
        guard let value = Value(rawValue: octet) else { throw .invalidValue(UInt64(octet), field: field) }
        return value
    }

    /// Reads three bytes as an unsigned integer, least significant byte first.
    /// - Throws: `DecodingError.truncated` when fewer than three bytes remain; then no byte is consumed.
    @inlinable
    public mutating func readUInt24() throws(DecodingError) -> UInt32 {
        guard rest.byteCount >= 3 else { throw .truncated(needed: 3, remaining: rest.byteCount) }
        let low = try read(UInt16.self)
        return UInt32(low) | UInt32(try read(UInt8.self)) << 16
    }

    /// Reads the next `count` bytes without copying them.
    /// - Throws: `DecodingError.truncated` when fewer bytes remain, and for a negative count; then no byte is consumed.
    @inlinable @_lifetime(copy self)
    public mutating func readBytes(_ count: Int) throws(DecodingError) -> RawSpan {
        guard count >= 0, rest.byteCount >= count else { throw .truncated(needed: count, remaining: rest.byteCount) }
        let bytes = rest.extracting(first: count)
        rest = rest.extracting(droppingFirst: count)
        return bytes
    }

    /// Reads all bytes but the last `count` without copying them.
    /// - Throws: `DecodingError.truncated` when fewer than `count` bytes remain.
    @inlinable @_lifetime(copy self)
    mutating func readBytes(before count: Int) throws(DecodingError) -> RawSpan {
        guard rest.byteCount >= count else { throw .truncated(needed: count, remaining: rest.byteCount) }
        return try readBytes(rest.byteCount - count)
    }

    /// Reads all remaining bytes without copying them.
    @inlinable @_lifetime(copy self)
    public mutating func readRest() -> RawSpan {
        let bytes = rest
        rest = rest.extracting(first: 0)
        return bytes
    }

    /// - Throws: `DecodingError.trailingBytes` when bytes are left.
    @inlinable
    public func expectEnd() throws(DecodingError) {
        guard isAtEnd else { throw .trailingBytes(remainingCount) }
    }
}

extension RawSpan {
    /// A copy of the bytes that may outlive the packet.
    @inlinable
    public func copied() -> [UInt8] {
        unsafe withUnsafeBytes { unsafe [UInt8]($0) }
    }

    /// The byte at `offset`; `nil` past the end.
    @inlinable
    public func byte(at offset: Int) -> UInt8? {
        guard offset >= 0, offset < byteCount else { return nil }
        return unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)  // in bounds: checked on the line above
    }
}
