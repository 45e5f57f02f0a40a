/// Checks the form of advertising data (Core 5.4, Vol 3, Part C, 11; Core Specification Supplement, Part A).
enum AdvertisingDataCheck {
    /// A structure that exceeds the data or is too short for its type is malformed; zeros at the end are allowed.
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

    /// The minimum length of a structure of this type.
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
