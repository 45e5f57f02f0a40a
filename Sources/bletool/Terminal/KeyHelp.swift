/// The keys of a screen, and what they do.
struct KeyHelp: Sendable {
    var entries: [(keys: String, text: String)]

    private static let keyColumns = 12

    /// A line for each key; where it is too long, more, with the text below the text.
    func lines(_ width: Int) -> [String] {
        [""]
            + entries.flatMap { entry in
                let start = "  " + entry.keys.padded(to: Self.keyColumns)
                let text = entry.text.folded(to: max(1, width - start.displayWidth), indent: 0, deeper: 0)
                return text.enumerated().map { place, line in
                    (place == 0 ? start : String(repeating: " ", count: start.displayWidth)) + line
                }
            } + [""]
    }

    /// The footer below it.
    static func footer(_ scroll: TextScroll) -> String {
        scroll.isPossible ? "arrows scroll   any other key goes back" : "any key goes back"
    }
}
