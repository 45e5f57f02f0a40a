/// Elements of one length one after the other, at least one, and nothing after the last.
@usableFromInline struct ATTElementList: ~Escapable {
    @usableFromInline let elementLength: Int
    /// The elements that have not been read.
    @usableFromInline var bytes: RawSpan

    @inlinable @_lifetime(copy bytes)
    init(_ bytes: RawSpan, elementLength: Int) throws(DecodingError) {
        guard elementLength > 0 else { throw .invalidValue(0, field: .elementLength) }
        guard bytes.byteCount >= elementLength else {
            throw .truncated(needed: elementLength, remaining: bytes.byteCount)
        }
        guard bytes.byteCount % elementLength == 0 else { throw .trailingBytes(bytes.byteCount % elementLength) }
        self.elementLength = elementLength
        self.bytes = bytes
    }

    @inlinable var count: Int { bytes.byteCount / elementLength }

    @inlinable @_lifetime(copy self)
    mutating func next() -> RawSpan? {
        guard bytes.byteCount >= elementLength else { return nil }
        let element = bytes.extracting(first: elementLength)
        bytes = bytes.extracting(droppingFirst: elementLength)
        return element
    }
}

extension AttributeHandle {
    /// Reads a handle in an element.
    /// - Parameter offset: at least two octets before the end; anything else traps.
    @inlinable
    init(at offset: Int, of bytes: RawSpan) {
        // Any two octets are an integer.
        self.init(
            rawValue: unsafe UInt16(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }
}
