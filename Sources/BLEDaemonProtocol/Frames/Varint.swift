/// Numbers of variable length, as Protocol Buffers have them.
enum Varint {
    static func count(_ number: UInt64) -> Int { max(1, (UInt64.bitWidth - number.leadingZeroBitCount + 6) / 7) }

    static func append(_ number: UInt64, to octets: inout [UInt8]) {
        var number = number
        while number > 0x7F {
            octets.append(UInt8(truncatingIfNeeded: number) | 0x80)
            number >>= 7
        }
        octets.append(UInt8(number))
    }
}
