@testable import BLEPackets

/// Octets from pairs of hexadecimal digits; spaces between them do not count.
func octets(_ hexadecimal: String) -> [UInt8] {
    var result: [UInt8] = []
    var half: UInt8?
    for character in hexadecimal.utf8 where character != UInt8(ascii: " ") {
        guard let digit = hexadecimalDigit(character) else { preconditionFailure("not hexadecimal: \(hexadecimal)") }
        if let high = half {
            result.append(high << 4 | digit)
            half = nil
        } else {
            half = digit
        }
    }
    precondition(half == nil, "half an octet: \(hexadecimal)")
    return result
}

/// Numbers that look random and are the same in every run (SplitMix64).
struct FixedSeedGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func octets(count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}
