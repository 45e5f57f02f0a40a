import ArgumentParser
import BLEText

/// Puts the arguments into the order that the parser expects.
///
/// Global options may precede the command (`bletool -t sim --json lescan`), and the peer may precede the verb (`gatt
/// PEER read TARGET`). The parser requires both after the command that declares them.
enum ArgumentOrder {
    static let gattVerbs = ["discover", "read", "write", "subscribe", "script", "shell"]
    private static let shortOptionsWithValue = ["-t", "-i", "-w"]
    private static let optionsWithValue =
        shortOptionsWithValue + ["--transport", "--capture", "--record", "--state", "--own-address"]
    private static let gattOptionsWithValue =
        optionsWithValue + [
            "--connect-timeout", "--phys", "--link-pace", "--parameter-policy", "--min-key-size", "--eatt", "--service",
            "--duration", "--count", "--profile",
        ]
    private static let flags = ["--json"]

    /// - Parameter isInteractive: whether somebody at a terminal can type what to do with a device.
    /// - Throws: `UnknownCommand` when a command does not exist, and when a peer is named and not what to do with it.
    static func arranged(_ arguments: [String], isInteractive: Bool = false) throws -> [String] {
        // Wireshark runs a link to this program with options only.
        let isExtcap = arguments.first != "extcap" && arguments.contains { $0.hasPrefix("--extcap-") }
        let arguments = isExtcap ? ["extcap"] + arguments : arguments
        var rest = arguments[...]
        var leading: [String] = []
        while let argument = rest.first, argument.hasPrefix("-") {
            if optionsWithValue.contains(argument), rest.count > 1 {
                leading += rest.prefix(2)
                rest = rest.dropFirst(2)
            } else if let short = shortOptionsWithValue.first(where: { argument.hasPrefix($0) && argument != $0 }) {
                leading += [short, String(argument.dropFirst(short.count))]
                rest = rest.dropFirst()
            } else if flags.contains(argument) || optionsWithValue.contains(where: { argument.hasPrefix($0 + "=") }) {
                leading.append(argument)
                rest = rest.dropFirst()
            } else {
                return arguments  // --help, --version, or a mistake: the parser has the words for it
            }
        }
        guard let command = rest.popFirst() else { return arguments }
        try checkCommand(command == "help" ? rest : [command])
        switch command {
        case "gatt": return try gatt(Array(rest), leading: leading, isInteractive)
        case "ad", "alerts", "app", "l2cap":
            guard let verb = rest.first, !verb.hasPrefix("-") else { return [command] + leading + rest }
            try checkCommand([command, verb])
            return [command, verb] + leading + rest.dropFirst()
        case "lecup":
            // There `-t` is hcitool's supervision timeout.
            return [command] + leading + rest.map { $0 == "-t" ? "--timeout" : $0 }
        case "extcap":
            // There `--capture` has no value.
            return [command] + leading + rest.map { $0 == "--capture" ? "--extcap-capture" : $0 }
        case "help": return [command] + rest
        default: return [command] + leading + rest
        }
    }

    /// - Parameter path: a command and a subcommand.
    private static func checkCommand(_ path: ArraySlice<String>) throws {
        var group: (name: String, type: any ParsableCommand.Type)?
        for word in path where !word.hasPrefix("-") {
            let found = group.map { CommandTable.command(word, of: $0.name) } ?? CommandTable.command(word)
            guard let found else { throw UnknownCommand(word, in: group?.type ?? BLETool.self) }
            group = (word, found)
        }
    }

    private static func gatt(
        _ arguments: [String], leading: [String], _ isInteractive: Bool
    ) throws -> [String] {
        var positions: [Int] = []
        var index = 0
        while index < arguments.count, positions.count < 2 {
            let argument = arguments[index]
            if gattOptionsWithValue.contains(argument) {
                index += 1
            } else if !argument.hasPrefix("-") {
                positions.append(index)
            }
            index += 1
        }
        // The second word is the verb; a device may be called as a verb is.
        for position in positions.reversed() where gattVerbs.contains(arguments[position]) {
            var others = arguments
            let verb = others.remove(at: position)
            return ["gatt", verb] + leading + others
        }
        let verbs = "discover, read, write, subscribe, script and shell"
        let words = positions.map { arguments[$0] }
        if words.count == 2 {
            throw UnknownCommand(
                "\(words[1].quoted()) is not one of \(verbs)\(Suggestion(for: words[1], among: gattVerbs).text)")
        }
        if let peer = words.first, peer != "help", !arguments.contains(where: { $0 == "-h" || $0 == "--help" }) {
            if isInteractive { return ["gatt", "shell"] + leading + arguments }
            throw UnknownCommand(
                "without a terminal, add a verb for \(peer.quoted()): one of \(verbs); see ‘bletool gatt --help’")
        }
        return ["gatt"] + arguments
    }
}
