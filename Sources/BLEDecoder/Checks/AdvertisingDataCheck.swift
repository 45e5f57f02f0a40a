/// Whether advertising data keeps to its form (Core 5.4, Vol 3, Part C, 11; Core Specification Supplement, Part A).
enum AdvertisingDataCheck {
    /// A structure that runs past the end, or is too short for its type, breaks the form; zeros at the end do not.
    static func isWellFormed(_ data: RawSpan) -> Bool {
        var position = 0
        while position < data.byteCount {
            let length = Int(data.octet(position))
            if length == 0 { return true }
            guard position + 1 + length <= data.byteCount else { return false }
            guard length - 1 >= leastByteCount(of: data.octet(position + 1)) else { return false }
            position += 1 + length
        }
        return true
    }

    /// How many octets a structure of the type needs at least.
    @inline(__always)
    static func leastByteCount(of type: UInt8) -> Int {
        switch type {
        case 0x01, 0x0A, 0x11, 0x1C: 1
        case 0x16, 0x19, 0x1A, 0xFF: 2
        case 0x0D: 3
        case 0x12, 0x20: 4
        case 0x1B: 7
        case 0x10: 8
        case 0x0E, 0x0F, 0x1D, 0x1E, 0x21, 0x22, 0x23: 16
        default: 0
        }
    }
}
