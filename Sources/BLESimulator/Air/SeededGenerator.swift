/// A generator of pseudo-random numbers: the same seed gives the same numbers, in every process.
///
/// It uses SplitMix64. It is for simulation, never for keys.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Equal seeds give equal numbers, in every process.
    public init(seed: UInt64) { state = seed }

    /// The next 64 bits of the sequence.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// A number from zero up to, but not including, `bound`; zero if `bound` is zero or less.
    public mutating func next(below bound: Int64) -> Int64 {
        guard bound > 0 else { return 0 }
        return Int64(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
    }
}
