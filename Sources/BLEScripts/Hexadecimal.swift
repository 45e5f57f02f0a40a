/// Bytes and numbers in hexadecimal, as programs print and read them.
package enum Hexadecimal {
    /// Octets in lower case, two digits each, without separators.
    package static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }

    package static func text(_ byte: UInt8) -> String { text([byte]) }

    /// `0x000e`: lower case with `0x`, with a minimum number of digits.
    package static func number(_ value: some UnsignedInteger, digits: Int) -> String {
        let text = String(value, radix: 16)
        return "0x" + String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// Octets in pairs of digits of either case, also with `0x`; spaces, colons and dashes may separate them.
    /// - Returns: `nil` for anything else.
    package static func bytes(_ text: String) -> [UInt8]? {
        var digits: [UInt8] = []
        var rest = Array(text.utf8)[...]
        if rest.starts(with: "0x".utf8) || rest.starts(with: "0X".utf8) { rest = rest.dropFirst(2) }
        for character in rest {
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits.append(character - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digits.append(character - UInt8(ascii: "a") + 10)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digits.append(character - UInt8(ascii: "A") + 10)
            case UInt8(ascii: " "), UInt8(ascii: ":"), UInt8(ascii: "-"):
                guard digits.count.isMultiple(of: 2) else { return nil }
            default: return nil
            }
        }
        guard digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// A number: hexadecimal with `0x`, otherwise in the given base.
    package static func integer<Value: FixedWidthInteger & UnsignedInteger>(
        _ text: String, defaultBase: Int = 10, as type: Value.Type = Value.self
    ) -> Value? {
        let isPrefixed = text.hasPrefix("0x") || text.hasPrefix("0X")
        let digits = isPrefixed ? text.dropFirst(2) : text[...]
        guard digits.first != "+", digits.first != "-" else { return nil }
        return Value(digits, radix: isPrefixed ? 16 : defaultBase)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
