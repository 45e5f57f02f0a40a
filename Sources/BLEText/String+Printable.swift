extension String {
    /// The text as it may stand before a person, on a terminal or in a log: what would move the cursor, cannot be seen, or
    /// would turn the direction of writing is shown by its number, and so are spaces that are more than one, or at an end.
    public var printable: String { printable(limit: .max) }

    /// The text as it may stand in a line beside others.
    /// - Parameter limit: how many characters are shown; what is longer ends with "…".
    public func printable(limit: Int) -> String {
        // Most of what is said holds nothing of that kind.
        if isPlain, utf8.count <= limit { return self }
        var result = ""
        var sieve = TextSieve()
        var length = 0
        var wasSpace = true
        var rest = unicodeScalars[...]
        while let scalar = rest.popFirst() {
            let piece: String
            if scalar == " " {
                // One that ends the text, or stands beside another, would not be seen for what it is.
                piece = wasSpace || rest.isEmpty || rest.first == " " ? scalar.number : " "
            } else {
                piece = sieve.passes(scalar) ? String(scalar) : scalar.number
            }
            wasSpace = scalar == " "
            length += piece.unicodeScalars.count
            // The mark that something is missing takes the place of the last.
            if length > limit || (length == limit && !rest.isEmpty) { return result + "…" }
            result += piece
        }
        return result
    }

    /// The text between quotation marks, which it cannot close itself.
    public func quoted(limit: Int = 80) -> String {
        var result = "‘"
        var before: Unicode.Scalar?
        var rest = printable(limit: limit).unicodeScalars[...]
        while let scalar = rest.popFirst() {
            // Within a word it is an apostrophe.
            let isApostrophe =
                scalar == "’" && before?.properties.isAlphabetic == true
                && rest.first?.properties.isAlphabetic == true
            if scalar == "‘" || scalar == "’", !isApostrophe {
                result += scalar.number
            } else {
                result.unicodeScalars.append(scalar)
            }
            before = scalar
        }
        return result + "’"
    }

    /// Whether it is of visible ASCII and single spaces alone.
    private var isPlain: Bool {
        var before: UInt8 = 0x20
        for octet in utf8 {
            guard (0x20..<0x7F).contains(octet), octet != 0x20 || before != 0x20 else { return false }
            before = octet
        }
        return before != 0x20 || utf8.isEmpty
    }
}

extension Unicode.Scalar {
    /// How a character is written that is not shown.
    fileprivate var number: String { "\\u{\(String(value, radix: 16))}" }
}
