/// A Bluetooth device address together with its type: the two never part (Core 5.4, Vol 6, Part B, 1.3).
public struct DeviceAddress: Hashable, Sendable {
    /// How the address is to be read, as HCI encodes it.
    public enum Kind: UInt8, Sendable {
        /// Given by the maker, from a block that the IEEE assigned; never changes.
        case `public` = 0x00
        /// Made by the device; `randomKind` tells which kind it is.
        case random = 0x01
        /// A public identity that the controller found behind a resolvable private address.
        case publicIdentity = 0x02
        /// A random static identity that the controller found behind a resolvable private address.
        case randomIdentity = 0x03
    }

    /// What the two most significant bits of a random address say (Core 5.4, Vol 6, Part B, 1.3.2).
    public enum RandomKind: Sendable { case `static`, resolvablePrivate, nonResolvablePrivate, reserved }

    /// The 48 bits, most significant byte first as printed: `0x0000_AABB_CCDD_EEFF`.
    public let value: UInt64
    /// What the address is; the same 48 bits of another kind are another address.
    public let kind: Kind

    /// - Parameter value: 48 bits; what lies above them is dropped.
    @inlinable
    public init(value: UInt64, kind: Kind) {
        self.value = value & 0xFFFF_FFFF_FFFF
        self.kind = kind
    }

    /// Six octets as they stand in a packet, least significant first, and the type that stands beside them.
    /// - Throws: `DecodingError.truncated` when fewer than six octets remain.
    @inlinable
    public init(decoding reader: inout PacketReader, kind: Kind) throws(DecodingError) {
        let low = try reader.read(UInt32.self)
        let high = try reader.read(UInt16.self)
        self.init(value: UInt64(low) | UInt64(high) << 32, kind: kind)
    }

    /// Writes the six octets, least significant first, without the type.
    public func encodeOctets(into packet: inout PacketWriter) {
        packet.write(UInt32(truncatingIfNeeded: value))
        packet.write(UInt16(truncatingIfNeeded: value >> 32))
    }

    /// The six octets, least significant first.
    public var octets: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) } }

    /// Whether the 48 bits are a random address, be it as sent or as an identity.
    @inlinable public var isRandom: Bool { kind == .random || kind == .randomIdentity }

    /// `nil` for a public address.
    public var randomKind: RandomKind? {
        guard isRandom else { return nil }
        switch value >> 46 {
        case 0b11: return .static
        case 0b01: return .resolvablePrivate
        case 0b00: return .nonResolvablePrivate
        default: return .reserved
        }
    }

    /// The same address as an identity is named in advertising and initiating: public or random.
    public var withoutIdentityMark: DeviceAddress {
        DeviceAddress(value: value, kind: isRandom ? .random : .public)
    }
}

extension DeviceAddress: CustomStringConvertible, LosslessStringConvertible {
    /// Parses `AA:BB:CC:DD:EE:FF` (public), `AA:BB:CC:DD:EE:FF/public` and `AA:BB:CC:DD:EE:FF/random`.
    public init?(_ text: String) {
        let utf8 = Array(text.utf8)
        guard utf8.count >= 17 else { return nil }
        var value: UInt64 = 0
        for index in 0..<17 {
            if index % 3 == 2 {
                guard utf8[index] == UInt8(ascii: ":") else { return nil }
            } else {
                guard let digit = hexadecimalDigit(utf8[index]) else { return nil }
                value = value << 4 | UInt64(digit)
            }
        }
        let suffix = utf8[17...]
        if suffix.isEmpty || suffix.elementsEqual("/public".utf8) {
            self.init(value: value, kind: .public)
        } else if suffix.elementsEqual("/random".utf8) {
            self.init(value: value, kind: .random)
        } else {
            return nil
        }
    }

    /// The address alone, `AA:BB:CC:DD:EE:FF`.
    public var addressText: String {
        var text: [UInt8] = []
        text.reserveCapacity(17)
        for index in (0..<6).reversed() {
            let octet = UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))
            text.append(hexadecimalCharacter(octet >> 4))
            text.append(hexadecimalCharacter(octet & 15))
            if index > 0 { text.append(UInt8(ascii: ":")) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// `public` or `random`.
    public var kindText: String { isRandom ? "random" : "public" }

    /// `AA:BB:CC:DD:EE:FF/random`.
    public var description: String { addressText + "/" + kindText }
}

/// The value of an ASCII hexadecimal digit.
func hexadecimalDigit(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    default: nil
    }
}

/// The upper-case ASCII digit of a value below 16.
func hexadecimalCharacter(_ digit: UInt8) -> UInt8 {
    digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
}
