import ArgumentParser
import BLE

/// How long a device is waited for.
struct ConnectionOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Give up after this many seconds; 0 waits without limit.", valueName: "seconds"))
    var connectTimeout = Seconds.connectTimeout

    @Flag(help: "If several devices have the given name, use the first one found.")
    var first = false

    @Option(
        help: ArgumentHelp(
            "The PHYs on which the link may begin, such as 1m,2m,coded; by default 1m. A device that advertises on "
                + "LE Coded needs coded.", valueName: "list"))
    var phys: PHYList?

    @Option(
        name: .customLong("link-pace"),
        help: "How the connection parameters follow what runs on the link; by default they stay as the link was made.")
    var pace: PaceArgument?

    /// How a device is looked for.
    var search: PeerSearch {
        PeerSearch(
            limit: connectTimeout.value == 0 ? nil : connectTimeout.duration, takesFirst: first, phys: phys?.phys,
            pace: pace?.pace)
    }
}

/// The names of ready paces.
enum PaceArgument: String, ExpressibleByArgument, CaseIterable {
    case lowPower = "low-power"
    case balanced, throughput

    var pace: LinkPace {
        switch self {
        case .lowPower: .lowPower
        case .balanced: .balanced
        case .throughput: .throughput
        }
    }
}

/// Names of PHYs, with commas between them.
struct PHYList: ExpressibleByArgument, Equatable, Sendable {
    var phys: PHYSet

    init?(argument: String) {
        phys = []
        for name in argument.lowercased().split(separator: ",", omittingEmptySubsequences: false) {
            switch name {
            case "1m": phys.insert(.le1M)
            case "2m": phys.insert(.le2M)
            case "coded": phys.insert(.leCoded)
            default: return nil
            }
        }
    }
}

/// How a device is looked for.
struct PeerSearch: Sendable {
    /// `nil`: no limit.
    var limit: Duration?
    /// Whether to use the first of several devices with the name.
    var takesFirst = false
    /// `nil`: LE 1M.
    var phys: PHYSet?
    /// `nil`: the parameters stay.
    var pace: LinkPace?
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
