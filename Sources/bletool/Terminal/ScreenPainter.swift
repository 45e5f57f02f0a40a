/// What the terminal shows, so that only lines that have changed are sent to it: a screen that stands still costs
/// nothing over a slow line.
struct ScreenPainter {
    private var shown: [String] = []
    private var columns = 0

    /// What makes the terminal show these lines; empty where it shows them already.
    /// - Parameter lines: as many as the terminal has rows, none wider than it.
    mutating func paint(_ lines: [String], columns: Int) -> String {
        let isNew = lines.count != shown.count || columns != self.columns
        var text = ""
        for (row, line) in lines.enumerated() where isNew || shown[row] != line {
            // The row is cleared first: behind a line that fills it, clearing would take its last character.
            text += "\u{1B}[\(row + 1);1H\u{1B}[K\(line)"
        }
        (shown, self.columns) = (lines, columns)
        guard !text.isEmpty else { return "" }
        // One change, if the terminal supports that: nothing flickers.
        return "\u{1B}[?2026h\(isNew ? "\u{1B}[2J" : "")\(text)\u{1B}[?2026l"
    }

    /// The terminal may show something else by now.
    mutating func forget() { shown = [] }
}
