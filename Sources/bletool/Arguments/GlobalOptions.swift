import ArgumentParser
import BLE
import BLECapture
import BLEVirtualTransports

/// The options of every command; allowed before and after its name.
struct GlobalOptions: ParsableArguments {
    enum OwnAddressKind: String, CaseIterable, ExpressibleByArgument {
        case `public`
        case `static`
        case resolvable
        case nonResolvable = "non-resolvable"
    }

    @Option(
        name: [.short, .long, .customShort("i")],
        help: ArgumentHelp(
            "How to reach the controller (default: the first adapter).",
            discussion:
                "hciN or user:N, raw:N, unix:PATH, tcp:HOST:PORT, uart:DEVICE@BAUD[,h5][,flow=none][,chip=NAME], usb[:VID:PID or :BUS-PORT], sim, sim:PRESET, sim:FILE, replay:FILE, bled or bled:SOCKET. Presets: "
                + VirtualTransports.presetNames.joined(separator: ", "),
            valueName: "transport"),
        completion: .list([
            "user:0", "raw:0", "unix:", "tcp:", "uart:", "usb", "usb:", "sim", "sim:", "replay:", "bled",
        ]),
        transform: Self.transport)
    var transport: TransportAddress?

    @Flag(name: .long, help: "Print one JSON object per line and nothing else to standard output.")
    var json = false

    @Option(
        "Write all HCI traffic to a file: .btsnoop, .pcap, .pcapng or .pklg.", "file",
        name: [.customShort("w"), .customLong("capture")],
        completion: .file(extensions: ["btsnoop", "pcap", "pcapng", "pklg"]))
    var capture: String?

    @Option("Write a recording for ‘bletool replay’: NAME.btsnoop and NAME.inputs.jsonl. It contains keys.", "name")
    var record: String?

    @Option(
        "The folder for addresses, bonds and caches; default $XDG_STATE_HOME/jelling.", "dir", completion: .directory)
    var state: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The kind of address to use on the air.",
            discussion: """
                The default is the controller's public address, or a random static address that is kept. A resolvable \
                address changes every 15 minutes; only bonded devices can resolve it.
                """,
            valueName: "kind"))
    var ownAddress: OwnAddressKind?

    /// An adapter may be called as `hciconfig` does, or only by its number.
    static func transport(_ text: String) throws -> TransportAddress {
        let number = text.hasPrefix("hci") ? text.dropFirst(3) : text[...]
        let isNumber = !number.isEmpty && number.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber else {
            do throws(TransportError) { return try TransportAddress(text) } catch {
                if case .invalidAddress(_, let reason?) = error { throw ValidationError(reason) }
                throw ValidationError("use one of: hciN, " + TransportAddress.forms.joined(separator: ", "))
            }
        }
        guard UInt16(number) != nil else { throw ValidationError("the kernel's adapters are hci0 to hci65535") }
        return try TransportAddress("user:\(number)")
    }

    func validate() throws {
        if ownAddress == .resolvable, case .rawChannel = transport {
            throw ValidationError("The kernel chooses the address on raw:; use the user channel (-t user:N).")
        }
        for (option, value, what) in [("--record", record, "recording"), ("--state", state, "folder")]
        where value?.isEmpty == true {
            throw ValidationError("The value of \(option) is empty: name the \(what), or leave the option out.")
        }
        if let capture, CaptureFormat(ending: capture) == nil {
            throw ValidationError(
                "The ending of ‘\(capture)’ is not that of a capture format; use .btsnoop, .pcap, .pcapng or .pklg.")
        }
    }
}
