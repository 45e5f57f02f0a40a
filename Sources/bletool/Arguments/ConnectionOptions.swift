import ArgumentParser
import BLE
import BLEText

/// How long a device is waited for.
struct ConnectionOptions: ParsableArguments {
    /// Under which help lists what concerns the link, behind the options of the command itself.
    static let title = "Options of the link"

    @Option("Give up after this many seconds; 0 waits without limit (default: 30).", "seconds", parsing: .unconditional)
    var connectTimeout = Seconds.connectTimeout

    @Flag(help: "If several devices have the given name, use the first one found.")
    var first = false

    @Option(
        "The PHYs on which the link may begin, such as 1m,2m,coded; by default 1m. A device that advertises on "
            + "LE Coded needs coded.", "list")
    var phys: PHYList?

    @Option(
        name: .customLong("link-pace"),
        help: ArgumentHelp(
            "How the connection parameters follow what runs on the link; by default they stay as the link was made.",
            valueName: "pace"))
    var pace: PaceArgument?

    @Option(
        "How to answer a device that asks for other connection parameters: accept (default), reject, or bounds in "
            + "ms such as 15-50,latency=4,timeout=2000-6000.", "policy")
    var parameterPolicy: ParameterPolicyArgument?

    /// How a device is looked for.
    var search: PeerSearch {
        PeerSearch(
            limit: connectTimeout.value == 0 ? nil : connectTimeout.duration, takesFirst: first, phys: phys?.phys,
            pace: pace?.pace, parameterPolicy: parameterPolicy?.policy)
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
struct PHYList: ExplainedArgument, Equatable, Sendable {
    var phys: PHYSet

    private static let names: KeyValuePairs<String, PHYSet> = ["1m": .le1M, "2m": .le2M, "coded": .leCoded]

    init?(argument: String) {
        phys = []
        for name in Self.parts(of: argument) {
            guard let phy = Self.names.first(where: { $0.key == name }) else { return nil }
            phys.formUnion(phy.value)
        }
    }

    static func mistake(in text: String) -> String {
        let wrong = parts(of: text).first { name in !names.contains { $0.key == name } } ?? ""
        return "‘\(wrong.printable)’ is not a PHY; use 1m, 2m and coded, with commas between them"
    }

    private static func parts(of text: String) -> [String] {
        text.lowercased().split(separator: ",", omittingEmptySubsequences: false).map(String.init)
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
    /// `nil`: whatever the device asks for is accepted.
    var parameterPolicy: ParameterPolicy?
}

extension Seconds {
    /// Long enough for a device that advertises every ten seconds, short enough for a script.
    static let connectTimeout = Seconds(value: 30)

    private init(value: Double) { self.value = value }
}

extension Duration {
    /// The number of seconds, with a fraction only if there is one.
    var secondsText: String {
        let seconds = self / .seconds(1)
        return Int64(exactly: seconds).map(String.init) ?? String(seconds)
    }
}
