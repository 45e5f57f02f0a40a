import BLEMessages

/// Messages that the types of this version cannot make, field by field.
enum RawMessage {
    static func field(_ number: UInt64, _ value: UInt64) -> [UInt8] { varint(number << 3) + varint(value) }

    static func field(_ number: UInt64, _ content: [UInt8]) -> [UInt8] {
        varint(number << 3 | 2) + varint(UInt64(content.count)) + content
    }

    /// A request of a tool.
    static func request(_ operation: UInt64, _ command: [UInt8]) -> [UInt8] {
        FrameReader.frame(field(2, field(1, operation) + command))
    }

    private static func varint(_ value: UInt64) -> [UInt8] {
        value > 0x7F ? [UInt8(truncatingIfNeeded: value) | 0x80] + varint(value >> 7) : [UInt8(value)]
    }
}
