/// The mask of hashed service UUIDs that an iOS device advertises when there is no room for the UUIDs (SPEC 3.1).
///
/// A Bloom filter with one hash: each UUID sets exactly one of 128 bits, and the masks of several apps are joined. So a
/// match is a guess: for each UUID of a scan, the probability of a false match is `falseMatchProbability`.
public struct OverflowArea: Hashable, Sendable {
    /// Bits of the mask.
    public static let bitCount = 128
    /// Octets of the mask.
    public static let maskByteCount = 16
    /// Octets of the whole advertising-data structure that carries the mask, length and type included.
    public static let structureByteCount = 21
    /// Apple's company identifier, under which devices advertise the mask.
    public static let company: UInt16 = 0x004C

    /// The octet between the company identifier and the mask.
    @usableFromInline static let subtype: UInt8 = 0x01

    /// Bits 0 to 63: octet `bit / 8` of the mask, there with the value `1 << (bit % 8)`.
    @usableFromInline var low: UInt64
    /// Bits 64 to 127.
    @usableFromInline var high: UInt64

    /// A mask without any bit.
    @inlinable
    public init() {
        low = 0
        high = 0
    }

    /// The mask that hides the UUIDs in it.
    public init(hashing uuids: [BluetoothUUID]) {
        self.init()
        for uuid in uuids { insert(uuid) }
    }

    /// Reads the mask in the data of a Manufacturer Specific structure, company included.
    ///
    /// - Parameters:
    ///   - data: what follows length and type.
    ///   - company: under which the mask is looked for.
    /// - Returns: `nil` when the structure is not an overflow area: another company, subtype or length.
    @inlinable
    public init?(manufacturerSpecificData data: RawSpan, company: UInt16 = Self.company) {
        guard data.byteCount == 3 + Self.maskByteCount, data.byte(at: 0) == UInt8(truncatingIfNeeded: company),
            data.byte(at: 1) == UInt8(truncatingIfNeeded: company >> 8), data.byte(at: 2) == Self.subtype
        else { return nil }
        // In bounds: the data has 19 octets.
        low = UInt64(littleEndian: unsafe data.unsafeLoadUnaligned(fromByteOffset: 3, as: UInt64.self))
        high = UInt64(littleEndian: unsafe data.unsafeLoadUnaligned(fromByteOffset: 11, as: UInt64.self))
    }

    /// Whether no bit is set, so that no UUID can be in the mask.
    @inlinable public var isEmpty: Bool { low == 0 && high == 0 }

    /// How many bits are set: the mask has at least this many UUIDs.
    @inlinable public var setBitCount: Int { low.nonzeroBitCount + high.nonzeroBitCount }

    /// The chance that a UUID which is not in the mask seems to be, 0 to 1 (SPEC 3.6).
    public var falseMatchProbability: Double { Double(setBitCount) / Double(Self.bitCount) }

    /// The bit that a UUID sets, 0 to 127 (SPEC 3.2).
    ///
    /// The UUID's 16 octets in textual order, most significant bit first, divided by x⁸ + x³ + 1 with nothing appended
    /// but the remainder's own width; the remainder's lowest seven bits are the answer.
    public static func bit(of uuid: BluetoothUUID) -> Int {
        var remainder: UInt8 = 0
        for half in [uuid.high, uuid.low] {
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                remainder ^= UInt8(truncatingIfNeeded: half >> shift)
                for _ in 0..<8 {
                    remainder = remainder & 0x80 == 0 ? remainder << 1 : remainder << 1 ^ 0x09
                }
            }
        }
        return Int(remainder & 0x7F)
    }

    /// Whether a bit is set.
    ///
    /// - Parameter bit: 0 to 127; `false` outside.
    @inlinable
    public func contains(bit: Int) -> Bool {
        switch bit {
        case 0..<64: low >> UInt64(bit) & 1 == 1
        case 64..<128: high >> UInt64(bit - 64) & 1 == 1
        default: false
        }
    }

    /// Whether the UUID's bit is set, so that the UUID may be in the mask.
    public func contains(_ uuid: BluetoothUUID) -> Bool { contains(bit: Self.bit(of: uuid)) }

    /// Whether both masks have a bit in common, for a scanner with the mask of all UUIDs that it wants.
    @inlinable
    public func intersects(_ other: OverflowArea) -> Bool { low & other.low != 0 || high & other.high != 0 }

    /// Sets the UUID's bit.
    public mutating func insert(_ uuid: BluetoothUUID) {
        let bit = Self.bit(of: uuid)
        if bit < 64 { low |= 1 << UInt64(bit) } else { high |= 1 << UInt64(bit - 64) }
    }

    /// Joins another mask to this one, as one mask may be split between advertisement and scan response.
    @inlinable
    public mutating func formUnion(_ other: OverflowArea) {
        low |= other.low
        high |= other.high
    }

    /// The UUIDs of a scan that may be in the mask, each once, in the order of the argument.
    public func matches(scanFor uuids: [BluetoothUUID]) -> [BluetoothUUID] {
        var matches: [BluetoothUUID] = []
        guard !isEmpty else { return matches }
        for uuid in uuids where contains(uuid) && !matches.contains(uuid) { matches.append(uuid) }
        return matches
    }

    /// The 16 octets of the mask in the order of the packet.
    public var mask: [UInt8] {
        (0..<Self.maskByteCount).map { index in
            UInt8(truncatingIfNeeded: (index < 8 ? low : high) >> (8 * UInt64(index % 8)))
        }
    }
}
