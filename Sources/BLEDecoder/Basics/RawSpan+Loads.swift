extension RawSpan {
    /// Whether unknown octets are long enough for a pairing key, so that they must not be shown.
    var mayHoldKey: Bool { byteCount >= 16 }

    /// The octet at `offset`; zero beyond the end. Check `byteCount` first if that matters.
    @inline(__always)
    func octet(_ offset: Int) -> UInt8 {
        guard offset >= 0, offset < byteCount else { return 0 }
        return unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)  // in bounds: checked on the line above
    }

    /// A little-endian integer of `width` octets, at most eight; octets beyond the end count as zero.
    @inline(__always)
    func integer(_ offset: Int, width: Int) -> UInt64 {
        if width == 1 { return UInt64(octet(offset)) }
        if width == 2 { return UInt64(uint16(offset)) }
        if offset >= 0, offset <= byteCount &- 8 {
            let value = unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)  // in bounds: checked above
            return UInt64(littleEndian: value) & (UInt64.max >> UInt64(64 - min(max(width, 0), 8) * 8))
        }
        var value: UInt64 = 0
        var index = width - 1
        while index >= 0 {
            value = value << 8 | UInt64(octet(offset &+ index))
            index &-= 1
        }
        return value
    }

    /// Two octets, least significant first.
    @inline(__always)
    func uint16(_ offset: Int) -> UInt16 {
        guard offset >= 0, offset <= byteCount &- 2 else { return UInt16(octet(offset)) }
        let value = unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)  // in bounds: checked above
        return UInt16(littleEndian: value)
    }

    /// Four octets, least significant first; zero if they are not all there.
    @inline(__always)
    func uint32(_ offset: Int) -> UInt32 {
        guard offset >= 0, offset <= byteCount &- 4 else { return 0 }
        let value = unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)  // in bounds: checked above
        return UInt32(littleEndian: value)
    }

    /// At most `count` octets from `start`.
    @inline(__always) @_lifetime(copy self)
    func part(_ start: Int, _ count: Int) -> RawSpan {
        let from = min(max(start, 0), byteCount)
        return extracting(from..<(from + min(max(count, 0), byteCount - from)))
    }

    /// The octets from `start` to the end.
    @inline(__always) @_lifetime(copy self)
    func rest(_ start: Int) -> RawSpan { extracting(min(max(start, 0), byteCount)..<byteCount) }
}
