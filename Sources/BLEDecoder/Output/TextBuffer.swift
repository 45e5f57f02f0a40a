/// A buffer for output, whose memory is reused.
///
/// An array would check its uniqueness at each of the many short appends; this buffer grows when needed and never
/// shrinks.
@safe
struct TextBuffer: ~Copyable {
    private var memory: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int = 64 << 10) {
        self.capacity = capacity
        unsafe memory = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    }

    deinit { unsafe memory.deallocate() }

    var bytes: RawSpan {
        @_lifetime(borrow self)
        get {
            let span = unsafe RawSpan(_unsafeStart: memory, byteCount: count)
            return unsafe _overrideLifetime(span, borrowing: self)
        }
    }

    /// Keeps only the first `count` octets.
    mutating func truncate(to count: Int) { self.count = min(self.count, max(count, 0)) }

    @inline(__always)
    private mutating func reserve(_ more: Int) {
        // `count` is never above `capacity`: the difference cannot overflow, nor can a sum below it.
        if more > capacity &- count { grow(more) }
    }

    @inline(never)
    private mutating func grow(_ more: Int) {
        let larger = max(capacity * 2, count + more)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
        unsafe moved.update(from: memory, count: count)
        unsafe memory.deallocate()
        unsafe memory = moved
        capacity = larger
    }

    @inline(__always)
    mutating func append(_ octet: UInt8) {
        reserve(1)
        unsafe memory[count] = octet
        count &+= 1
    }

    @inline(__always)
    mutating func append(_ text: StaticString) {
        unsafe append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @inline(__always)
    mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
        guard let start = text.baseAddress, !text.isEmpty else { return }
        reserve(text.count)
        // Nobody appends what is in the buffer itself, so the two do not overlap.
        unsafe (memory + count).initialize(from: start, count: text.count)
        count &+= text.count
    }

    /// Appends octets unchanged.
    mutating func append(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe append($0.assumingMemoryBound(to: UInt8.self)) }
    }

    @inline(__always)
    mutating func append(spaces: Int) {
        reserve(max(spaces, 8))
        store(0x2020_2020_2020_2020 as UInt64, at: count)
        var written = 8
        while written < spaces {
            unsafe memory[count &+ written] = 0x20
            written &+= 1
        }
        count &+= spaces
    }

    /// A decimal number.
    @inline(__always)
    mutating func append(decimal value: UInt64) {
        if value < 10 {
            append(UInt8(truncatingIfNeeded: value) + 0x30)
        } else {
            appendLong(value)
        }
    }

    /// A number above zero.
    @inline(never)
    private mutating func appendLong(_ value: UInt64) {
        if value < DecimalDigits.limit {
            let values = DecimalDigits.values(value)
            append(characters: DecimalDigits.characters(values), count: 8 &- values.trailingZeroBitCount / 8)
        } else {
            let upper = value / DecimalDigits.limit
            appendLong(upper)
            append(decimal: value &- upper &* DecimalDigits.limit, digits: 8)
        }
    }

    /// The last digits of a decimal number, at most eight, with zeros in front.
    @inline(__always)
    mutating func append(decimal value: UInt64, digits: Int) {
        append(characters: DecimalDigits.characters(DecimalDigits.values(value % DecimalDigits.limit)), count: digits)
    }

    mutating func append(signed value: Int64) {
        if value < 0 { append(0x2D) }
        append(decimal: value.magnitude)
    }

    /// Lower-case hexadecimal digits, at most sixteen.
    @inline(__always)
    mutating func append(hexadecimal value: UInt64, digits: Int) {
        if digits <= 8 {
            append(characters: HexadecimalDigits.lower(UInt32(truncatingIfNeeded: value)), count: digits)
        } else {
            append(characters: HexadecimalDigits.lower(UInt32(truncatingIfNeeded: value >> 32)), count: digits - 8)
            append(characters: HexadecimalDigits.lower(UInt32(truncatingIfNeeded: value)), count: 8)
        }
    }

    /// Upper-case hexadecimal digits, at most eight.
    @inline(__always)
    mutating func append(upperHexadecimal value: UInt64, digits: Int) {
        append(characters: HexadecimalDigits.upper(UInt32(truncatingIfNeeded: value)), count: digits)
    }

    /// Appends octets as lower-case hexadecimal digits without separators.
    mutating func append(hexadecimal bytes: RawSpan) {
        let end = bytes.byteCount
        reserve(end * 2 + 8)
        var index = 0
        while index &+ 4 <= end {
            let value = UInt32(bigEndian: bytes.uint32(index))
            store(HexadecimalDigits.lower(value), at: count &+ index &* 2)
            index &+= 4
        }
        while index < end {
            let digits = HexadecimalDigits.lower(UInt32(bytes.octet(index))) >> 48
            store(UInt16(truncatingIfNeeded: digits), at: count &+ index &* 2)
            index += 1
        }
        count &+= end * 2
    }

    /// `AA:BB:CC:DD:EE:FF`.
    mutating func append(address: UInt64) {
        reserve(18)
        let first = HexadecimalDigits.upper(UInt32(truncatingIfNeeded: address >> 16))
        let last = HexadecimalDigits.upper(UInt32(truncatingIfNeeded: address)) >> 32
        for place in 0..<4 {
            let pair = UInt32(truncatingIfNeeded: first >> UInt64(place * 16)) & 0xFFFF
            store(pair | UInt32(UInt8(ascii: ":")) << 16, at: count &+ place &* 3)
        }
        store(UInt32(truncatingIfNeeded: last) & 0xFFFF | UInt32(UInt8(ascii: ":")) << 16, at: count &+ 12)
        store(UInt16(truncatingIfNeeded: last >> 16), at: count &+ 15)
        count &+= 17
    }

    /// Appends the last of eight characters, the first of which is lowest.
    @inline(__always)
    mutating func append(characters: UInt64, count added: Int = 8) {
        reserve(8)
        store(characters >> UInt64((8 - added) * 8), at: count)
        count &+= added
    }

    /// Stores characters, the first lowest; there must be room for all of them.
    @inline(__always)
    private func store<Characters: FixedWidthInteger & BitwiseCopyable>(_ characters: Characters, at place: Int) {
        // In bounds: the callers have reserved the octets.
        unsafe UnsafeMutableRawPointer(memory).storeBytes(
            of: characters.littleEndian, toByteOffset: place, as: Characters.self)
    }
}

// Only the buffer refers to its memory.
extension TextBuffer: @unchecked Sendable {}
