/// The word that somebody may have meant.
package struct Suggestion {
    /// `nil` if none is near.
    package let word: String?

    package init(for mistake: String, among words: [String]) {
        word =
            words.map { (word: $0, distance: Self.distance(from: mistake, to: $0)) }
            .filter { Self.isNear($0.word, at: $0.distance) }.min { $0.distance < $1.distance }?.word
    }

    /// Half of a short word, or three letters of a long one, may be wrong.
    static func isNear(_ word: String, at distance: Int) -> Bool { distance <= min(3, max(1, word.count / 2)) }

    /// A question to put behind a message; the word is foreign text, perhaps.
    package var text: String { word.map { "; did you mean \($0.quoted())?" } ?? "" }

    /// How far what was written is from a word, in letters; case does not matter, nor does what stands behind 64 letters.
    static func distance(from mistake: String, to word: String) -> Int {
        let (mistake, word) = (String(mistake.prefix(64)).lowercased(), String(word.prefix(64)).lowercased())
        if mistake.count >= 3, word.hasPrefix(mistake) { return 1 }
        let whole = distance(mistake, word)
        // Of a name of several words, the first ones may be all that was typed.
        let start = word.split(separator: " ").prefix(mistake.split(separator: " ").count).joined(separator: " ")
        let isStart = start.count >= 5 && start.count < word.count
        return isStart ? min(whole, distance(mistake, start) + 1) : whole
    }

    /// Letters to insert, remove, replace, or exchange with their neighbours.
    private static func distance(_ first: String, _ second: String) -> Int {
        let (first, second) = (Array(first), Array(second))
        var before = [Int]()
        var last = Array(0...second.count)
        for (row, letter) in first.enumerated() {
            var current = [row + 1]
            for (column, other) in second.enumerated() {
                var least = min(last[column + 1] + 1, current[column] + 1, last[column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == second[column - 1], first[row - 1] == other {
                    least = min(least, before[column - 1] + 1)
                }
                current.append(least)
            }
            (before, last) = (last, current)
        }
        return last[second.count]
    }
}
