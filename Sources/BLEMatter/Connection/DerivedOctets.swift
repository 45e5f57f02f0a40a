import Crypto

/// Octets that nobody can predict who does not know the seed, without randomness inside.
struct DerivedOctets {
    private let seed: [UInt8]
    private var count: UInt64 = 0

    init(seed: [UInt8]) { self.seed = seed }

    /// - Parameter length: at most 32.
    mutating func next(_ length: Int) -> [UInt8] {
        count += 1
        let number = (0..<8).map { UInt8(truncatingIfNeeded: count >> (8 * UInt64($0))) }
        return Array(SHA256.hash(data: seed + number).prefix(length))
    }
}
