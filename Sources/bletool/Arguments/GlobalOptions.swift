import ArgumentParser
import BLE
import BLECapture

/// The options of every command; they may stand before and behind its name.
struct GlobalOptions: ParsableArguments {
    enum OwnAddressKind: String, CaseIterable, ExpressibleByArgument {
        case `public`
        case `static`
        case resolvable
        case nonResolvable = "non-resolvable"
    }

    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            "The way to the controller; without it: the first adapter.",
            discussion:
                "user:N, raw:N, unix:PATH, tcp:HOST:PORT, uart:DEVICE@BAUD, sim, sim:SCENARIO or replay:RECORDING",
            valueName: "transport"),
        completion: .list(["user:0", "raw:0", "unix:", "tcp:", "uart:", "sim", "sim:", "replay:"]),
        transform: { try TransportAddress($0) })
    var transport: TransportAddress?

    @Flag(name: .long, help: "Print one JSON object a line, and nothing else on standard output.")
    var json = false

    @Option(
        name: [.customShort("w"), .customLong("capture")],
        help: ArgumentHelp(
            "Write all that crosses HCI to a file: .btsnoop, .pcap, .pcapng or .pklg.", valueName: "file"),
        completion: .file(extensions: ["btsnoop", "pcap", "pcapng", "pklg"]))
    var capture: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Write a recording that ‘bletool replay’ repeats: NAME.btsnoop and NAME.inputs.jsonl. It holds keys.",
            valueName: "name"))
    var record: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Where addresses, bonds and caches are kept; default $XDG_STATE_HOME/jelling.", valueName: "dir"),
        completion: .directory)
    var state: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The address that is shown on the air.",
            discussion: """
                By default public where the controller has one, else a random static address that is kept. A resolvable \
                one changes every 15 minutes, and only bonded devices know whose it is.
                """,
            valueName: "kind"))
    var ownAddress: OwnAddressKind?

    func validate() throws {
        if ownAddress == .resolvable, case .rawChannel = transport {
            throw ValidationError("On raw: the kernel chooses the address; take the user channel (-t user:N).")
        }
        if let capture, CaptureFormat(ending: capture) == nil {
            throw ValidationError(
                "The ending of ‘\(capture)’ names no capture format; take .btsnoop, .pcap, .pcapng or .pklg.")
        }
    }
}
