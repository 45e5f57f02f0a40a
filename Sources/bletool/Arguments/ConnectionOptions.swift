import ArgumentParser

/// How long a device is waited for.
struct ConnectionOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Give up after this many seconds; 0 waits without limit.", valueName: "seconds"))
    var connectTimeout = Seconds.connectTimeout

    @Flag(help: "If several devices have the given name, use the first one found.")
    var first = false

    /// How a device is looked for.
    var search: PeerSearch {
        PeerSearch(
            limit: connectTimeout.value == 0 ? nil : connectTimeout.duration, takesFirst: first)
    }
}

/// How a device is looked for.
struct PeerSearch: Sendable {
    /// `nil`: no limit.
    var limit: Duration?
    /// Whether to use the first of several devices with the name.
    var takesFirst = false
}

extension Seconds {
    /// Long enough for a device that advertises every ten seconds, short enough for a script.
    static let connectTimeout = Seconds(value: 30)

    private init(value: Double) { self.value = value }

    var defaultValueDescription: String { duration.secondsText }
}

extension Duration {
    /// The number of seconds, with a fraction only if there is one.
    var secondsText: String {
        let seconds = self / .seconds(1)
        return Int64(exactly: seconds).map(String.init) ?? String(seconds)
    }
}
