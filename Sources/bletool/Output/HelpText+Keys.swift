extension HelpText {
    /// A key has 24 digits at least; an address has 12.
    private static let leastKeyDigits = 20
    private static let mask: Character = "…"

    /// What the parser says of words that it cannot place, without those that may be keys: an option that is mistyped,
    /// or a key with a space in it, is no reason to show the key.
    static func withoutKeys(_ message: String, _ arguments: [String]) -> String {
        let lines = message.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let isOfUnplaced = ["nexpected argument", "nknown option", "does not take any value"].contains {
            lines[0].contains($0)
        }
        guard isOfUnplaced else { return message }
        let givesKey = arguments.contains { argument in
            argument == SecretArguments.command || SecretArguments.options.contains { argument.hasPrefix($0) }
        }
        var first = masked(lines[0], leastDigits: givesKey ? 1 : leastKeyDigits)
        if givesKey, first.contains(mask) { first += "; a key or passkey is one word, without spaces" }
        return ([first] + lines.dropFirst()).joined(separator: "\n")
    }

    /// - Parameter leastDigits: how many hexadecimal digits between quotes and other characters are masked.
    private static func masked(_ line: String, leastDigits: Int) -> String {
        var text = ""
        var run = ""
        for character in line + "\n" {
            if character.isASCII, character.isHexDigit || ":-".contains(character) {
                run.append(character)
                continue
            }
            let digits = run.count { $0.isHexDigit }
            // A short word is one only if nothing else is in it.
            let isWord = text.last == "'" && character == "'"
            let isMasked = digits >= leastKeyDigits || isWord && digits >= leastDigits
            text += isMasked ? String(mask) : run
            text.append(character)
            run = ""
        }
        return String(text.dropLast())
    }
}
