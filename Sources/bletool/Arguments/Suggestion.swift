import ArgumentParser
import BLEText

/// The word that somebody may have meant.
struct Suggestion {
    let word: String?

    init(for mistake: String, among words: [String]) {
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
    var text: String { word.map { "; did you mean ‘\($0)’?" } ?? "" }

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

/// A command that does not exist.
struct UnknownCommand: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// What other tools call what a command of ours does.
    private static let others = [
        "devices": "dev", "adapters": "dev", "list": "dev", "connect": "gatt PEER discover",
        "discover": "gatt PEER discover",
        "primary": "gatt PEER discover", "characteristics": "gatt PEER discover", "read": "gatt PEER read",
        "char-read": "gatt PEER read", "char-read-hnd": "gatt PEER read", "write": "gatt PEER write",
        "char-write-req": "gatt PEER write", "subscribe": "gatt PEER subscribe", "notify": "gatt PEER subscribe",
        "listen": "gatt PEER subscribe", "up": "power on", "down": "power off", "btmon": "monitor", "dump": "monitor",
        "sniff": "monitor", "peripheral": "serve", "paired-devices": "bonds", "remove": "unpair", "show": "info",
    ]

    init(_ word: String, in group: any ParsableCommand.Type) {
        let names = group.configuration.subcommands.flatMap { command in
            (command.configuration.commandName.map { [$0] } ?? []) + command.configuration.aliases
        }
        if group == BLETool.self, let other = Self.others[word.lowercased()] {
            description = "\(word.quoted()) is not a command; ‘bletool \(other)’ does that"
        } else {
            let suggestion = Suggestion(for: word, among: names).text
            let name = group == BLETool.self ? nil : group.configuration.commandName
            let help = "; see ‘bletool \(name.map { $0 + " " } ?? "")--help’"
            description =
                "\(word.quoted()) is not a command\(name.map { " of " + $0 } ?? "")"
                + (suggestion.isEmpty ? help : suggestion)
        }
    }
}
