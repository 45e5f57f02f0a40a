import BLESensors

/// A set of packets in little memory, a Bloom filter: it finds every packet that was added, and of others a few, the
/// more the fuller it is.
struct PacketDigest: Equatable, Sendable {
    /// Empty until the first packet.
    private(set) var octets: [UInt8] = []
    private let size: Int

    /// - Parameter size: in octets, a power of two of at most 256 kB.
    init(size: Int) { self.size = size }

    /// What `octets` was; `nil` if the number of octets is another.
    init?(size: Int, octets: [UInt8]) {
        guard octets.isEmpty || octets.count == size else { return nil }
        self.size = size
        self.octets = octets
    }

    func contains(_ seal: SensorSeal) -> Bool {
        guard !octets.isEmpty else { return false }
        return places(seal).allSatisfy { octets[$0 >> 3] & 1 << ($0 & 7) != 0 }
    }

    mutating func insert(_ seal: SensorSeal) {
        if octets.isEmpty { octets = [UInt8](repeating: 0, count: size) }
        for place in places(seal) { octets[place >> 3] |= 1 << (place & 7) }
    }

    /// The three bits of a packet: parts of a number in which each bit depends on the whole seal (SplitMix64).
    private func places(_ seal: SensorSeal) -> [Int] {
        var number = UInt64(seal.counter) << 32 | UInt64(seal.code)
        number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
        number ^= number >> 31
        return [0, 21, 42].map { Int(truncatingIfNeeded: number >> UInt64($0)) & (size * 8 - 1) }
    }
}
