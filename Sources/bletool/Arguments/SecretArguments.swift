import BLEStateFiles

/// Which arguments are secrets, and their removal from what other users see of this program.
enum SecretArguments {
    /// The options whose values are secrets; each has a second form, `--…-file`, whose value is not.
    static let options = ["--key", "--passkey", "--local", "--peer"]
    /// The command whose short options are such, too.
    static let command = "lerladd"
    private static let shortOptions = ["-l", "-p"]

    /// Hides the secrets of the running program in `/proc/PID/cmdline`.
    /// - Parameter arguments: those of the program, its name first.
    static func hide(_ arguments: [String]) {
        for place in places(arguments) { VisibleArguments.hide(argument: place.number, from: place.offset) }
    }

    /// Where secrets are: the number of an argument, and the octet of it where the secret begins.
    ///
    /// The parser has not run yet, so that a mistyped option keeps its secret, too: what begins like such an option is one.
    static func places(_ arguments: [String]) -> [(number: Int, offset: Int)] {
        var places: [(number: Int, offset: Int)] = []
        let hasShortOptions = arguments.contains(command)
        for (number, argument) in arguments.enumerated().dropFirst() {
            let name = argument.prefix { $0 != "=" }
            let value = name.utf8.count < argument.utf8.count ? name.utf8.count + 1 : nil
            if hasShortOptions, let option = shortOptions.first(where: { argument.hasPrefix($0) }) {
                places.append(argument == option ? (number + 1, 0) : (number, option.utf8.count))
            } else if options.contains(where: { name.hasPrefix($0) }), !name.hasSuffix("-file") {
                places.append(value.map { (number, $0) } ?? (number + 1, 0))
            }
        }
        return places.filter { $0.number < arguments.count }
    }
}
