/// The screen that is drawn on: its size, and what the terminal can show.
struct Canvas: Equatable, Sendable {
    var columns: Int
    var rows: Int
    var isColoured: Bool
    var isUnicode: Bool
}

extension Canvas {
    func bold(_ text: String) -> String { "\u{1B}[1m\(text)\u{1B}[0m" }
    func dim(_ text: String) -> String { isColoured ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
    func selected(_ text: String) -> String { "\u{1B}[7m\(text)\u{1B}[0m" }
    func colour(_ number: Int, _ text: String) -> String { isColoured ? "\u{1B}[\(number)m\(text)\u{1B}[0m" : text }

    /// What stands in the place of a screen that has no room; `nil` where it has.
    func complaint(leastColumns: Int, leastRows: Int) -> [String]? {
        guard columns < leastColumns || rows < leastRows else { return nil }
        let text =
            "This terminal has \(columns) columns and \(rows) rows; \(leastColumns) and \(leastRows) are needed. "
            + "Make it larger. q goes back, and ends from the table."
        let lines = wrapped(text).prefix(max(0, rows)).map { $0.fitted(to: columns) }
        return lines + [String](repeating: "", count: max(0, rows - lines.count))
    }

    /// A line across the screen.
    var rule: String { String(repeating: isUnicode ? "─" : "-", count: max(0, columns)) }

    /// What stands between the parts of a line.
    var divider: String { isUnicode ? " · " : " | " }

    /// Four bars, of which more stand the stronger the signal is.
    /// - Parameter strength: in dBm.
    func bar(_ strength: Int?) -> String {
        let bars: [Character] = isUnicode ? ["▂", "▄", "▆", "█"] : ["#", "#", "#", "#"]
        let count = strength.map { min(4, max(0, ($0 + 110) / 15)) } ?? 0
        return String(bars[..<count]) + String(repeating: isUnicode ? "·" : ".", count: 4 - count)
    }

    /// The text in lines of the screen's width, broken between words, and within those that are longer than a line.
    /// - Parameters:
    ///   - deeper: spaces before all lines but the first.
    ///   - most: lines.
    func wrapped(_ text: String, deeper: Int = 0, most: Int = .max) -> [String] {
        text.wrapped(to: columns, deeper: deeper, most: most)
    }

    func arrow(_ trend: Int) -> String {
        switch trend {
        case 1: isUnicode ? "↑" : "^"
        case -1: isUnicode ? "↓" : "v"
        default: " "
        }
    }

    /// The line in what the terminal shows: without UTF-8 in ASCII, as wide as before.
    func legible(_ line: String) -> String {
        if isUnicode || line.utf8.allSatisfy({ $0 < 0x80 }) { return line }
        var text = ""
        for scalar in line.unicodeScalars {
            switch scalar {
            case _ where scalar.isASCII: text.unicodeScalars.append(scalar)
            case "…": text += "~"
            case "–", "−": text += "-"
            case "‘", "’": text += "'"
            case "“", "”": text += "\""
            default: text += String(repeating: "?", count: String(scalar).displayWidth)
            }
        }
        return text
    }
}
