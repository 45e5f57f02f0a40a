/// The word that somebody may have meant.
package struct Suggestion {
    /// `nil` if none is near.
    package let word: String?

    package init(for mistake: String, among words: [String]) {
        let mistake = mistake.lowercased()
        let count = mistake.split(separator: " ").count
        let distances = words.map { word in
            if mistake.count >= 3, word.lowercased().hasPrefix(mistake) { return (word: word, distance: 1) }
            let whole = Self.distance(mistake, word.lowercased())
            // Of a name of several words, the first ones may be all that was typed.
            let start = word.lowercased().split(separator: " ").prefix(count).joined(separator: " ")
            let isStart = start.count >= 5 && start.count < word.count
            return (word: word, distance: isStart ? min(whole, Self.distance(mistake, start) + 1) : whole)
        }
        let nearest = distances.min { $0.distance < $1.distance }
        // Half of a short word, or three letters of a long one, may be wrong.
        word = nearest.flatMap { $0.distance <= min(3, max(1, $0.word.count / 2)) ? $0.word : nil }
    }

    /// A question to put behind a message.
    package var text: String { word.map { "; did you mean ‘\($0)’?" } ?? "" }

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
