/// Octets as text (RFC 4648, section 4), with padding.
public enum Base64 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    public static func text(of octets: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((octets.count + 2) / 3 * 4)
        var (bits, count): (UInt32, Int) = (0, 0)
        func append() { text.append(digits[Int(bits >> UInt32(count) & 63)]) }
        for octet in octets {
            (bits, count) = (bits << 8 | UInt32(octet), count + 8)
            while count >= 6 {
                count -= 6
                append()
            }
        }
        if count > 0 {
            bits <<= UInt32(6 - count)
            count = 0
            append()
        }
        while text.count % 4 != 0 { text.append(padding) }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: `nil` for what `text` never gives: other characters, another length, bits that nothing needs.
    public static func octets(of text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var digits = Array(text)
        for _ in 0..<2 where digits.last == padding { digits.removeLast() }
        var octets: [UInt8] = []
        octets.reserveCapacity(digits.count * 3 / 4)
        var (bits, count): (UInt32, Int) = (0, 0)
        for digit in digits {
            guard let value = value(ofDigit: digit) else { return nil }
            (bits, count) = (bits << 6 | UInt32(value), count + 6)
            guard count >= 8 else { continue }
            count -= 8
            octets.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        // One digit that is left has less than an octet.
        guard count < 6, bits & (1 << UInt32(count) - 1) == 0 else { return nil }
        return octets
    }

    private static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
