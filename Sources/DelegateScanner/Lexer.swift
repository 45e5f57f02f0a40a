/// Splits a source into tokens. Comments, strings and regular expressions disappear or become one token each, so that
/// what is within them is not mistaken for code. An unterminated one ends with the file.
struct Lexer {
    private let source: [UInt8]
    private var place = 0
    private var tokens: [Token] = []
    private var isApart = true
    private var startsLine = true

    private init(_ source: String) { self.source = Array(source.utf8) }

    static func tokens(of source: String) -> [Token] {
        var lexer = Lexer(source)
        while lexer.step() {}
        return lexer.tokens
    }

    private func octet(_ offset: Int = 0) -> UInt8? {
        place + offset < source.count ? source[place + offset] : nil
    }

    private func isAt(_ text: String) -> Bool { source[place...].starts(with: text.utf8) }

    private mutating func append(_ kind: Token.Kind, _ text: String) {
        tokens.append(Token(kind: kind, text: text, isApart: isApart, startsLine: startsLine))
        (isApart, startsLine) = (false, false)
    }

    /// Reads one token, or what lies between tokens; false at the end.
    private mutating func step() -> Bool {
        guard let octet = octet() else { return false }
        switch octet {
        case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            place += 1
            (isApart, startsLine) = (true, true)
        case UInt8(ascii: " "), UInt8(ascii: "\t"), 0, 0x0B, 0x0C:
            place += 1
            isApart = true
        case UInt8(ascii: "/") where isAt("//"), UInt8(ascii: "/") where isAt("/*"): skipComment()
        case UInt8(ascii: "/") where mayBeginExpression && skipRegularExpression(hashes: 0): append(.literal, "")
        case UInt8(ascii: "\""):
            skipString(hashes: 0, depth: 0)
            append(.literal, "")
        case UInt8(ascii: "#"): readHash()
        case UInt8(ascii: "`"):
            let start = place
            place += 1
            while let next = self.octet(), next != UInt8(ascii: "`"), next != UInt8(ascii: "\n") { place += 1 }
            place = min(place + 1, source.count)
            append(.word, text(from: start))
        case _ where octet.isWord:
            let start = place
            while self.octet()?.isWord == true { place += 1 }
            append(.word, text(from: start))
        case UInt8(ascii: "-") where isAt("->"):
            place += 2
            append(.symbol, "->")
        default:
            place += 1
            append(.symbol, String(UnicodeScalar(octet)))
        }
        return true
    }

    private func text(from start: Int) -> String { String(decoding: source[start..<place], as: UTF8.self) }

    /// Whether a `/` here begins a regular expression rather than dividing.
    private var mayBeginExpression: Bool {
        guard let last = tokens.last else { return true }
        if octet(1).map({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\n") }) ?? true {
            return false
        }
        switch last.kind {
        case .symbol: return !")]}?!>".contains(last.text)
        case .word: return ["return", "in", "case", "where", "if", "while", "try", "await", "else"].contains(last.text)
        case .literal, .directive: return false
        }
    }

    // MARK: What is not code

    private mutating func skipComment() {
        isApart = true
        if isAt("//") {
            while let octet = octet(), octet != UInt8(ascii: "\n"), octet != UInt8(ascii: "\r") { place += 1 }
            return
        }
        var depth = 0
        repeat {
            if isAt("/*") {
                depth += 1
                place += 2
            } else if isAt("*/") {
                depth -= 1
                place += 2
            } else {
                if octet() == UInt8(ascii: "\n") { startsLine = true }
                place += 1
            }
        } while depth > 0 && place < source.count
        place = min(place, source.count)
    }

    /// `#"text"#`, `#/expression/#`, or a directive.
    private mutating func readHash() {
        var hashes = 0
        while octet(hashes) == UInt8(ascii: "#") { hashes += 1 }
        switch octet(hashes) {
        case UInt8(ascii: "\"")?:
            place += hashes
            skipString(hashes: hashes, depth: 0)
            append(.literal, "")
        case UInt8(ascii: "/")?:
            place += hashes
            if skipRegularExpression(hashes: hashes) { append(.literal, "") }
        default:
            let start = place
            place += 1
            while octet()?.isWord == true { place += 1 }
            let name = text(from: start)
            guard ["#if", "#elseif", "#else", "#endif"].contains(name) else { return append(.word, name) }
            append(.directive, name + readCondition())
        }
    }

    /// The rest of a directive: a line, or several if an operator or a parenthesis is open.
    private mutating func readCondition() -> String {
        var condition: [UInt8] = []
        var depth = 0
        while let octet = octet() {
            if isAt("//") || isAt("/*") {
                skipComment()
                continue
            }
            if octet == UInt8(ascii: "\n") || octet == UInt8(ascii: "\r") {
                let last = condition.last { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
                guard depth > 0 || last == UInt8(ascii: "&") || last == UInt8(ascii: "|") else { break }
                condition.append(UInt8(ascii: " "))
            } else {
                if octet == UInt8(ascii: "(") { depth += 1 }
                if octet == UInt8(ascii: ")") { depth -= 1 }
                condition.append(octet)
            }
            place += 1
        }
        return String(decoding: condition, as: UTF8.self)
    }

    /// Skips a string from its quotation mark on.
    private mutating func skipString(hashes: Int, depth: Int) {
        let isLong = isAt("\"\"\"")
        place += isLong ? 3 : 1
        while let octet = octet() {
            if octet == UInt8(ascii: "\\"), follow(hashes, from: 1) {
                place += 1 + hashes
                if self.octet() == UInt8(ascii: "("), depth < 64 {
                    skipInterpolation(depth: depth)
                } else {
                    place += 1
                }
            } else if octet == UInt8(ascii: "\""), isLong ? isAt("\"\"\"") : true,
                follow(hashes, from: isLong ? 3 : 1)
            {
                place += (isLong ? 3 : 1) + hashes
                return
            } else if octet == UInt8(ascii: "\n"), !isLong {
                return
            } else {
                place += 1
            }
        }
        place = source.count
    }

    private func follow(_ hashes: Int, from offset: Int) -> Bool {
        (0..<hashes).allSatisfy { octet(offset + $0) == UInt8(ascii: "#") }
    }

    private mutating func skipInterpolation(depth: Int) {
        var open = 0
        while let octet = octet() {
            switch octet {
            case UInt8(ascii: "("): open += 1
            case UInt8(ascii: ")"):
                open -= 1
                if open == 0 {
                    place += 1
                    return
                }
            case UInt8(ascii: "\""):
                skipString(hashes: 0, depth: depth + 1)
                continue
            case UInt8(ascii: "#"):
                var hashes = 0
                while self.octet(hashes) == UInt8(ascii: "#") { hashes += 1 }
                place += hashes
                if self.octet() == UInt8(ascii: "\"") { skipString(hashes: hashes, depth: depth + 1) }
                continue
            case UInt8(ascii: "/") where isAt("/*"):
                skipComment()
                continue
            default: break
            }
            place += 1
        }
    }

    /// Skips a regular expression from its slash on; without hash signs, it must end on its line.
    private mutating func skipRegularExpression(hashes: Int) -> Bool {
        let start = place
        place += 1
        while let octet = octet() {
            if octet == UInt8(ascii: "\\") {
                place += 2
            } else if octet == UInt8(ascii: "/"), follow(hashes, from: 1) {
                place += 1 + hashes
                return true
            } else if octet == UInt8(ascii: "\n"), hashes == 0 {
                break
            } else {
                place += 1
            }
        }
        place = hashes == 0 ? start : source.count
        return hashes > 0
    }
}

extension UInt8 {
    /// Whether the octet may be part of a name; all beyond ASCII may.
    fileprivate var isWord: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }
}
