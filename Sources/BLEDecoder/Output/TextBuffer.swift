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
        if count + more > capacity { grow(more) }
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
        count += 1
    }

    @inline(__always)
    mutating func append(_ text: StaticString) {
        unsafe append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @inline(__always)
    mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
        guard let start = text.baseAddress, !text.isEmpty else { return }
        reserve(text.count)
        unsafe (memory + count).update(from: start, count: text.count)
        count += text.count
    }

    /// Appends octets unchanged.
    mutating func append(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe append($0.assumingMemoryBound(to: UInt8.self)) }
    }

    @inline(__always)
    mutating func append(spaces: Int) {
        reserve(spaces)
        for _ in 0..<spaces {
            unsafe memory[count] = 0x20
            count += 1
        }
    }

    /// A decimal number.
    @inline(__always)
    mutating func append(decimal value: UInt64) {
        if value < 10 {
            append(UInt8(truncatingIfNeeded: value) + 0x30)
        } else {
            append(decimal: value, digits: Self.digitCount(value))
        }
    }

    /// A decimal number with zeros in front.
    @inline(__always)
    mutating func append(decimal value: UInt64, digits: Int) {
        reserve(digits)
        var rest = value
        var position = count + digits
        count = position
        for _ in 0..<digits {
            position -= 1
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            unsafe memory[position] = 0x30 + UInt8(truncatingIfNeeded: digit)
            rest = quotient
        }
    }

    mutating func append(signed value: Int64) {
        if value < 0 { append(0x2D) }
        append(decimal: value.magnitude)
    }

    /// Lower-case hexadecimal digits.
    @inline(__always)
    mutating func append(hexadecimal value: UInt64, digits: Int) {
        reserve(digits)
        var rest = value
        var position = count + digits
        count = position
        for _ in 0..<digits {
            position -= 1
            unsafe memory[position] = Self.digit(UInt8(truncatingIfNeeded: rest & 15))
            rest >>= 4
        }
    }

    /// Appends octets as lower-case hexadecimal digits without separators.
    mutating func append(hexadecimal bytes: RawSpan) {
        reserve(bytes.byteCount * 2)
        for index in 0..<bytes.byteCount {
            let octet = bytes.octet(index)
            unsafe memory[count] = Self.digit(octet >> 4)
            unsafe memory[count + 1] = Self.digit(octet & 15)
            count += 2
        }
    }

    /// `AA:BB:CC:DD:EE:FF`.
    mutating func append(address: UInt64) {
        var shift: UInt64 = 40
        while true {
            let octet = UInt8(truncatingIfNeeded: address >> shift)
            append(Self.upperDigit(octet >> 4))
            append(Self.upperDigit(octet & 15))
            if shift == 0 { return }
            append(UInt8(ascii: ":"))
            shift -= 8
        }
    }

    @inline(__always)
    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }

    @inline(__always)
    static func upperDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

    @inline(__always)
    private static func digitCount(_ value: UInt64) -> Int {
        var count = 1
        var rest = value / 10
        while rest > 0 {
            count += 1
            rest /= 10
        }
        return count
    }
}

// Only the buffer refers to its memory.
extension TextBuffer: @unchecked Sendable {}
