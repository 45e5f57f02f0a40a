/// A generator of unpredictable numbers from 32 octets of entropy: the key stream of ChaCha20 (RFC 8439, 2.3). The same
/// entropy gives the same numbers, in every process.
struct EntropySource {
    private let key: [UInt32]
    private var counter: UInt64 = 0
    private var block: [UInt32] = []

    /// - Parameter seed: 32 octets; missing octets count as zero, extra ones are ignored.
    init(seed: [UInt8]) {
        key = (0..<8).map { word in
            (0..<4).reduce(UInt32(0)) { sum, octet in
                let index = word * 4 + octet
                return sum | UInt32(index < seed.count ? seed[index] : 0) << (8 * UInt32(octet))
            }
        }
    }

    mutating func next() -> UInt64 {
        if block.count < 2 { block = nextBlock() }
        return UInt64(block.removeLast()) << 32 | UInt64(block.removeLast())
    }

    /// A UUID of version 4 (RFC 9562, 5.4).
    mutating func nextIdentifier() -> PeerIdentifier {
        let high = next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000
        let low = next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return PeerIdentifier(high: high, low: low)
    }

    private mutating func nextBlock() -> [UInt32] {
        let constants: [UInt32] = [0x6170_7865, 0x3320_646E, 0x7962_2D32, 0x6B20_6574]
        let input =
            constants + key + [UInt32(truncatingIfNeeded: counter), UInt32(truncatingIfNeeded: counter >> 32), 0, 0]
        counter &+= 1
        var state = input
        for _ in 0..<10 {
            Self.quarterRound(&state, 0, 4, 8, 12)
            Self.quarterRound(&state, 1, 5, 9, 13)
            Self.quarterRound(&state, 2, 6, 10, 14)
            Self.quarterRound(&state, 3, 7, 11, 15)
            Self.quarterRound(&state, 0, 5, 10, 15)
            Self.quarterRound(&state, 1, 6, 11, 12)
            Self.quarterRound(&state, 2, 7, 8, 13)
            Self.quarterRound(&state, 3, 4, 9, 14)
        }
        return zip(state, input).map { $0 &+ $1 }
    }

    private static func quarterRound(_ state: inout [UInt32], _ a: Int, _ b: Int, _ c: Int, _ d: Int) {
        state[a] &+= state[b]
        state[d] = rotate(state[d] ^ state[a], 16)
        state[c] &+= state[d]
        state[b] = rotate(state[b] ^ state[c], 12)
        state[a] &+= state[b]
        state[d] = rotate(state[d] ^ state[a], 8)
        state[c] &+= state[d]
        state[b] = rotate(state[b] ^ state[c], 7)
    }

    private static func rotate(_ value: UInt32, _ count: UInt32) -> UInt32 { value << count | value >> (32 - count) }
}
