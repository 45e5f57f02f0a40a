import BLEText

/// Commands as a person types them into a shell.
struct CommandText: Equatable, Sendable {
    /// The program with the options that were given to it, such as `bletool -t sim`.
    var program = ["bletool"]

    func line(_ words: [String]) -> String { (program + words).map(Self.quoted).joined(separator: " ") }

    /// The word as a shell takes it.
    private static func quoted(_ word: String) -> String {
        let plain = word.utf8.allSatisfy { octet in
            switch octet {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: "-_./:,=@%+".utf8.contains(octet)
            }
        }
        if plain, !word.isEmpty { return word }
        let inner = word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
        return "'\(inner)'".safeForTerminal
    }
}

extension Session {
    /// How a command begins that does the same on the same controller.
    var commandText: CommandText {
        var text = CommandText()
        if let transport { text.program += ["-t", transport.description] }
        if hasOwnState { text.program += ["--state", state.path] }
        return text
    }
}
