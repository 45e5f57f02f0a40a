/// The eight decimal digits of a number as octets, of which the first is lowest.
///
/// All eight are computed at once, in the octets of one integer, as `HexadecimalDigits` does it.
enum DecimalDigits {
    /// The numbers that have at most eight digits are below this one.
    static let limit: UInt64 = 100_000_000

    /// Zeros are zeros here, so that those in front can be counted.
    @inline(__always)
    static func values(_ value: UInt64) -> UInt64 {
        let upper = value / 10_000
        let fours = upper | (value &- upper &* 10_000) << 32
        // The quotients by a hundred and by ten are exact for all numbers of four and of two digits.
        let hundreds = (fours &* 5243) >> 19 & 0x0000_007F_0000_007F
        let pairs = hundreds | (fours &- hundreds &* 100) << 16
        let tens = (pairs &* 103) >> 10 & 0x000F_000F_000F_000F
        return tens | (pairs &- tens &* 10) << 8
    }

    @inline(__always)
    static func characters(_ values: UInt64) -> UInt64 { values | 0x3030_3030_3030_3030 }
}
