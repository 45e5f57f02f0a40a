import ArgumentParser
import BLE
import BLEAppState
import BLEDaemon
import BLEDaemonClient
import BLESecurity
import BLEServiceManager
import BLETransport
import BLEVirtualTransports
import Foundation
import Glibc

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
            "How to reach the controller (default: the first adapter).", valueName: "transport"),
        transform: { try TransportAddress($0) })
    var adapter: TransportAddress?

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

    func validate() throws {
        if case .daemon = adapter { throw ValidationError("A daemon has a controller of its own; name that.") }
    }

    func run() throws {
        // The loop's thread inherits the mask, so that only this thread handles the signals.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGINT)
        unsafe sigaddset(&signals, SIGTERM)
        unsafe sigaddset(&signals, SIGHUP)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        let manager = ServiceManager()
        let loop = try EventLoop(name: "bled")
        // Safe: once the loop has started, only the loop uses the daemon; this thread just waits.
        nonisolated(unsafe) let daemon = try Daemon(configuration(manager), on: loop)
        unsafe daemon.onStopped = { loop.stop() }
        try loop.start()
        manager.notify("READY=1")
        var signal: Int32 = 0
        while unsafe sigwait(&signals, &signal) != 0 || signal == SIGHUP {
            if signal == SIGHUP { loop.run { unsafe daemon.readInstalledApps() } }
        }
        manager.notify("STOPPING=1")
        loop.run { unsafe daemon.stop() }
        loop.join()
    }

    private func configuration(_ manager: ServiceManager) throws -> Daemon.Configuration {
        let path = socket ?? DaemonClient.defaultSocketPath
        var engine = AdapterConfiguration(makeVirtualTransport: VirtualTransports.open)
        engine.toolbox = CryptoToolbox()
        var journalPath: String?
        if let state {
            let folder = StateFolder(path: state)
            engine.bondStore = FileBondStore(path: state + "/security") { Self.write("\($0)") }
            engine.ownAddress = .automatic(fallback: folder.staticAddress { Self.write($0) })
            journalPath = folder.journalPath(of: "bled")
        }
        var configuration = Daemon.Configuration(
            transport: try adapter ?? .userChannel(adapter: AdapterList.first().index), adapter: engine,
            socketPath: path, users: Set(allow + [geteuid()]))
        configuration.journalPath = journalPath
        configuration.appsFolder = apps
        configuration.appsGroup = try cgroup.map { try Daemon.controlGroup($0) }
        configuration.memoryPressurePath = memoryPressure
        configuration.systemctlPath = systemctl
        configuration.listeningSocket = manager.listener
        // Twice within the manager's timeout.
        configuration.aliveMicroseconds = manager.watchdogMicroseconds.map { max(1, $0 / 2) }
        configuration.alive = { manager.notify("WATCHDOG=1") }
        configuration.processesPath = state.map { $0 + "/processes" }
        // Other users can open the socket only if some of them are allowed; the daemon then checks who they are.
        if !allow.isEmpty { configuration.socketMode = 0o666 }
        configuration.log = { Self.write($0) }
        Self.write("listening at \(path)")
        return configuration
    }

    private static func write(_ line: String) {
        let text = Array("bled: \(line)\n".utf8)
        _ = unsafe Glibc.write(STDERR_FILENO, text, text.count)
    }
}
