/// A packet of the benchmark, in the form of Bumble's `bench`: a type, flags, a number and a time, then octets that
/// mean nothing. Integers are little-endian.
enum BenchPacket: Equatable, Sendable {
    /// A run begins: what was counted before does not count.
    case reset
    /// - Parameters:
    ///   - time: microseconds since the run began.
    ///   - byteCount: of the whole packet.
    case sequence(flags: Flags, number: UInt32, time: UInt32, byteCount: Int)
    case acknowledgement(flags: Flags, number: UInt32)

    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8
        /// The last packet of a run: it is always acknowledged.
        static let last = Flags(rawValue: 1)
        /// The sender waits for an acknowledgement. Only this program sends and knows this flag.
        static let wanted = Flags(rawValue: 2)
    }

    /// The octets of a sequence packet before those that mean nothing.
    static let headerByteCount = 10

    /// - Returns: `nil` for octets of another form.
    init?(_ octets: some Collection<UInt8>) {
        let octets = Array(octets.prefix(Self.headerByteCount)) as [UInt8]
        func number(_ place: Int) -> UInt32 {
            (0..<4).reduce(0) { $0 | UInt32(octets[place + $1]) << UInt32($1 * 8) }
        }
        switch octets.first {
        case 0: self = .reset
        case 1 where octets.count == Self.headerByteCount:
            self = .sequence(
                flags: Flags(rawValue: octets[1]), number: number(2), time: number(6), byteCount: octets.count)
        case 2 where octets.count >= 6:
            self = .acknowledgement(flags: Flags(rawValue: octets[1]), number: number(2))
        default: return nil
        }
    }

    /// - Returns: `nil` for octets of another form.
    static func read(_ octets: [UInt8]) -> BenchPacket? {
        guard case .sequence(let flags, let number, let time, _)? = BenchPacket(octets) else {
            return BenchPacket(octets)
        }
        return .sequence(flags: flags, number: number, time: time, byteCount: octets.count)
    }

    var octets: [UInt8] {
        func bytes(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
        switch self {
        case .reset: return [0]
        case .sequence(let flags, let number, let time, let byteCount):
            return [1, flags.rawValue] + bytes(number) + bytes(time)
                + [UInt8](repeating: 0, count: max(0, byteCount - Self.headerByteCount))
        case .acknowledgement(let flags, let number): return [2, flags.rawValue] + bytes(number)
        }
    }
}

/// Packets in the stream of a channel: each follows its length in two octets, the higher one first.
struct BenchFraming {
    private var held: [UInt8] = []

    static func frame(_ packet: [UInt8]) -> [UInt8] {
        [UInt8(truncatingIfNeeded: packet.count >> 8), UInt8(truncatingIfNeeded: packet.count)] + packet
    }

    /// - Returns: the packets that are complete now. At most one incomplete packet of 65,535 octets is kept.
    mutating func receive(_ octets: [UInt8]) -> [[UInt8]] {
        held += octets
        var packets: [[UInt8]] = []
        var place = 0
        while held.count - place >= 2 {
            let length = Int(held[place]) << 8 | Int(held[place + 1])
            guard held.count - place - 2 >= length else { break }
            packets.append(Array(held[place + 2..<place + 2 + length]))
            place += 2 + length
        }
        held.removeFirst(place)
        return packets
    }
}
