/// The eight hexadecimal digits of a number as characters, of which the first is lowest.
///
/// All eight are computed at once, in the octets of one integer: digit after digit took a fifth of a decoder's time.
enum HexadecimalDigits {
    @inline(__always)
    static func lower(_ value: UInt32) -> UInt64 { characters(value, letters: 0x27) }

    @inline(__always)
    static func upper(_ value: UInt32) -> UInt64 { characters(value, letters: 0x07) }

    /// - Parameter letters: the distance from the character behind 9 to A.
    @inline(__always)
    private static func characters(_ value: UInt32, letters: UInt64) -> UInt64 {
        var digits = UInt64(value)
        digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits | digits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        let areLetters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (digits + 0x3030_3030_3030_3030 + areLetters * letters).byteSwapped
    }
}
