import BLEAssignedNumbers

/// The UUID of an attribute, in short form if it is based on the Bluetooth Base UUID.
struct AttributeType: Equatable {
    var high: UInt64 = 0
    var low: UInt64 = 0
    var isShort = true

    static let primaryService = AttributeType(0x2800)
    static let secondaryService = AttributeType(0x2801)
    static let include = AttributeType(0x2802)
    static let characteristic = AttributeType(0x2803)

    init(_ short: UInt16) { high = UInt64(short) }

    /// Two, four or sixteen octets, least significant first.
    init(_ bytes: RawSpan) {
        guard bytes.byteCount == 16 else {
            high = bytes.integer(0, width: min(bytes.byteCount, 4))
            return
        }
        low = bytes.integer(0, width: 8)
        high = bytes.integer(8, width: 8)
        isShort = false
        if low == 0x8000_0080_5F9B_34FB, high & 0xFFFF_FFFF == 0x1000 {
            high >>= 32
            low = 0
            isShort = true
        }
    }

    var short: UInt16? { isShort && high <= 0xFFFF ? UInt16(truncatingIfNeeded: high) : nil }

    /// Searches the tables: `RecentNames` remembers what was found.
    var name: AssignedName? {
        if let short { return AssignedNumbers.uuid(short) }
        return isShort ? nil : AssignedNumbers.uuid(high: high, low: low)
    }

    /// `180D`, or upper case with dashes.
    func write(into buffer: inout TextBuffer) {
        if isShort { return buffer.append(upperHexadecimal: high, digits: high > 0xFFFF ? 8 : 4) }
        buffer.append(upperHexadecimal: high >> 32, digits: 8)
        buffer.append(UInt8(ascii: "-"))
        buffer.append(upperHexadecimal: high >> 16, digits: 4)
        buffer.append(UInt8(ascii: "-"))
        buffer.append(upperHexadecimal: high, digits: 4)
        buffer.append(UInt8(ascii: "-"))
        buffer.append(upperHexadecimal: low >> 48, digits: 4)
        buffer.append(UInt8(ascii: "-"))
        buffer.append(upperHexadecimal: low >> 32, digits: 4)
        buffer.append(upperHexadecimal: low, digits: 8)
    }
}
