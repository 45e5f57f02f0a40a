import BLEText
import Glibc

/// The parser's texts in the form of this program.
enum HelpText {
    private static let commonTitle = "OPTIONS OF EVERY COMMAND:"
    private static let linkTitle = ConnectionOptions.title.uppercased() + ":"
    private static let allOption = "--help-all"

    /// What the user typed, with `--help-all` as the parser knows it.
    static func parserArguments(_ arguments: [String]) -> (arguments: [String], wantsAll: Bool) {
        guard let end = arguments.firstIndex(of: "--") ?? Optional(arguments.endIndex),
            arguments[..<end].contains(allOption)
        else { return (arguments, false) }
        return (arguments.map { $0 == allOption ? "--help" : $0 }, true)
    }

    /// Help with a command's own options first. Those of every command follow where they are asked for, and in the help
    /// of the program itself.
    static func arranged(_ help: String, showsAll: Bool, columns: Int = columns) -> String {
        var help = withFoldedUsage(withoutCommonUsage(help), columns)
        while help.hasSuffix("\n") { help.removeLast() }
        var paragraphs = help.split(separator: "\n\n", omittingEmptySubsequences: false).map(String.init)
        // The parser has titled groups before the options.
        if let place = paragraphs.firstIndex(where: { $0.hasPrefix(linkTitle) }),
            let options = paragraphs.lastIndex(where: { $0.hasPrefix("OPTIONS:") }), place < options
        {
            paragraphs.insert(paragraphs.remove(at: place), at: options)
        }
        guard let place = paragraphs.firstIndex(where: { $0.hasPrefix(commonTitle) }) else {
            return paragraphs.joined(separator: "\n\n")
        }
        let common = paragraphs.remove(at: place)
        let isRoot = paragraphs.contains { $0.contains("SUBCOMMANDS:") }
        if showsAll || isRoot {
            // Behind everything but the parser's last word.
            let isLastWord = paragraphs.last?.trimmedStart.hasPrefix("See ") ?? false
            let end = paragraphs.count - (isLastWord ? 1 : 0)
            paragraphs.insert(common, at: end)
        } else if let options = paragraphs.lastIndex(where: { $0.hasPrefix("OPTIONS:") }) {
            let indent = 26
            let lines = "Show the options of every command, too.".folded(to: columns, indent: indent, deeper: indent)
            paragraphs[options] +=
                "\n" + "  --help-all".padded(to: indent) + lines.joined(separator: "\n").dropFirst(indent)
        }
        return paragraphs.joined(separator: "\n\n")
    }

    /// As many as the parser assumes.
    private static var columns: Int {
        if let text = unsafe getenv("COLUMNS"), let count = Int(unsafe String(cString: text)), count > 0 {
            return count
        }
        return TerminalMode.size.columns
    }

    /// The parser folds everything but the usage.
    private static func withFoldedUsage(_ text: String, _ columns: Int) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).flatMap { line in
            let isUsage = ["USAGE: ", "Usage: "].contains { line.hasPrefix($0) }
            return isUsage ? line.folded(to: columns, indent: 0, deeper: 7) : [line]
        }.joined(separator: "\n")
    }

    /// A usage line that names a command's own options only.
    private static func withoutCommonUsage(_ text: String) -> String {
        let common =
            " [--transport <transport>] [--json] [--capture <file>] [--record <name>] [--state <dir>] [--own-address <kind>]"
        guard let range = text.firstRange(of: common) else { return text }
        return text.replacingSubrange(range)
    }

    /// A complaint of the parser under the prefix that all errors have.
    /// - Parameters:
    ///   - message: what went wrong, then how the command is used.
    ///   - arguments: what was typed.
    static func complaint(_ message: String, of arguments: [String] = []) -> String {
        let prefix = "Error: "
        guard message.hasPrefix(prefix) else { return message }
        let message = withFoldedUsage(withoutCommonUsage(message), columns)
        var lines = message.dropFirst(prefix.count).split(separator: "\n", omittingEmptySubsequences: false).map(
            String.init)
        var first = lines[0]
        if first.hasSuffix("."), !first.hasSuffix("..") { first.removeLast() }
        // A word, and no abbreviation.
        if let letter = first.first, letter.isUppercase,
            first.dropFirst().first.map({ $0.isLowercase || $0 == " " }) == true
        {
            first = letter.lowercased() + first.dropFirst()
        }
        let negative = arguments.first { $0.hasPrefix("-") && $0.dropFirst().allSatisfy(\.isNumber) && $0.count > 1 }
        if first.hasPrefix("missing expected argument"), let negative {
            first += "; ‘\(negative)’ is read as an option"
        }
        lines[0] = "bletool: error: " + first
        return lines.joined(separator: "\n")
    }

    /// A complaint in a safe form for a terminal: it may quote a name that came over the air. Its lines, and the spaces
    /// that arrange them, stay.
    static func shown(_ complaint: String) -> String {
        var sieve = TextSieve()
        var text = ""
        for scalar in complaint.unicodeScalars {
            if scalar == "\n" || sieve.passes(scalar) {
                text.unicodeScalars.append(scalar)
            } else {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return text
    }

    /// The first line of a complaint, without its prefix.
    static func cause(of complaint: String) -> String {
        let line = complaint.prefix { $0 != "\n" }
        let prefix = "bletool: error: "
        return String(line.hasPrefix(prefix) ? line.dropFirst(prefix.count) : line)
    }
}

extension String {
    fileprivate func replacingSubrange(_ range: Range<String.Index>) -> String {
        String(self[..<range.lowerBound] + self[range.upperBound...])
    }

    fileprivate var trimmedStart: Substring { drop { $0 == " " || $0 == "\n" } }
}
