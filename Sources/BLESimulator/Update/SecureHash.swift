/// SHA-256 (FIPS 180-4), for the bootloaders of simulated devices, which share no code with the clients that are tested.
package enum SecureHash {
    private static let primes: [UInt64] = {
        var primes: [UInt64] = []
        var number: UInt64 = 2
        while primes.count < 64 {
            if primes.allSatisfy({ number % $0 != 0 }) { primes.append(number) }
            number += 1
        }
        return primes
    }()

    /// The first 32 bits of the fraction of a root, found bit by bit.
    private static func fraction(ofRoot degree: Int, of number: UInt64) -> UInt32 {
        var root: UInt128 = 0
        for bit in (0..<36).reversed() {
            let candidate = root | 1 << UInt128(bit)
            let power = (1..<degree).reduce(candidate) { power, _ in power * candidate }
            if power <= UInt128(number) << UInt128(32 * degree) { root = candidate }
        }
        return UInt32(truncatingIfNeeded: root)
    }

    private static let constants = primes.map { fraction(ofRoot: 3, of: $0) }
    private static let start = primes.prefix(8).map { fraction(ofRoot: 2, of: $0) }

    /// The 32 octets of the hash.
    package static func sha256(_ message: some Collection<UInt8>) -> [UInt8] {
        var octets = Array(message)
        let bits = UInt64(octets.count) * 8
        octets.append(0x80)
        while octets.count % 64 != 56 { octets.append(0) }
        octets += (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * $0)) }
        var state = start
        var words = [UInt32](repeating: 0, count: 64)
        for block in stride(from: 0, to: octets.count, by: 64) {
            for index in 0..<16 {
                words[index] = (0..<4).reduce(0) { $0 << 8 | UInt32(octets[block + 4 * index + $1]) }
            }
            for index in 16..<64 {
                let (early, late) = (words[index - 15], words[index - 2])
                let first = turn(early, 7) ^ turn(early, 18) ^ early >> 3
                let second = turn(late, 17) ^ turn(late, 19) ^ late >> 10
                words[index] = words[index - 16] &+ first &+ words[index - 7] &+ second
            }
            round(&state, words)
        }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) } }
    }

    private static func turn(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

    private static func round(_ state: inout [UInt32], _ words: [UInt32]) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for index in 0..<64 {
            let sum1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)
            let first = h &+ sum1 &+ (e & f ^ ~e & g) &+ constants[index] &+ words[index]
            let sum0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)
            let second = sum0 &+ (a & b ^ a & c ^ b & c)
            (h, g, f, e) = (g, f, e, d &+ first)
            (d, c, b, a) = (c, b, a, first &+ second)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] = state[index] &+ word }
    }
}
