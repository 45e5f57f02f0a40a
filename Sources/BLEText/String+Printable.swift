extension String {
    /// The text in a safe form for a terminal or a log: characters that move the cursor, are invisible or change the
    /// writing direction are replaced by their numbers, as are repeated spaces and spaces at the ends.
    public var printable: String { printable(limit: .max) }

    /// The text in a safe form for a line with other text.
    /// - Parameter limit: how many characters are shown; what is longer ends with "…".
    public func printable(limit: Int) -> String {
        // Most texts need no change.
        if isPlain, utf8.count <= limit { return self }
        var result = ""
        var sieve = TextSieve()
        var length = 0
        var wasSpace = true
        var rest = unicodeScalars[...]
        while let scalar = rest.popFirst() {
            let piece: String
            if scalar == " " {
                // A space at the end, or next to another one, could not be recognised.
                piece = wasSpace || rest.isEmpty || rest.first == " " ? scalar.number : " "
            } else {
                piece = sieve.passes(scalar) ? String(scalar) : scalar.number
            }
            wasSpace = scalar == " "
            length += piece.unicodeScalars.count
            // The ellipsis takes the place of the last character.
            if length > limit || (length == limit && !rest.isEmpty) { return result + "…" }
            result += piece
        }
        return result
    }

    /// The text in quotation marks, which it cannot close.
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

    /// The text for a terminal, whatever has come into it: controls, invisible characters and those that change the
    /// writing direction become numbers. Lines, tabs and spaces stay as they are; `printable` is for a text within a line.
    public var safeForTerminal: String {
        if utf8.allSatisfy({ (0x20..<0x7F).contains($0) || $0 == 0x0A }) { return self }
        var result = ""
        var sieve = TextSieve()
        for scalar in unicodeScalars {
            if sieve.passes(scalar) || !TextSieve.isHidden(scalar) || scalar == "\n" || scalar == "\t" {
                result.unicodeScalars.append(scalar)
            } else {
                result += scalar.number
            }
        }
        return result
    }

    /// Whether it has only visible ASCII characters and single spaces.
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
    /// The escape of a character that is not shown.
    fileprivate var number: String { "\\u{\(String(value, radix: 16))}" }
}
