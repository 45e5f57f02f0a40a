extension String {
    /// The text with spaces behind it, so that it takes at least so many columns.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - displayWidth)) }

    /// The columns that a terminal gives the text: two for what East Asian scripts and emoji take, none for marks that
    /// stand on other characters.
    var displayWidth: Int { unicodeScalars.reduce(0) { $0 + $1.displayWidth } }

    /// The text in pieces of at most so many columns, wherever they end.
    /// - Parameter most: pieces; what would follow the last one is an ellipsis at its end.
    func cut(to width: Int, most: Int) -> [String] {
        guard width > 0, most > 0 else { return [] }
        guard displayWidth > width else { return [self] }
        var pieces: [String] = []
        var piece = ""
        var taken = 0
        for character in self {
            let columns = String(character).displayWidth
            if taken + columns > width, !piece.isEmpty {
                // With something behind it, it is cut.
                if pieces.count == most - 1 { return pieces + [(piece + "…").fitted(to: width)] }
                pieces.append(piece)
                (piece, taken) = ("", 0)
            }
            piece.append(character)
            taken += columns
        }
        return pieces + [piece]
    }

    /// The text in lines of at most so many columns, broken between words, and within those that are longer than a line;
    /// its own spaces stay where a line has room.
    /// - Parameters:
    ///   - deeper: spaces before all lines but the first; none where lines are short.
    ///   - most: lines; what would follow the last one is an ellipsis at its end.
    func wrapped(to width: Int, deeper: Int, most: Int) -> [String] {
        guard width > 0, displayWidth > width else { return [self] }
        let indent = String(repeating: " ", count: deeper * 2 < width ? deeper : 0)
        var lines: [String] = []
        var line = ""
        var isEmpty = true
        for word in split(separator: " ", omittingEmptySubsequences: false).map(String.init) {
            let piece = isEmpty ? word : " " + word
            if line.displayWidth + piece.displayWidth <= width {
                line += piece
                isEmpty = false
                continue
            }
            // A word that no line has room for begins where it stands.
            let begins = indent.displayWidth + word.displayWidth > width && line.displayWidth + 2 <= width
            var rest = begins ? piece : word
            if !begins {
                lines.append(line)
                line = indent
            }
            while line.displayWidth + rest.displayWidth > width {
                let part = rest.prefix(to: width - line.displayWidth)
                lines.append(line + part)
                rest = String(rest.dropFirst(part.count))
                line = indent
            }
            line += rest
            isEmpty = false
        }
        lines.append(line)
        guard lines.count > most else { return lines }
        lines = Array(lines.prefix(most))
        if let last = lines.indices.last { lines[last] = (lines[last] + "…").fitted(to: width) }
        return lines
    }

    /// The first characters, which take at most so many columns; at least one.
    private func prefix(to width: Int) -> Substring {
        var taken = 0
        let part = prefix { character in
            taken += String(character).displayWidth
            return taken <= width
        }
        return part.isEmpty ? prefix(1) : part
    }

    /// The text in exactly so many columns: with spaces behind it, or cut with an ellipsis.
    func fitted(to width: Int) -> String {
        guard width > 0 else { return "" }
        guard displayWidth > width else { return padded(to: width) }
        var text = ""
        var taken = 0
        for character in self {
            let columns = String(character).displayWidth
            guard taken + columns <= width - 1 else { break }
            text.append(character)
            taken += columns
        }
        return (text + "…").padded(to: width)
    }
}

extension Unicode.Scalar {
    fileprivate var displayWidth: Int {
        switch value {
        case 0..<0x300: return 1
        case 0xFE00...0xFE0F, 0x200B...0x200F, 0x1F3FB...0x1F3FF: return 0
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF,
            0x20000...0x3FFFD:
            return 2
        default:
            switch properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .format: return 0
            default: return 1
            }
        }
    }
}

extension String {
    /// The text without spaces at its end.
    var trimmedEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }

    /// The words in lines of at most so many columns. What is in brackets stays together where a line has room for it.
    /// - Parameters:
    ///   - indent: spaces before the first line.
    ///   - deeper: spaces before the others.
    func folded(to columns: Int, indent: Int, deeper: Int) -> [String] {
        var pieces: [String] = []
        var depth = 0
        for word in split(separator: " ") {
            if depth > 0, let last = pieces.indices.last {
                pieces[last] += " " + word
            } else {
                pieces.append(String(word))
            }
            for letter in word {
                if "[<".contains(letter) { depth += 1 }
                if "]>".contains(letter) { depth -= 1 }
            }
        }
        let room = max(1, columns - max(indent, deeper))
        pieces = pieces.flatMap { $0.displayWidth > room ? $0.split(separator: " ").map(String.init) : [$0] }
        var lines: [String] = []
        var line = String(repeating: " ", count: indent)
        var isEmpty = true
        for piece in pieces {
            if !isEmpty, line.displayWidth + 1 + piece.displayWidth > columns {
                lines.append(line)
                line = String(repeating: " ", count: deeper)
                isEmpty = true
            }
            line += isEmpty ? piece : " " + piece
            isEmpty = false
        }
        return lines + [line]
    }
}
