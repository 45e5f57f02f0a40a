import BLEDaemonProtocol
import BLEHost
import FoundationEssentials

extension DaemonOperator {
    /// An app that is installed.
    public struct App: Hashable, Sendable {
        /// The state of its process.
        public enum Place: String, Sendable {
            case notRunning, foreground, background, woken, suspended, relaunching
        }

        /// The identifier in its manifest.
        public var identifier: String
        /// The state of its process.
        public var place: Place
        /// The process ID; `nil` if it does not run.
        public var process: UInt32?
        /// The user that it runs as.
        public var user: UInt32
        /// The background modes in its manifest.
        public var backgroundModes: [String]
        /// How often it has exceeded its time in the background, as far as it still counts (SPEC BGX-5).
        public var strikes: Int
        /// The program and its arguments; empty if the daemon does not launch it. This and what follows is only known
        /// from `show`.
        public var command: [String]
        /// The systemd unit that is the app; `nil` if it is none.
        public var unit: String?
        /// The adapter that its manifest names; `nil` if it names none.
        public var adapter: String?
        /// The memory that it may use, in megabytes of 2²⁰ octets; `nil` if its manifest limits none.
        public var memoryMegabytes: UInt32?
        /// How long it may run when it is woken.
        public var wakeSeconds: Int
        /// `allowed`, `denied` or `restricted`: whether it may use Bluetooth.
        public var authorization: String
        /// Its environment, `NAME=VALUE`.
        public var environment: [String]
        /// The folder in which it runs.
        public var directory: String
        /// `central`, `peripheral` or both.
        public var roles: [String]
        /// Whether it may ask a person during pairing.
        public var mayPair: Bool
        /// Whether it sees the services of peripherals that Apple's system hides.
        public var showsSystemServices: Bool
        /// `off`, `on` or a company identifier: whether its advertisements send the overflow area, as its manifest says.
        public var overflow: String
        /// Restore identifiers of central managers that continue without it.
        public var preservedCentrals: [String]
        /// Restore identifiers of peripheral managers that continue without it.
        public var preservedPeripherals: [String]
    }

    /// What was done to remove an app.
    public struct RemovedApp: Hashable, Sendable {
        /// The manifests that were deleted; empty if only something was left of the app.
        public var files: [String]
        /// The process of the app at the adapter that answers; `nil` if none ran there.
        public var process: UInt32?
        /// Whether that process could not be ended, because it belongs to another user: it goes on without the daemon.
        public var isRunning: Bool
        /// Whether the devices that the app knew are kept.
        public var keepsState: Bool
    }

    /// An alert for the user (SPEC ALR-1 to ALR-5).
    public struct Alert: Hashable, Sendable {
        /// Why an app wants the user's attention.
        public enum Kind: String, Sendable { case connection, disconnection, notification, powerOff }

        /// The number with which it is answered.
        public var id: UInt32
        /// The app's identifier.
        public var app: String
        public var kind: Kind
        /// The app's identifier of the peripheral; `nil` for `powerOff`.
        public var peripheral: UUID?
        /// The name of the peripheral, if it is known.
        public var name: String?
        /// Whether it has been answered, or no longer matters.
        public var isOver: Bool
    }
}

extension DaemonOperator.Answer {
    init(_ wire: WireOperatorAnswer) throws(WireError) {
        adapter = wire.adapter
        apps = wire.apps.map { DaemonOperator.App($0) }
        if wire.hasStatus { status = try DaemonStatus(wire.status) }
        alerts = wire.alerts.map { DaemonOperator.Alert($0) }
        for bond in wire.bonds { bonds.append(try Bond(bond)) }
        if wire.hasRemoved { removed = DaemonOperator.RemovedApp(wire.removed) }
        ignoredFiles = Int(wire.ignoredFiles)
    }
}

extension DaemonOperator.App {
    init(_ app: WireInstalledApp) {
        identifier = app.identifier
        place =
            switch app.place {
            case .foreground: .foreground
            case .background: .background
            case .woken: .woken
            case .suspended: .suspended
            case .relaunching: .relaunching
            case .notRunning, .UNRECOGNIZED: .notRunning
            }
        process = app.process == 0 ? nil : app.process
        user = app.user
        backgroundModes = app.backgroundModes
        strikes = Int(app.strikes)
        command = app.command
        unit = app.unit.isEmpty ? nil : app.unit
        adapter = app.adapter.isEmpty ? nil : app.adapter
        memoryMegabytes = app.memoryMegabytes == 0 ? nil : app.memoryMegabytes
        wakeSeconds = Int(app.wakeSeconds)
        authorization = app.authorization
        environment = app.environment
        directory = app.directory
        roles = app.roles
        mayPair = app.mayPair
        showsSystemServices = app.showsSystemServices
        overflow = app.overflow
        preservedCentrals = app.preservedCentrals
        preservedPeripherals = app.preservedPeripherals
    }
}

extension DaemonOperator.RemovedApp {
    init(_ wire: WireRemovedApp) {
        files = wire.files
        process = wire.process == 0 ? nil : wire.process
        isRunning = wire.isRunning
        keepsState = wire.keepsState
    }
}

extension DaemonOperator.Alert {
    init(_ wire: WireOperatorAlert) {
        id = wire.id
        app = wire.app
        kind =
            switch wire.alert.kind {
            case .disconnection: .disconnection
            case .notification: .notification
            case .powerOff: .powerOff
            case .connection, .unspecified, .UNRECOGNIZED: .connection
            }
        if wire.alert.peer.count == 16 {
            var octets: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
            unsafe withUnsafeMutableBytes(of: &octets) { unsafe $0.copyBytes(from: wire.alert.peer) }
            peripheral = UUID(uuid: octets)
        }
        name = wire.alert.hasName ? wire.alert.name : nil
        isOver = wire.isOver
    }
}
