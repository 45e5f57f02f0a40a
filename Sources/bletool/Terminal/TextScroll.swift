/// How far a text is scrolled that has more lines than its place on the screen.
struct TextScroll: Equatable, Sendable {
    private var first = 0
    /// Whether there is something to scroll.
    private(set) var isPossible = false

    /// More lines than any text here has.
    private static let most = 1 << 20

    /// The text has so many lines now, and room for so many.
    mutating func settle(_ count: Int, in rows: Int) {
        isPossible = count > rows
        first = min(first, max(0, count - rows))
    }

    /// - Parameter rows: how far a page goes.
    /// - Returns: whether the key scrolls.
    mutating func press(_ key: Key, rows: Int) -> Bool {
        guard isPossible else { return false }
        switch key {
        case .up, .character("k"): first -= 1
        case .down, .character("j"): first += 1
        case .pageUp: first -= rows
        case .pageDown, .character(" "): first += rows
        case .home: first = 0
        case .end: first = Self.most
        default: return false
        }
        first = max(0, min(first, Self.most))
        return true
    }

    /// The lines that are seen.
    func shown(_ lines: [String], in rows: Int) -> ArraySlice<String> {
        lines[min(first, max(0, lines.count - rows))...].prefix(rows)
    }
}
