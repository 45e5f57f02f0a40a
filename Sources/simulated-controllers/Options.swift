import BLEPackets
import BLESimulator
import BLEText
import BLETransport
import BLEVirtualTransports

/// The options of the command line.
struct Options {
    /// As `bletool --version` prints it.
    static let version = programVersion

    static let usage = """
        simulated-controllers [OPTION]… unix:PATH|unix:@NAME|tcp:HOST:PORT|pty:PATH[,h5]…
        simulated-controllers --vhci [OPTION]… [SCENARIO]

        N simulated LE controllers on one air, each on an endpoint, in real time: with H4, or with H5, the three-wire
        transport. pty:PATH is a serial port: a link at PATH to the device of a pseudo-terminal. Prints one line
        `READY {"endpoints": […], "addresses": […]}` when every endpoint listens (TCP port 0 picks a free one, and READY
        gives it). Stops on SIGTERM or SIGINT.

        One client at a time has an endpoint; another is refused meanwhile. Each finds a controller as after power-on.
        When it leaves, its links fall silent, and their peers see the supervision timeout. The controller of a pty stays
        as its host leaves it.

          --vhci          a controller for the kernel of this machine, through /dev/vhci: READY names it hciN; given
                          twice, two controllers. With them come the devices of SCENARIO, a file as for sim:FILE, or
                          those of sim without one; the first controller is that of the scenario
          --preset NAME   controllers of a real family, with its faults; given twice, the first controller is of the
                          first family, and all others of the second; `none` is a correct one. Families:
                          \(presetNames)
          --legacy        controllers of Core 4.2: no extended advertising, no other PHY
          --acl-len N     octets of data in one ACL packet from the host, 27 to 65535 (251)
          --acl-num N     ACL packets that a controller holds, 1 to 255 (8)
          --latency N     microseconds from a packet at the controller to one at the host, 0 to 10000000 (100)
        """

    /// In lines of the width of the usage.
    private static var presetNames: String {
        let indent = String(repeating: " ", count: 18)
        var lines = [""]
        for name in VirtualTransports.presetNames {
            if indent.count + lines[lines.count - 1].count + name.count > 110 { lines.append("") }
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + name + ","
        }
        return String(lines.joined(separator: "\n" + indent).dropLast())
    }

    var endpoints: [Endpoint] = []
    /// Of the controllers in their order, the last for those after it, too; `nil` is a correct one.
    private var presets: [SimulatedControllerPreset?] = []
    /// The path of a scenario.
    var scenario: String?
    var isLegacy = false
    var aclDataLength: UInt16?
    var aclDataCount: UInt8?
    var latencyMicroseconds: Int64?

    /// Whether there are devices beside the controllers.
    var hasDevices: Bool { endpoints.contains(.kernel) }

    /// - Throws: `UsageError`, which says what to write.
    init(_ arguments: some Sequence<String>) throws(UsageError) {
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--vhci": endpoints.append(.kernel)
            case "--preset":
                let known = VirtualTransports.presetNames + ["none"]
                guard let name = rest.popFirst() else {
                    throw UsageError("--preset needs a name: \(known.joined(separator: ", "))")
                }
                let preset = SimulatedControllerPreset(name: name)
                guard preset != nil || name == "none" else {
                    let near = Suggestion(for: name, among: known)
                    throw UsageError(
                        "there is no preset ‘\(name)’" + (near.word == nil ? "; presets: " : "\(near.text) Presets: ")
                            + known.joined(separator: ", "))
                }
                presets.append(preset)
            case "--legacy": isLegacy = true
            case "--acl-len": aclDataLength = try Self.number(after: argument, in: &rest, 27...UInt16.max)
            case "--acl-num": aclDataCount = try Self.number(after: argument, in: &rest, 1...UInt8.max)
            case "--latency": latencyMicroseconds = try Self.number(after: argument, in: &rest, 0...10_000_000)
            default:
                if let endpoint = try Endpoint(argument) {
                    endpoints.append(endpoint)
                } else if argument.hasPrefix("-") {
                    throw UsageError(
                        "there is no option ‘\(argument)’\(Suggestion(for: argument, among: Self.names).text)")
                } else if let scenario {
                    throw UsageError("‘\(argument)’ is one scenario too many: ‘\(scenario)’ is there already")
                } else {
                    scenario = argument
                }
            }
        }
        if let scenario, !hasDevices {
            throw UsageError(
                scenario.contains(":")
                    ? "‘\(scenario)’ is no endpoint: \(Endpoint.forms)"
                    : "‘\(scenario)’ is no endpoint (\(Endpoint.forms)), and a scenario needs --vhci")
        }
        guard !endpoints.isEmpty else { throw UsageError("name an endpoint: \(Endpoint.forms), or --vhci") }
        // The last octet of the controllers' addresses counts them.
        guard endpoints.count <= 255 else {
            throw UsageError("\(endpoints.count) endpoints are too many: at most 255 are possible")
        }
    }

    private static let names = [
        "--vhci", "--preset", "--legacy", "--acl-len", "--acl-num", "--latency", "--help", "--version",
    ]

    /// The family of the controller with this index.
    func preset(_ index: Int) -> SimulatedControllerPreset? {
        presets.indices.contains(index) ? presets[index] : presets.last ?? nil
    }

    /// The controller of the endpoint with this index.
    func controller(_ index: Int) -> SimulatedControllerConfiguration {
        let address = DeviceAddress(value: 0x00AA_0100_0001 + UInt64(index), kind: .public)
        var controller: SimulatedControllerConfiguration =
            preset(index)?.configuration(unit: UInt8(truncatingIfNeeded: index + 1))
            ?? (isLegacy ? .core42(publicAddress: address) : .init(publicAddress: address))
        if let aclDataLength { controller.aclDataLength = aclDataLength }
        if let aclDataCount { controller.aclDataCount = aclDataCount }
        if let latencyMicroseconds { controller.latencyMicroseconds = latencyMicroseconds }
        return controller
    }

    private static func number<Value: FixedWidthInteger>(
        after option: String, in rest: inout ArraySlice<String>, _ range: ClosedRange<Value>
    ) throws(UsageError) -> Value {
        guard let text = rest.popFirst(), let value = Value(text), range ~= value else {
            throw UsageError("\(option) is a number, \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}

/// An invalid argument.
struct UsageError: Error {
    /// What is wrong, and what to write.
    let message: String

    init(_ message: String) { self.message = message }
}
