/// Shows octets of others as text, piece by piece as they arrive: for a terminal, which would obey some of them.
///
/// Line feeds and tabs stay, a carriage return before a line feed is left out, and everything else that does not pass
/// `TextSieve` becomes a number: `\u{1b}` for a character, `\xff` for an octet that is not UTF-8.
public struct OctetSieve: Sendable {
    private var sieve = TextSieve()
    /// The first octets of a character, or a carriage return: what follows them decides.
    private var rest: [UInt8] = []

    public init() {}

    /// The text of the next octets, without a character that is not complete yet.
    public mutating func text(of octets: [UInt8]) -> String { text(of: rest + octets, isLast: false) }

    /// The text of an incomplete character, when nothing follows.
    public mutating func end() -> String { text(of: rest, isLast: true) }

    private mutating func text(of octets: [UInt8], isLast: Bool) -> String {
        rest = []
        var text = ""
        var position = 0
        while position < octets.count {
            let octet = octets[position]
            let length = Self.length(of: octet)
            let piece = octets[position..<min(octets.count, position + length)]
            if !isLast, piece.count < length, Self.mayContinue(piece) {
                rest = Array(piece)
                return text
            }
            switch octet {
            case 0x0D where position + 1 < octets.count && octets[position + 1] == 0x0A: position += 1
            case 0x09, 0x0A:
                sieve = TextSieve()
                text.unicodeScalars.append(Unicode.Scalar(octet))
                position += 1
            default:
                // A carriage return is looked at together with what follows it.
                let own = octet < 0x80 ? piece.prefix(1) : piece
                if own.count == (octet < 0x80 ? 1 : length), let character = String(validating: own, as: UTF8.self) {
                    for scalar in character.unicodeScalars {
                        if sieve.passes(scalar) {
                            text.unicodeScalars.append(scalar)
                        } else {
                            text += "\\u{\(String(scalar.value, radix: 16))}"
                        }
                    }
                    position += own.count
                } else {
                    sieve = TextSieve()
                    text += "\\x" + (octet < 16 ? "0" : "") + String(octet, radix: 16)
                    position += 1
                }
            }
        }
        return text
    }

    /// How many octets are looked at together.
    private static func length(of octet: UInt8) -> Int {
        switch octet {
        case 0x0D: 2
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 1
        }
    }

    /// Whether more octets can complete the character.
    private static func mayContinue(_ piece: ArraySlice<UInt8>) -> Bool {
        piece.dropFirst().allSatisfy { (0x80..<0xC0).contains($0) }
    }
}
