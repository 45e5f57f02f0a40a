/// A line that is edited key by key, with the lines before it and completion.
struct LineEditor {
    enum Outcome: Equatable {
        case edited
        /// Enter.
        case line(String)
        /// ^C: the line is given up.
        case cancelled
        /// ^D on an empty line.
        case end
        /// Several words fit: they are to be shown.
        case choices([String])
        /// ^L.
        case clear
    }

    /// Lines that are kept.
    static let historyLimit = 500
    private static let lengthLimit = 4096

    private(set) var text: [Character] = []
    /// Characters before the cursor.
    private(set) var cursor = 0
    private(set) var history: [String]
    /// Which line of the history stands there; the count of them: none.
    private var place: Int
    /// What was typed before the history was looked through.
    private var draft: [Character] = []

    init(history: [String] = []) {
        self.history = Array(history.suffix(Self.historyLimit))
        place = self.history.count
    }

    /// - Parameter complete: the words that may stand where the cursor is, for what stands before it, with the
    ///   characters that they replace.
    mutating func press(_ key: Key, complete: (String) -> (words: [String], replaced: Int)) -> Outcome {
        switch key {
        case .character(let letter):
            guard text.count < Self.lengthLimit else { break }
            text.insert(letter, at: cursor)
            cursor += 1
        case .enter: return .line(removeLine())
        case .control("c"):
            _ = removeLine(keeps: false)
            return .cancelled
        case .control("d") where text.isEmpty: return .end
        case .control("d"), .delete: if cursor < text.count { text.remove(at: cursor) }
        case .backspace:
            guard cursor > 0 else { break }
            cursor -= 1
            text.remove(at: cursor)
        case .left, .control("b"): cursor = max(0, cursor - 1)
        case .right, .control("f"): cursor = min(text.count, cursor + 1)
        case .home, .control("a"): cursor = 0
        case .end, .control("e"): cursor = text.count
        case .control("k"): text.removeSubrange(cursor...)
        case .control("u"):
            text.removeSubrange(..<cursor)
            cursor = 0
        case .control("w"): removeWord()
        case .control("l"): return .clear
        case .up, .control("p"): recall(place - 1)
        case .down, .control("n"): recall(place + 1)
        case .tab: return tab(complete)
        default: break
        }
        return .edited
    }

    private mutating func removeLine(keeps: Bool = true) -> String {
        let line = String(text)
        if keeps, !line.allSatisfy(\.isWhitespace), history.last != line {
            history.append(line)
            if history.count > Self.historyLimit { history.removeFirst() }
        }
        text = []
        cursor = 0
        draft = []
        place = history.count
        return line
    }

    private mutating func removeWord() {
        let end = cursor
        while cursor > 0, text[cursor - 1].isWhitespace { cursor -= 1 }
        while cursor > 0, !text[cursor - 1].isWhitespace { cursor -= 1 }
        text.removeSubrange(cursor..<end)
    }

    private mutating func recall(_ wanted: Int) {
        guard (0...history.count).contains(wanted) else { return }
        if place == history.count { draft = text }
        place = wanted
        text = wanted == history.count ? draft : Array(history[wanted])
        cursor = text.count
    }

    private mutating func tab(_ complete: (String) -> (words: [String], replaced: Int)) -> Outcome {
        let (words, replaced) = complete(String(text[..<cursor]))
        guard let first = words.first, replaced <= cursor else { return .edited }
        let start = cursor - replaced
        if words.count == 1 {
            put(Array(first) + (cursor == text.count ? [" "] : []), from: start)
            return .edited
        }
        let common = words.dropFirst().reduce(first) { shared, word in
            String(zip(shared, word).prefix { $0.0 == $0.1 }.map(\.0))
        }
        if common.count > replaced {
            put(Array(common), from: start)
            return .edited
        }
        return .choices(words)
    }

    private mutating func put(_ letters: [Character], from start: Int) {
        text.replaceSubrange(start..<cursor, with: letters)
        cursor = start + letters.count
    }

    /// What the terminal shows: the prompt, the part of the line around the cursor, and the way back to it.
    func shown(prompt: String, columns: Int) -> String {
        let part = part(columns: columns - prompt.displayWidth)
        let back = String(text[cursor..<part.upperBound]).displayWidth
        return prompt + String(text[part]) + (back > 0 ? "\u{1B}[\(back)D" : "")
    }

    /// The part of the line around the cursor, with a mark where the cursor stands.
    func marked(_ mark: String, columns: Int) -> String {
        let part = part(columns: columns)
        return String(text[part.lowerBound..<cursor]) + mark + String(text[cursor..<part.upperBound])
    }

    /// What of the line fits into the columns, with one left for the cursor.
    private func part(columns: Int) -> Range<Int> {
        let space = max(8, columns - 1)
        var start = 0
        while String(text[start..<cursor]).displayWidth > space { start += 1 }
        var end = cursor
        while end < text.count, String(text[start...end]).displayWidth <= space { end += 1 }
        return start..<end
    }
}
