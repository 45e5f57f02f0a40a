import BLE
import BLEScripts

/// What the shell of `gatt` knows to complete.
struct ShellWords: Sendable {
    struct Verb: Sendable {
        var name: String
        var usage: String
        var purpose: String
        var takesTarget = false
        var options: [String] = []
    }

    static let forms = ["--text", "--uint8", "--uint16", "--uint32", "--int8", "--int16", "--int32"]

    static let verbs: [Verb] = [
        Verb(
            name: "discover", usage: "discover [--service UUID]", purpose: "list what the device offers",
            options: ["--service"]),
        Verb(
            name: "read", usage: "read TARGET… [--text | --uint16 …]", purpose: "read values", takesTarget: true,
            options: forms),
        Verb(
            name: "write", usage: "write TARGET VALUE [--command | --signed] [--text …]",
            purpose: "write a value, in hexadecimal",
            takesTarget: true, options: ["--command", "--signed"] + forms),
        Verb(
            name: "subscribe", usage: "subscribe TARGET… [--count N]", purpose: "print values as they come",
            takesTarget: true, options: ["--count", "--duration"]),
        Verb(name: "unsubscribe", usage: "unsubscribe TARGET…", purpose: "no longer print them", takesTarget: true),
        Verb(
            name: "wait", usage: "wait [--count N] [--duration S]", purpose: "wait for values",
            options: ["--count", "--duration"]),
        Verb(name: "info", usage: "info", purpose: "address, MTU, signal and security of the link"),
        Verb(name: "connect", usage: "connect", purpose: "connect again after the link has ended"),
        Verb(name: "disconnect", usage: "disconnect", purpose: "end the link"),
        Verb(name: "help", usage: "help", purpose: "this list"),
        Verb(name: "quit", usage: "quit", purpose: "end the link and the shell (also ^D)"),
    ]

    /// What `gatttool` and others call the same.
    static let otherNames = [
        "exit": "quit", "q": "quit", "?": "help", "primary": "discover", "characteristics": "discover",
        "char-desc": "discover",
        "ls": "discover", "list": "discover", "char-read-hnd": "read", "char-read-uuid": "read", "get": "read",
        "char-write-req": "write", "set": "write", "notify": "subscribe", "listen": "subscribe",
    ]

    private static let notes =
        "TARGET is a UUID or its name, SERVICE/UUID or 0xHANDLE. Tab completes, ↑ brings lines back, ^C cancels."

    /// What each verb is for, in so many columns: beside it, or below it where there is no room.
    static func help(columns: Int) -> String {
        let width = verbs.map(\.usage.count).max() ?? 0
        let isWide = verbs.allSatisfy { 4 + width + $0.purpose.displayWidth <= columns }
        var lines = verbs.flatMap { verb -> [String] in
            isWide
                ? ["  \(verb.usage.padded(to: width))  \(verb.purpose)"]
                : verb.usage.folded(to: columns, indent: 2, deeper: 4)
                    + verb.purpose.folded(to: columns, indent: 6, deeper: 6)
        }
        lines += notes.folded(to: columns, indent: 2, deeper: 2)
        return lines.joined(separator: "\n")
    }

    /// Names, UUIDs and handles of what was discovered.
    private(set) var targets: [String] = []

    init(targets: [String]) { self.targets = targets }

    init(_ contents: [ServiceContents] = []) {
        var names: [String] = []
        var numbers: [String] = []
        for characteristic in contents.flatMap(\.characteristics) {
            let uuid = characteristic.characteristic.uuid
            if let name = uuid.attributeName { names.append(name.contains(" ") ? "'\(name)'" : name) }
            numbers.append(uuid.description)
            numbers.append(Hexadecimal.number(characteristic.characteristic.valueHandle.rawValue, digits: 4))
        }
        var known: Set<String> = []
        targets = (names + numbers).filter { known.insert($0).inserted }
    }

    /// The words that may follow.
    /// - Parameter text: the line before the cursor.
    func completions(of text: String) -> (words: [String], replaced: Int) {
        let (before, word) = Self.split(text)
        let candidates: [String]
        if before.isEmpty {
            candidates = Self.verbs.map(\.name)
        } else {
            let verb = Self.verbs.first { $0.name == Self.otherNames[before[0]] ?? before[0] }
            candidates = word.hasPrefix("-") ? verb?.options ?? [] : verb?.takesTarget == true ? targets : []
        }
        let plain = Self.plain(word)
        return (candidates.filter { Self.plain($0).hasPrefix(plain) }, word.count)
    }

    private static func plain(_ word: String) -> String {
        word.lowercased().filter { $0 != "'" && $0 != "\"" }
    }

    /// The words that are whole, and the beginning of the last one with its quotation mark.
    private static func split(_ text: String) -> (before: [String], word: String) {
        var before: [String] = []
        var word = ""
        var quotation: Character?
        for letter in text {
            if let mark = quotation {
                if letter == mark { quotation = nil }
                word.append(letter)
            } else if letter == " " {
                if !word.isEmpty { before.append(word) }
                word = ""
            } else {
                if letter == "'" || letter == "\"" { quotation = letter }
                word.append(letter)
            }
        }
        return (before, word)
    }
}
