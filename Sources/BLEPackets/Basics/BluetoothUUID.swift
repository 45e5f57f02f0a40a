/// A UUID of 16, 32 or 128 bits (Core 5.4, Vol 3, Part B, 2.5.1; SPEC MOD-9).
///
/// Two UUIDs are equal if their 128-bit values are equal, regardless of their widths.
public struct BluetoothUUID: Sendable {
    /// The number of octets in a packet.
    public enum Width: UInt8, Sendable {
        /// A number that the Bluetooth SIG assigned, on the Bluetooth Base UUID.
        case bits16 = 2
        /// A number on the Bluetooth Base UUID that is too large for 16 bits. Advertising data has it; ATT does not.
        case bits32 = 4
        /// A full UUID, which anyone can generate.
        case bits128 = 16
    }

    /// The upper 64 of the expanded 128 bits, in textual order.
    public let high: UInt64
    /// The lower 64 of the expanded 128 bits, in textual order.
    public let low: UInt64
    /// How wide the UUID was written or read. It decides what `encode(into:)` writes, not whether two UUIDs are equal.
    public let width: Width

    /// `00000000-0000-1000-8000-00805F9B34FB`, the base of the short forms.
    @usableFromInline static let baseHigh: UInt64 = 0x0000_0000_0000_1000
    @usableFromInline static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB

    /// A UUID of 16 bits, such as 0x180D.
    @inlinable
    public init(_ short: UInt16) {
        high = UInt64(short) << 32 | Self.baseHigh
        low = Self.baseLow
        width = .bits16
    }

    /// A UUID of 32 bits. It keeps this width even if 16 bits are enough; see `shortened`.
    @inlinable
    public init(_ short: UInt32) {
        high = UInt64(short) << 32 | Self.baseHigh
        low = Self.baseLow
        width = .bits32
    }

    /// A UUID of 128 bits. It keeps this width also on the Bluetooth Base UUID; see `shortened`.
    /// - Parameters:
    ///   - high: the first 16 digits of its text.
    ///   - low: the last 16 digits of its text.
    @inlinable
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
        width = .bits128
    }

    @usableFromInline
    init(high: UInt64, low: UInt64, width: Width) {
        self.high = high
        self.low = low
        self.width = width
    }

    /// Reads a UUID of a known width, least significant octet first.
    /// - Throws: `DecodingError.truncated` when fewer octets remain than the width needs.
    @inlinable
    public init(decoding reader: inout PacketReader, width: Width) throws(DecodingError) {
        switch width {
        case .bits16: self.init(try reader.read(UInt16.self))
        case .bits32: self.init(try reader.read(UInt32.self))
        case .bits128:
            guard reader.remainingCount >= 16 else {
                throw .truncated(needed: 16, remaining: reader.remainingCount)
            }
            let low = try reader.read(UInt64.self)
            self.init(high: try reader.read(UInt64.self), low: low)
        }
    }

    /// Writes the octets, least significant first, in the UUID's own width.
    public func encode(into packet: inout PacketWriter) {
        switch width {
        case .bits16: packet.write(UInt16(truncatingIfNeeded: high >> 32))
        case .bits32: packet.write(UInt32(truncatingIfNeeded: high >> 32))
        case .bits128:
            packet.write(low)
            packet.write(high)
        }
    }

    /// Whether the value is derived from the Bluetooth Base UUID.
    @inlinable public var isOnBase: Bool { high & 0xFFFF_FFFF == Self.baseHigh && low == Self.baseLow }

    /// The 16-bit value, if the UUID has one.
    @inlinable public var shortValue: UInt16? {
        isOnBase && high >> 48 == 0 ? UInt16(truncatingIfNeeded: high >> 32) : nil
    }

    /// The same UUID with 16 bits if possible, otherwise with 128: ATT has only these forms.
    @inlinable public var shortened: BluetoothUUID {
        if let shortValue { return BluetoothUUID(shortValue) }
        return expanded
    }

    /// The same UUID in 128 bits.
    @inlinable public var expanded: BluetoothUUID { BluetoothUUID(high: high, low: low, width: .bits128) }

    /// The 16 octets in textual order.
    public var bytes: [UInt8] {
        (0..<16).map { index in
            let half = index < 8 ? high : low
            return UInt8(truncatingIfNeeded: half >> (8 * UInt64(7 - index % 8)))
        }
    }
}

extension BluetoothUUID: Hashable {
    @inlinable
    public static func == (a: Self, b: Self) -> Bool { a.high == b.high && a.low == b.low }

    @inlinable
    public func hash(into hasher: inout Hasher) {
        hasher.combine(high)
        hasher.combine(low)
    }
}

extension BluetoothUUID: CustomStringConvertible, LosslessStringConvertible {
    /// Parses 4, 8 or 36 characters, the short forms also with `0x`.
    public init?(_ text: String) {
        var digits = Array(text.utf8)
        let isPrefixed = digits.starts(with: "0x".utf8) || digits.starts(with: "0X".utf8)
        if isPrefixed, digits.count == 6 || digits.count == 10 {
            digits.removeFirst(2)
        }
        if digits.count == 36 {
            for index in [23, 18, 13, 8] {
                guard digits[index] == UInt8(ascii: "-") else { return nil }
                digits.remove(at: index)
            }
        } else if digits.count != 4 && digits.count != 8 {
            return nil
        }
        var high: UInt64 = 0
        var low: UInt64 = 0
        for character in digits {
            guard let digit = hexadecimalDigit(character) else { return nil }
            high = high << 4 | low >> 60
            low = low << 4 | UInt64(digit)
        }
        switch digits.count {
        case 4: self.init(UInt16(low))
        case 8: self.init(UInt32(low))
        default: self.init(high: high, low: low)
        }
    }

    /// The short form, such as `180D`, if there is one; otherwise upper case with dashes.
    public var description: String {
        if isOnBase {
            let digits = high >> 48 == 0 ? 4 : 8
            return Self.text(high >> 32, digits: digits)
        }
        return fullDescription
    }

    /// All 36 characters, upper case.
    public var fullDescription: String {
        let high = Self.text(high, digits: 16)
        let low = Self.text(low, digits: 16)
        let a = high.utf8
        let b = low.utf8
        var text: [UInt8] = []
        text.append(contentsOf: a.prefix(8))
        text.append(UInt8(ascii: "-"))
        text.append(contentsOf: a.dropFirst(8).prefix(4))
        text.append(UInt8(ascii: "-"))
        text.append(contentsOf: a.dropFirst(12))
        text.append(UInt8(ascii: "-"))
        text.append(contentsOf: b.prefix(4))
        text.append(UInt8(ascii: "-"))
        text.append(contentsOf: b.dropFirst(4))
        return String(decoding: text, as: UTF8.self)
    }

    private static func text(_ value: UInt64, digits: Int) -> String {
        let characters = (0..<digits).reversed().map { position in
            hexadecimalCharacter(UInt8(truncatingIfNeeded: value >> (4 * UInt64(position))) & 15)
        }
        return String(decoding: characters, as: UTF8.self)
    }
}
