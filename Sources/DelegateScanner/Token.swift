/// A part of a source that matters for declarations.
struct Token: Equatable {
    enum Kind {
        /// A name or a keyword; also a number.
        case word
        /// A character of punctuation, or `->`.
        case symbol
        /// A whole string or regular expression.
        case literal
        /// `#if` and the like, with its condition.
        case directive
    }

    var kind: Kind
    /// The text as written; nothing for a literal.
    var text: String
    /// Whether white space or a comment precedes the token.
    var isApart: Bool
    /// Whether the token is the first of its line.
    var startsLine: Bool

    /// The text without the backticks of a name that is a keyword.
    var name: String { text.hasPrefix("`") ? String(text.dropFirst().dropLast()) : text }

    func isSymbol(_ text: String) -> Bool { kind == .symbol && self.text == text }
    func isWord(_ text: String) -> Bool { kind == .word && self.text == text }
}
