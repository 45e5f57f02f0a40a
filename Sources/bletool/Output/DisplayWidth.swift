extension String {
    /// The text with spaces behind it, so that it takes at least so many columns.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - displayWidth)) }

    /// The columns that a terminal gives the text: two for what East Asian scripts and emoji take, none for marks that
    /// stand on other characters.
    var displayWidth: Int { unicodeScalars.reduce(0) { $0 + $1.displayWidth } }

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
}
