/// The numbers of the pcapng format.
enum PcapNG {
    static let sectionHeaderBlock: UInt32 = 0x0A0D_0D0A
    static let interfaceDescriptionBlock: UInt32 = 1
    static let obsoletePacketBlock: UInt32 = 2
    static let simplePacketBlock: UInt32 = 3
    static let enhancedPacketBlock: UInt32 = 6
    /// Journal entries, and custom blocks that may be copied and that may not.
    static let foreignRecordBlocks: [UInt32] = [9, 0x0BAD, 0x4000_0BAD]
    static let byteOrderMark: UInt32 = 0x1A2B_3C4D

    static let endOfOptions: UInt16 = 0
    static let interfaceName: UInt16 = 2
    static let timeResolution: UInt16 = 9
    static let timeOffset: UInt16 = 14
    /// Option of packets whose low two bits give the direction: 1 inbound, 2 outbound.
    static let packetFlags: UInt16 = 2

    static func isPacketBlock(_ type: UInt32) -> Bool {
        type == enhancedPacketBlock || type == obsoletePacketBlock || type == simplePacketBlock
    }
}

/// A section of a pcapng file, as far as it has been read.
struct PcapNGSection {
    /// The maximum number of interfaces: a damaged file must not fill the memory.
    static let maximumInterfaceCount = 1024
    /// How many link types without HCI are named.
    static let maximumForeignLinkTypeCount = 8

    var isBigEndian: Bool
    var interfaces: [PcapNGInterface] = []
    /// The time of the last packet, for packets without a time.
    var lastTimestampMicroseconds: Int64 = 0

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }
}

/// An interface of a pcapng section.
struct PcapNGInterface {
    /// `nil` for a link type without HCI packets.
    var link: LinkType?
    /// The most octets of a packet that are kept; 0 for no limit.
    var snapLength: UInt32 = 0
    var adapter: UInt16 = 0
    var clock = PcapNGClock()
}

/// How the 64-bit timestamps of an interface count.
struct PcapNGClock {
    private enum Unit {
        case multiply(UInt64)
        case divide(UInt64)
        case shift(UInt64)
    }

    private var unit = Unit.multiply(1)
    /// The zero of the clock in seconds since 1970 (`if_tsoffset`).
    var offsetSeconds: Int64 = 0

    /// Counts microseconds.
    init() {}

    /// Applies the option `if_tsresol`: a power of ten, or of two when the highest bit is set.
    mutating func setResolution(_ octet: UInt8) {
        let exponent = Int(octet & 0x7F)
        if octet & 0x80 != 0 {
            unit = .shift(UInt64(exponent))
        } else if exponent <= 6 {
            unit = .multiply(Self.powerOfTen(6 - exponent))
        } else {
            unit = .divide(Self.powerOfTen(exponent - 6))
        }
    }

    /// Microseconds since 1970, rounded down.
    func microseconds(_ ticks: UInt64) -> Int64 {
        let counted: UInt64 =
            switch unit {
            case .multiply(let factor): ticks &* factor
            case .divide(let divisor): ticks / divisor
            case .shift(let bits): Self.scaled(ticks, by: bits)
            }
        return Int64(truncatingIfNeeded: counted) &+ offsetSeconds &* 1_000_000
    }

    /// `ticks` × 1,000,000 ÷ 2^`bits` without intermediate loss.
    private static func scaled(_ ticks: UInt64, by bits: UInt64) -> UInt64 {
        let (high, low) = ticks.multipliedFullWidth(by: 1_000_000)
        return switch bits {
        case 0: low
        case 1..<64: high << (64 - bits) | low >> bits
        default: high >> (bits - 64)
        }
    }

    /// The power, or the greatest that fits into 64 bits.
    private static func powerOfTen(_ exponent: Int) -> UInt64 {
        (0..<min(exponent, 19)).reduce(1) { power, _ in power * 10 }
    }
}
