import ArgumentParser
import BLE
import BLECapture
import BLEDaemonClient
import BLETransport
import Glibc

struct ExtcapCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "extcap",
        abstract: "Serve as an interface of Wireshark: live traffic of bled and of the kernel's adapters.",
        discussion: """
            Wireshark runs this by itself, through a link to bletool in its folder for such programs; packages install \
            one. ‘tshark -G folders’ names the folder (Extcap path). For one user, where Wireshark is 4.2 or newer:

              mkdir -p ~/.local/lib/wireshark/extcap
              ln -s "$(command -v bletool)" ~/.local/lib/wireshark/extcap/jelling-bletool
              tshark -i jelling-bled

            The interfaces are bled, for its operators, and the kernel's adapters, which require root or CAP_NET_RAW. \
            JELLING_TRANSPORT=bled:SOCKET names another daemon.
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Flag(help: "List the interfaces.") var extcapInterfaces = false
    @Option("The version of Wireshark, which makes no difference.", "version") var extcapVersion: String?
    @Option("The interface.", "name") var extcapInterface: String?
    @Flag(help: "List the link types of the interface.") var extcapDlts = false
    @Flag(help: "List the options of the interface, of which there are none.") var extcapConfig = false
    @Option("A capture filter, of which there are none.", "filter") var extcapCaptureFilter: String?
    @Option("Reload the values of an option, of which there are none.", "option") var extcapReloadOption: String?
    @Flag(help: "Clean up after a capture, of which nothing is left.") var extcapCleanupPostkill = false
    /// `--capture`, which is another option elsewhere.
    @Flag(name: .customLong("extcap-capture"), help: .private) var captures = false
    @Option("Where captured packets go.", "pipe") var fifo: String?

    /// How records look like in the pipe, with their adapters: link type 254.
    private static let link = CaptureLink.linuxMonitor
    private static let bled = "jelling-bled"
    private static let kernel = "jelling-hci"

    func run(in session: Session) async throws {
        let console = session.console
        if extcapCleanupPostkill || extcapReloadOption != nil { return }
        if extcapInterfaces { return console.printHelp(interfaces.joined(separator: "\n")) }
        guard let extcapInterface else {
            throw Failure("Wireshark runs this command: see ‘bletool extcap --help’", status: .usage)
        }
        let source = try source(extcapInterface)
        if captures { return try await capture(source, in: session) }
        if extcapDlts {
            return console.printHelp(
                "dlt {number=\(Self.link.rawValue)}{name=BLUETOOTH_LINUX_MONITOR}{display=Bluetooth Linux Monitor}")
        }
        // What is printed says what is wrong with a filter.
        if extcapCaptureFilter?.isEmpty == false { console.printHelp(Self.noFilter) }
    }

    private static let noFilter = "there are no capture filters here: use a display filter"

    // MARK: Interfaces

    private enum Source {
        case daemon
        case kernel(adapter: UInt16?)
    }

    private func source(_ interface: String) throws -> Source {
        if interface == Self.bled { return .daemon }
        if interface.hasPrefix(Self.kernel) {
            let number = interface.dropFirst(Self.kernel.count)
            if number.isEmpty { return .kernel(adapter: nil) }
            if let adapter = UInt16(number) { return .kernel(adapter: adapter) }
        }
        throw Failure("there is no interface ‘\(interface)’; see ‘bletool extcap --extcap-interfaces’", status: .usage)
    }

    /// The daemon that the environment names, or the one of the system.
    private static var daemon: TransportAddress? {
        if let text = unsafe getenv("JELLING_TRANSPORT").map({ unsafe String(cString: $0) }),
            let address = try? TransportAddress(text), case .daemon = address
        {
            return address
        }
        return DaemonClient.sharedSocketPath == nil ? nil : try? TransportAddress("bled")
    }

    private var interfaces: [String] {
        var lines = ["extcap {version=\(programVersion)}{display=Jelling}"]
        if Self.daemon != nil { lines.append("interface {value=\(Self.bled)}{display=Bluetooth of bled}") }
        let adapters = (try? AdapterList.adapters().map(\.index)) ?? []
        if !adapters.isEmpty {
            lines.append("interface {value=\(Self.kernel)}{display=Bluetooth of all adapters}")
            if adapters.count > 1 {
                lines += adapters.map { "interface {value=\(Self.kernel)\($0)}{display=Bluetooth of hci\($0)}" }
            }
        }
        return lines
    }

    // MARK: Capture

    private func capture(_ source: Source, in session: Session) async throws {
        guard let fifo else { throw Failure("name the pipe with --fifo", status: .usage) }
        if extcapCaptureFilter?.isEmpty == false { throw Failure(Self.noFilter, status: .usage) }
        let pipe = try CapturePipe(path: fifo, link: Self.link)
        do {
            switch source {
            case .kernel(let adapter):
                try LiveTraffic.ofKernel(
                    adapter: adapter, until: { Task.isCancelled }, begin: { try pipe.open() }, { try pipe.write($0) })
            case .daemon:
                guard let daemon = Self.daemon else { throw Failure("bled does not run", status: .transportNotOpened) }
                let lost = try await LiveTraffic.ofDaemon(
                    session.on(daemon), begin: { _ in try pipe.open() }, { try pipe.write($0) })
                if lost > 0 { session.console.note("\(lost) packets were dropped, because they were read too slowly") }
            }
        } catch {
            // Wireshark ends a capture by a signal.
            if !Task.isCancelled { throw error }
        }
    }
}
