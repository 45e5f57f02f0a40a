import ArgumentParser
import BLE
import BLEScripts
import BLEText

/// An argument that says what it accepts and what is wrong with a text. Options and arguments of such types have `parse`
/// as their transform: the parser itself can only say that a value is invalid.
protocol ExplainedArgument: ExpressibleByArgument {
    /// Why a text is refused.
    static func mistake(in text: String) -> String
}

extension ExplainedArgument {
    /// The value that the user wrote.
    /// - Throws: `ValidationError` with the mistake.
    static func parse(_ text: String) throws -> Self {
        guard let value = Self(argument: text) else { throw ValidationError(mistake(in: text)) }
        return value
    }
}

extension FixedWidthInteger where Self: ExplainedArgument {
    static func mistake(in text: String) -> String {
        // The parser shows the help of the option, which has its range.
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return "use a whole number"
        }
        return text.hasPrefix("-") ? "the number is too small" : "the number is too large"
    }
}

extension Int: ExplainedArgument {}
extension Int8: ExplainedArgument {}
extension UInt8: ExplainedArgument {}
extension UInt16: ExplainedArgument {}
extension UInt32: ExplainedArgument {}

extension Double: ExplainedArgument {
    static func mistake(in text: String) -> String { "use a number, such as 100 or 0.5" }
}

extension Hexadecimal {
    /// Why a text is not octets.
    static func mistake(in text: String) -> String {
        let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text[...]
        let wrong = digits.first { !$0.isHexDigit && !" :-".contains($0) }
        let cause =
            wrong.map { "‘\(String($0).printable)’ is not a hexadecimal digit" } ?? "its digits are not in pairs"
        return cause + "; use two digits for each octet, such as 0aff"
    }
}

extension DeviceAddress {
    /// Why a text is not an address.
    static func mistake(in text: String) -> String {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let pairs = parts[0].split(separator: ":", omittingEmptySubsequences: false)
        let wrong = pairs.first { $0.count != 2 || !$0.allSatisfy(\.isHexDigit) }
        let cause =
            if pairs.count != 6 {
                "an address has six pairs of hexadecimal digits" + (pairs.count > 1 ? ", not \(pairs.count)" : "")
            } else if let wrong {
                "‘\(String(wrong).printable)’ is not a pair of hexadecimal digits"
            } else {
                "the type of an address is public or random"
            }
        return cause + "; use ADDRESS, ADDRESS/public or ADDRESS/random, such as C0:DE:00:00:00:01/random"
    }
}
