import ArgumentParser
@_spi(HostRunner) import BLE
import BLEAppState
import BLEDaemon
import BLEDaemonClient
import BLEPackets
import BLESecurity
import BLEServiceManager
import BLETransport
import BLEVirtualTransports
import Glibc
import Logging

@main
struct Bled: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bled",
        abstract: "Share one Bluetooth controller among programs.",
        discussion: """
            Programs connect to a Unix socket: bletool -t bled lescan. Runs in the foreground until SIGINT or SIGTERM, and \
            writes its log to standard error. Under systemd it takes the socket that a socket unit has opened, says when it \
            is ready, and answers the watchdog.

              bled --adapter user:0
              bled --adapter sim --socket /tmp/bled.sock
            """)

    @Option(
        help: ArgumentHelp(
            "How to reach a controller: a transport, the address of an adapter, or ‘all’ for every adapter of the kernel, "
                + "also those that appear later (default: the first adapter). May be repeated: the programs of the second "
                + "one connect to PATH.2, and so on.", valueName: "transport"),
        transform: { try AdapterChoice($0) })
    var adapter: [AdapterChoice] = []

    @Option(
        help: ArgumentHelp(
            "Where programs connect; default $JELLING_SOCKET, else /run/jelling/bled.sock for root, else "
                + "$XDG_RUNTIME_DIR/jelling/bled.sock.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "The folder for bonds and for what apps know; without it both are forgotten with the daemon.",
            valueName: "dir"),
        completion: .directory)
    var state: String?

    @Option(
        help: ArgumentHelp("The folder of installed apps, a manifest NAME.json each.", valueName: "dir"),
        completion: .directory)
    var apps: String?

    @Option(
        help: ArgumentHelp(
            "The cgroup (version 2) in which each launched app gets a group of its own, so that it is frozen with all its "
                + "processes; ‘self’: the group of bled. Without it, apps are stopped with SIGSTOP.", valueName: "path")
    )
    var cgroup: String?

    @Option(
        help: ArgumentHelp(
            "Where shortage of memory is reported, so that suspended apps make room: the kernel's file, or a named pipe.",
            valueName: "path"))
    var memoryPressure = "/proc/pressure/memory"

    @Option(help: ArgumentHelp("The program that starts the units of apps.", valueName: "path"))
    var systemctl = "/usr/bin/systemctl"

    @Option(help: ArgumentHelp("A user who may connect, besides root and this one; may be repeated.", valueName: "uid"))
    var allow: [UInt32] = []

    @Option(
        help: ArgumentHelp(
            "The group whose members are operators, besides root and this user: they see and change what belongs to the "
                + "daemon and its apps.", valueName: "group"))
    var operators: String?

    @Option(
        help: ArgumentHelp(
            "A file with adapters, users, operators, limits of clients and the form of the log; read again at SIGHUP. "
                + "What other options say counts, too.", valueName: "file"), completion: .file())
    var config: String?

    @Option(
        help: ArgumentHelp(
            "The least important lines of the log: \(DaemonSettings.LogLevel.names); else what the configuration file says, else "
                + "info.", valueName: "level"),
        transform: { name in
            guard let level = DaemonSettings.LogLevel(rawValue: name) else {
                throw ValidationError("It is one of \(DaemonSettings.LogLevel.names).")
            }
            return level
        })
    var logLevel: DaemonSettings.LogLevel?

    @Option(
        name: [.customShort("w"), .customLong("write")],
        help: ArgumentHelp(
            "A file for what crosses HCI of all adapters, with zeros in place of keys; its ending chooses the format "
                + "(.btsnoop, .pcap, .pcapng, .pklg). If it is renamed, SIGHUP begins a new one.", valueName: "file"),
        completion: .file())
    var capture: String?

    func validate() throws {
        for choice in adapter {
            if case .transport(.daemon) = choice {
                throw ValidationError("A daemon has a controller of its own; name that.")
            }
        }
        if adapter.contains(.all), adapter.count > 1 {
            throw ValidationError("‘--adapter all’ takes every adapter; name no other.")
        }
    }

    func run() throws {
        // The loop's thread inherits the mask, so that only this thread handles the signals.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGINT)
        unsafe sigaddset(&signals, SIGTERM)
        unsafe sigaddset(&signals, SIGHUP)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        let settings = try settings()
        let output = LogOutput(settings)
        let log = output.logger()
        let capture = try capture.map { path in try DaemonCapture(path: path) { log.error("\($0)") } }
        let adapter = try adapters(settings)
        let manager = ServiceManager()
        let daemons = DaemonSet()
        let process = Process(
            output: output, capture: capture, manager: manager, pulse: Pulse { manager.notify("WATCHDOG=1") })
        if adapter == [.all] {
            try daemons.addAll { kernel, count in
                // What was changed since the start counts for it, too.
                let settings = (try? self.settings()) ?? settings
                return try configuration(.address(kernel.address), true, count, settings, process)
            } failed: { adapter, error in
                log.warning("\(adapter.name) is not taken: \(error)")
            }
        } else {
            let first = try adapter.isEmpty ? [.transport(Self.firstAdapter(log))] : adapter
            for choice in first {
                try daemons.add(configuration(choice, first.count > 1, daemons.count, settings, process))
            }
        }
        manager.notify("READY=1")
        var signal: Int32 = 0
        while unsafe sigwait(&signals, &signal) != 0 || signal == SIGHUP {
            if signal == SIGHUP {
                capture?.reopen()
                reload(daemons, output)
            }
        }
        manager.notify("STOPPING=1")
        daemons.stop()
    }

    /// What the daemons of all adapters share.
    private struct Process: Sendable {
        let output: LogOutput
        let capture: DaemonCapture?
        let manager: ServiceManager
        let pulse: Pulse
        let adapters = AdapterBook()
    }

    /// The configuration file, with what the command line adds.
    private func settings() throws -> DaemonSettings {
        var settings = try config.map { try DaemonSettings(path: $0) } ?? DaemonSettings()
        settings.add(
            users: allow, operatorGroup: try operators.map { try Self.group($0) }, logLevel: logLevel)
        return settings
    }

    /// The kernel's first adapter. At the start of a machine it may come later.
    private static func firstAdapter(_ log: Logger) throws(TransportError) -> TransportAddress {
        do throws(TransportError) {
            return .userChannel(adapter: try AdapterList.first().index)
        } catch .noAdapter {
            log.warning("no adapter is there yet; bled waits for hci0 (--adapter names another)")
            return .userChannel(adapter: 0)
        }
    }

    /// The command line's adapters, or else those of the configuration file.
    private func adapters(_ settings: DaemonSettings) throws -> [AdapterChoice] {
        guard adapter.isEmpty else { return adapter }
        return try settings.adapters.map { name in
            do throws(TransportError) {
                let choice = try AdapterChoice(name)
                if case .transport(.daemon) = choice { throw .invalidAddress(name) }
                return choice
            } catch {
                throw ValidationError("‘adapters’ of ‘\(config ?? "")’: \(error)")
            }
        }
    }

    /// A file with an error changes nothing.
    private func reload(_ daemons: DaemonSet, _ output: LogOutput) {
        do {
            let settings = try settings()
            output.change(settings)
            daemons.reload {
                $0.change(
                    users: settings.users.union([geteuid()]), operatorGroup: settings.operatorGroup,
                    limits: settings.limits)
            }
        } catch {
            output.logger().error("the configuration stays as it was: \(error)")
            daemons.reload()
        }
    }

    /// - Parameters:
    ///   - isOneOfMany: whether its state has a folder of its own.
    ///   - count: how many daemons there are already.
    private func configuration(
        _ choice: AdapterChoice, _ isOneOfMany: Bool, _ count: Int, _ settings: DaemonSettings, _ process: Process
    ) throws -> Daemon.Configuration {
        let base = socket ?? DaemonClient.defaultSocketPath
        // No one else makes the folder of the usual path.
        if socket == nil, base == DaemonClient.defaultSocketPath { Daemon.makeFolder(ofSocket: base) }
        let path = count == 0 ? base : "\(base).\(count + 1)"
        let log = process.output.logger(of: count == 0 ? nil : choice.name)
        let warn: @Sendable (String) -> Void = { log.warning("\($0)") }
        var engine = AdapterConfiguration(makeVirtualTransport: VirtualTransports.open)
        engine.toolbox = CryptoToolbox()
        if settings.enhancedBearers { engine.enhancedBearers = EnhancedBearerSettings() }
        engine.tellsAddressResolution = settings.addressResolution
        engine.keepsSharedAdvertisement = true
        var journalPath: String?
        // One adapter keeps its state in the folder itself, so that it may be given another name.
        let state = isOneOfMany ? state.map { "\($0)/adapters/\(choice.fileName)" } : state
        if let state {
            let folder = StateFolder(path: state)
            engine.bondStore = FileBondStore(path: state + "/security") { log.error("\($0)") }
            engine.ownAddress = .automatic(fallback: folder.staticAddress { warn($0) })
            journalPath = folder.journalPath(of: "bled")
        }
        var configuration = Daemon.Configuration(
            transport: try choice.transport, adapter: engine, socketPath: path, users: settings.users.union([geteuid()])
        )
        if case .address(let address) = choice { configuration.adapterAddress = address }
        configuration.isFirst = count == 0
        configuration.journalPath = journalPath
        configuration.appsFolder = apps
        configuration.appsGroup = try cgroup.map { try Daemon.controlGroup($0) }
        configuration.memoryPressurePath = memoryPressure
        configuration.systemctlPath = systemctl
        if count == 0 { configuration.listeningSocket = process.manager.listener }
        // Twice within the manager's timeout.
        configuration.aliveMicroseconds = process.manager.watchdogMicroseconds.map { max(1, $0 / 2) }
        configuration.alive = process.pulse.member()
        configuration.adapters = process.adapters
        configuration.capture = process.capture.map { ($0, UInt16(clamping: count)) }
        configuration.processesPath = state.map { $0 + "/processes" }
        // Other users can open the socket only if some of them are allowed; the daemon then checks who they are.
        configuration.operatorGroup = settings.operatorGroup
        configuration.limits = settings.limits
        configuration.logged = { level, line in log.log(level: Logger.Level(level), "\(line)") }
        configuration.isLogged = { log.logLevel <= Logger.Level($0) }
        return configuration
    }

    private static func group(_ name: String) throws -> UInt32 {
        guard let group = Accounts.group(name) else {
            throw ValidationError("There is no group ‘\(name)’ (--operators).")
        }
        return group
    }
}
