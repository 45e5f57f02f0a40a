import ArgumentParser
@_spi(HostRunner) import BLE
import BLEAppState
import BLEDaemon
import BLEDaemonClient
import BLEPackets
import BLESecurity
import BLEServiceManager
import BLETransport
import BLEUSB
import BLEVirtualTransports
import Glibc
import Logging

struct Bled: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bled",
        abstract: "Share one Bluetooth controller among programs.",
        usage: "bled [--adapter <transport> ...] [--socket <path>] [--state <dir>] [<options>]",
        discussion: """
            Programs connect to a Unix socket: bletool -t bled lescan. Runs in the foreground until SIGINT or SIGTERM, and \
            writes its log to standard error. Under systemd it takes the socket that a socket unit has opened, says when it \
            is ready, and answers the watchdog.

              bled --adapter user:0
              bled --adapter sim --socket /tmp/bled.sock

            The exit status is 0 after SIGINT or SIGTERM, 1 if bled cannot begin, 2 for wrong options or a wrong \
            configuration file, and 3 when the kernel's adapters cannot be listed.
            """,
        version: programVersion)

    @Option(
        help: ArgumentHelp(
            "How to reach a controller: a transport, the address of an adapter, its place as ‘port:1-2’ (see bletool "
                + "dev), or ‘all’ for every adapter of the kernel, also those that appear later (default: the first "
                + "adapter with LE). May be repeated: the programs of the second one connect to PATH.2, and so on.",
            valueName: "transport"),
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

    @Option(
        help: ArgumentHelp("A user who may connect, besides root and this one; may be repeated.", valueName: "uid"),
        transform: { text in
            guard let user = UInt32(text) else {
                throw ValidationError("use the number of a user (‘id -u NAME’); ‘users’ of --config takes names, too")
            }
            return user
        })
    var allow: [UInt32] = []

    @Option(
        help: ArgumentHelp(
            "The group whose members are operators, besides root and this user: they see and change what belongs to the "
                + "daemon and its apps.", valueName: "group"))
    var operators: String?

    @Option(
        help: ArgumentHelp(
            "A file with adapters, users, operators, limits of clients, the overflow area of apps and the form of the "
                + "log; read again at SIGHUP. "
                + "What other options say counts, too.", valueName: "file"), completion: .file())
    var config: String?

    @Option(
        help: ArgumentHelp(
            "The least important lines of the log: \(DaemonSettings.LogLevel.names); else what the configuration file says, else "
                + "info.", valueName: "level"),
        transform: { name in
            guard let level = DaemonSettings.LogLevel(rawValue: name) else {
                throw ValidationError("use one of \(DaemonSettings.LogLevel.names)")
            }
            return level
        })
    var logLevel: DaemonSettings.LogLevel?

    @Option(
        name: [.customShort("w"), .customLong("write")],
        help: ArgumentHelp(
            "A file for what crosses HCI of all adapters, with zeros in place of keys; its ending chooses the format "
                + "(.btsnoop, .pcap, .pcapng, .pklg). One that is there becomes NAME.1.ENDING, to .9. If it is renamed, SIGHUP "
                + "begins a new one.", valueName: "file"),
        completion: .file())
    var capture: String?

    func validate() throws {
        let paths = [
            ("--socket", socket), ("--state", state), ("--apps", apps), ("--cgroup", cgroup), ("--config", config),
            ("--write", capture), ("--operators", operators),
        ]
        for (option, value) in paths where value?.isEmpty == true {
            throw ValidationError("the value of \(option) is empty: name one, or leave the option out")
        }
        for choice in adapter {
            if case .transport(.daemon) = choice {
                throw ValidationError("A daemon has a controller of its own; name that.")
            }
        }
        if adapter.contains(.all), adapter.count > 1 {
            throw ValidationError("‘--adapter all’ takes every adapter; name no other.")
        }
        if let capture, let complaint = DaemonCapture.complaint(ofEnding: capture) { throw ValidationError(complaint) }
    }

    func run() throws {
        var signals = ServiceSignals(SIGINT, SIGTERM, SIGHUP)
        let settings: DaemonSettings
        do { settings = try self.settings() } catch { throw ValidationError("\(error)") }
        if let problem = apps.flatMap({ Daemon.problem(ofAppsFolder: $0) }) { throw ValidationError(problem) }
        let output = LogOutput(settings)
        let log = output.logger()
        for line in settings.warnings { log.warning("\(line)") }
        let adapter = try adapters(settings)
        for case .transport(let address) in adapter { try Self.check(address) }
        // First: another bled may be writing what follows would move away.
        let lock = try state.map { path in try StateLock(path: path) }
        defer { lock?.release() }
        let capture = try capture.map { path in try DaemonCapture(path: path) { log.error("\($0)") } }
        let manager = ServiceManager()
        let daemons = DaemonSet()
        let process = Process(
            daemons: daemons, output: output, capture: capture, manager: manager,
            pulse: ThreadHeartbeat { manager.notify("WATCHDOG=1") },
            folders: try state.map { path in try AdapterFolders(path: path) { log.warning("\($0)") } },
            memory: state.map { path in ControllerMemory(path: path) { log.warning("\($0)") } })
        if adapter == [.all] {
            let list = { @Sendable in try? process.listAdapters() }
            try daemons.addAll(process.adapters, list: list) { kernel, count in
                // What was changed since the start counts for it, too.
                let settings = (try? self.settings()) ?? settings
                let found = kernel.map { AdapterChoice.transport(.userChannel(adapter: $0.index)) }
                let choice = found ?? awaited(process, log)
                return try configuration(choice, true, takesAll: true, kernel, count, settings, process)
            } failed: { adapter, error in
                log.warning("\(adapter.name) is not taken: \(error)")
                process.folders?.release("\(TransportAddress.userChannel(adapter: adapter.index))")
            }
        } else {
            let first = try adapter.isEmpty ? [.transport(Self.firstAdapter(process, log))] : adapter
            for choice in first {
                var wanted = try configuration(choice, first.count > 1, nil, daemons.count, settings, process)
                wanted.takesAnyAdapter = adapter.isEmpty
                try daemons.add(wanted)
            }
        }
        manager.notify("READY=1")
        let started = settings
        while signals.next() == SIGHUP {
            capture?.reopen()
            reload(daemons, output, since: started)
        }
        manager.notify("STOPPING=1")
        daemons.stop()
    }

    /// A controller may come later, but a file that cannot be played stays as it is.
    private static func check(_ address: TransportAddress) throws {
        switch address {
        case .simulator(_?), .replay: break
        default: return
        }
        do throws(TransportError) { _ = try VirtualTransports.open(address) } catch {
            if case .pathNotFound(let path) = error {
                throw ValidationError("‘\(path)’ does not exist; correct ‘--adapter’")
            }
            throw ValidationError("\(error)")
        }
    }

    /// What the daemons of all adapters share.
    private struct Process: Sendable {
        let daemons: DaemonSet
        let output: LogOutput
        let capture: DaemonCapture?
        let manager: ServiceManager
        let pulse: ThreadHeartbeat
        /// `nil`: no state is kept.
        let folders: AdapterFolders?
        /// What was learned of controllers; `nil`: no state is kept.
        let memory: ControllerMemory?
        let adapters = AdapterBook()

        func listAdapters() throws(TransportError) -> PresentAdapters {
            try PresentAdapters.list(owners: folders?.owners ?? [:])
        }
    }

    /// The configuration file, with what the command line adds.
    private func settings() throws -> DaemonSettings {
        var settings = try config.map { try DaemonSettings(path: $0) } ?? DaemonSettings()
        settings.add(
            users: allow, operatorGroup: try operators.map { try Self.group($0) }, logLevel: logLevel)
        return settings
    }

    /// The adapter to wait for if there is none: the first one that there was, otherwise the first one that comes.
    private func awaited(_ process: Process, _ log: Logger) -> AdapterChoice {
        guard let first = process.folders?.first else {
            log.warning("no adapter is there yet; bled takes those that appear")
            return .all
        }
        log.warning("no adapter is there yet; bled waits for \(first.text), and takes others that appear")
        return .key(first)
    }

    /// The kernel's first adapter with LE. At the start of a machine it may come later.
    private static func firstAdapter(_ process: Process, _ log: Logger) throws(TransportError) -> TransportAddress {
        do throws(TransportError) {
            let (all, usable) = (try AdapterList.adapters(), try AdapterList.candidates())
            // The one that was used before, whatever the numbers are now: the first one may have been of no use.
            if let known = process.folders?.first, let adapter = try process.listAdapters().adapter(known),
                adapter.mayHaveLowEnergy
            {
                return .userChannel(adapter: adapter.index)
            }
            for other in all where !other.mayHaveLowEnergy && other.index < (usable.first?.index ?? .max) {
                log.notice("\(other.name) has no Bluetooth LE (classic Bluetooth only); bled takes the next adapter")
            }
            return .userChannel(adapter: usable.first?.index ?? 0)
        } catch .noAdapter {
            log.warning("no adapter is there yet; bled waits for hci0 (--adapter names another)")
            return .userChannel(adapter: 0)
        } catch .noLowEnergyAdapter(let present) {
            log.warning("\(TransportError.noLowEnergyAdapter(present: present)); bled waits for one")
            return .userChannel(adapter: 0)
        }
    }

    /// The command line's adapters, or else those of the configuration file.
    private func adapters(_ settings: DaemonSettings) throws -> [AdapterChoice] {
        guard adapter.isEmpty else { return adapter }
        return try settings.adapters.map { name in
            do throws(AdapterChoice.Unknown) {
                let choice = try AdapterChoice(name)
                if case .transport(.daemon) = choice { throw AdapterChoice.Unknown(text: name) }
                return choice
            } catch {
                throw ValidationError("‘adapters’ of ‘\(config ?? "")’: \(error)")
            }
        }
    }

    /// A file with an error changes nothing.
    /// - Parameter started: the settings at the start.
    private func reload(_ daemons: DaemonSet, _ output: LogOutput, since started: DaemonSettings) {
        do {
            let settings = try settings()
            output.change(settings)
            for key in settings.keysForRestart(since: started) where key != "adapters" || adapter.isEmpty {
                output.logger().warning("‘\(key)’ of ‘\(config ?? "")’ changes when bled is restarted, not at SIGHUP")
            }
            daemons.reload {
                $0.change(
                    users: settings.users.union([geteuid()]), operatorGroup: settings.operatorGroup,
                    limits: settings.limits, overflow: settings.overflow)
            }
        } catch {
            output.logger().error("the configuration stays as it was: \(error)")
            daemons.reload()
        }
    }

    /// - Parameters:
    ///   - isOneOfMany: whether its state has a folder of its own.
    ///   - takesAll: whether adapters come in any order.
    ///   - count: how many daemons there are already.
    private func configuration(
        _ choice: AdapterChoice, _ isOneOfMany: Bool, takesAll: Bool = false, _ kernel: PresentAdapter?,
        _ count: Int, _ settings: DaemonSettings, _ process: Process
    ) throws -> Daemon.Configuration {
        let base = socket ?? DaemonClient.defaultSocketPath
        // No one else makes the folder of the usual path.
        if socket == nil, base == DaemonClient.defaultSocketPath { Daemon.makeFolder(ofSocket: base) }
        let path = count == 0 ? base : "\(base).\(count + 1)"
        let log = process.output.logger(of: count == 0 ? nil : choice.name)
        let warn: @Sendable (String) -> Void = { log.warning("\($0)") }
        var engine = AdapterConfiguration(makeVirtualTransport: USBTransports.adding(to: VirtualTransports.open))
        engine.resetDevice = USBTransports.resetting()
        if case .transport(let address) = choice {
            engine.controller = USBTransports.device(at: address).map {
                ControllerIdentity(usbVendor: $0.vendor, usbProduct: $0.product, usbRelease: $0.release)
            }
        }
        engine.cryptoProvider = SwiftCryptoProvider()
        if settings.enhancedBearers { engine.enhancedBearers = EnhancedBearerSettings() }
        engine.reportsAddressResolution = settings.addressResolution
        engine.keepsSharedAdvertisement = true
        engine.timing.allowsSubrating = true
        var journalPath: String?
        let transport = choice.name
        // Asked once: an adapter that comes a moment later must not get the folder of another one.
        let present = try? process.listAdapters()
        let key = kernel?.key ?? choice.kernelKey(among: present) { process.folders?.knows($0) ?? false }
        let place = process.folders?.place(
            of: key?.text, transport: transport, present: present?.names ?? [], isOnly: !isOneOfMany)
        if let awaited = place?.awaited {
            warn(
                "\(transport) is not there yet; bled waits for \(awaited.text), whose state it has: to use "
                    + "another adapter, plug that in and restart bled")
        }
        let state = place?.folder
        if let state {
            let folder = StateFolder(path: state)
            engine.bondStore = FileBondStore(path: state + "/security") { log.error("\($0)") }
            engine.ownAddress = .automatic(fallback: folder.staticAddress { warn($0) })
            journalPath = folder.journalPath(of: "bled")
        }
        var configuration = Daemon.Configuration(
            transport: choice.transport(among: present), adapter: engine, socketPath: path,
            users: settings.users.union([geteuid()])
        )
        configuration.adapterKey = key ?? place?.awaited
        configuration.listAdapters = { () throws(TransportError) in try process.listAdapters() }
        configuration.takesFirstAdapter = choice == .all && configuration.adapterKey == nil
        configuration.isNamedByTransport = choice.isTransport && !takesAll
        configuration.adapterAppeared = { process.folders?.appeared($0.text, as: transport) }
        configuration.adapterIsReady = { process.folders?.isReady(transport) }
        configuration.adapterIsAt = { process.folders?.note($0, at: $1) }
        // One that is named by its address, or one of several, is that adapter and no other.
        if !isOneOfMany, choice.isTransport {
            configuration.adapterReplaced = { old, new in
                process.folders?.replace(old.text, by: new.text, as: transport) ?? true
            }
        }
        configuration.watchDevices = { (loop, came) throws(TransportError) in
            let arrivals = try USBArrivals(on: loop, report: came)
            return { arrivals.cancel() }
        }
        configuration.isFirst = count == 0
        // Which of them appears first may be different at each start.
        if takesAll { configuration.defaultAdapter = process.folders?.first?.text }
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
        configuration.manifestsChanged = { [weak daemons = process.daemons] in daemons?.reload() }
        configuration.appRemoved = { [weak daemons = process.daemons] in daemons?.forget($0, keepsState: $1) }
        configuration.capture = process.capture.map { ($0, UInt16(clamping: count)) }
        configuration.processesPath = state.map { $0 + "/processes" }
        // Other users can open the socket only if some of them are allowed; the daemon then checks who they are.
        configuration.operatorGroup = settings.operatorGroup
        configuration.limits = settings.limits
        configuration.memory = process.memory
        configuration.recoveryCommand = settings.recoveryCommand
        configuration.keepsAwake = settings.keepsAwake
        configuration.unblocksAfterReset = settings.unblocksAfterReset
        configuration.overflow = settings.overflow
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
