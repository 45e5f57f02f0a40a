import ArgumentParser
import BLEText

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
