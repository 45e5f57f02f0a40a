@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEPackets
import BLETransport

extension Daemon {
    /// The settings of a daemon.
    public struct Configuration {
        /// The transport to the controller.
        public var transport: TransportAddress
        /// The address of the kernel's adapter, which is used whatever its index; `nil`: the address of the adapter
        /// that `transport` names once it has been there.
        public var adapterAddress: DeviceAddress?
        /// Whether it takes the first of the kernel's adapters that comes and no other daemon has, whatever `transport`
        /// says.
        public var takesFirstAdapter = false
        /// Called on the loop when the kernel's adapter is there whose address was not known at the start.
        public var adapterAppeared: @Sendable (DeviceAddress) -> Void = { _ in }
        /// Called on the loop when another adapter is plugged in in place of the daemon's own, with the address of the own
        /// one and of the other. Returns whether the other takes its place; `nil`: none does.
        public var adapterReplaced: (@Sendable (DeviceAddress, DeviceAddress) -> Bool)?
        /// Whether this is the first of several daemons: it has the apps whose manifest names no adapter.
        public var isFirst = true
        /// Whether `transport` is the name of the adapter, for manifests, or only where it is at the start.
        public var isNamedByTransport = true
        /// The transport or the address of the adapter that has the apps whose manifest names none; `nil`: that of the
        /// first daemon.
        public var defaultAdapter: String?
        /// The adapters of all daemons of the process.
        public var adapters = AdapterBook()
        /// Called on the loop when an operator has installed an app: it may be that of another adapter.
        public var manifestsChanged: @Sendable () -> Void = {}
        /// An operator has removed an app: the daemons of other adapters forget it, too. Gets whether the devices that
        /// it knows are kept.
        public var appRemoved: @Sendable (AppID, Bool) -> Void = { _, _ in }
        /// Gets what crosses HCI, and the number of this adapter in it; `nil`: nothing is written down.
        public var capture: (file: DaemonCapture, adapter: UInt16)?
        /// The configuration of the engine.
        public var adapter: AdapterConfiguration
        /// The path of the socket to which programs connect.
        public var socketPath: String
        /// A socket that already listens, to use instead of a new one at `socketPath`.
        public var listeningSocket: Int32?
        /// The permissions of the socket file.
        public var socketMode: UInt32 = 0o600
        /// The numeric IDs of the users who may connect, besides root.
        public var users: Set<UInt32>
        /// The numeric ID of the group whose members are operators, besides root and the daemon's own user.
        public var operatorGroup: UInt32?
        /// The limits of each client.
        public var limits = ClientLimits()
        /// The settings of the life of apps.
        public var lifecycle = LifecycleSettings()
        /// Whether apps send the overflow area; they share one, so that its company is that of all: Apple's if this
        /// names none.
        public var overflow: OverflowSetting {
            get { lifecycle.overflow }
            set { lifecycle.overflow = newValue.ofSharedSystem }
        }
        /// The path of the journal with what outlives the daemon; `nil`: nothing does.
        public var journalPath: String?
        /// The folder with the manifests of installed apps; `nil`: there are none.
        public var appsFolder: String?
        /// The path of the file that lists the running processes of installed apps; `nil`: no file.
        public var processesPath: String?
        /// The cgroup of version 2, as a path, in which each app that the daemon launches gets a group of its own;
        /// `nil`: they get none.
        public var appsGroup: String?
        /// Where the kernel reports that memory is short, or a named pipe that reports it; `nil`: suspended apps never
        /// make room.
        public var memoryPressurePath: String? = "/proc/pressure/memory"
        /// The program that passes requests to systemd.
        public var systemctlPath = "/usr/bin/systemctl"
        /// How often `alive` is called on the loop, in microseconds; `nil`: never.
        public var aliveMicroseconds: UInt64?
        /// Called on the loop every `aliveMicroseconds`, for a watchdog.
        public var alive: @Sendable () -> Void = {}
        /// How long saving a bond may take before `alive` is no longer called, in microseconds.
        public var savingMicroseconds: UInt64 = 10_000_000
        /// Gets log lines for people.
        public var logged: @Sendable (DaemonSettings.LogLevel, String) -> Void = { _, _ in }
        /// Whether log lines of a level are wanted: others need not be composed.
        public var isLogged: @Sendable (DaemonSettings.LogLevel) -> Bool = { $0 >= .info }

        var log: @Sendable (String) -> Void { { [logged] in logged(.info, $0) } }
        /// For what people may have to look after.
        var notice: @Sendable (String) -> Void { { [logged] in logged(.notice, $0) } }
        /// For what does not work.
        var warn: @Sendable (String) -> Void { { [logged] in logged(.warning, $0) } }
        /// For what will be lost.
        var logError: @Sendable (String) -> Void { { [logged] in logged(.error, $0) } }

        func debug(_ line: @autoclosure () -> String) { if isLogged(.debug) { logged(.debug, line()) } }
        func trace(_ line: @autoclosure () -> String) { if isLogged(.trace) { logged(.trace, line()) } }

        public init(
            transport: TransportAddress, adapter: AdapterConfiguration, socketPath: String, users: Set<UInt32>
        ) {
            self.transport = transport
            self.adapter = adapter
            self.socketPath = socketPath
            self.users = users
            // Events that wait in a socket are no longer under the lifecycle's control.
            lifecycle.unhandledEventLimit = 256
            lifecycle.unhandledOctetLimit = 64 * 1024
            overflow = .on
        }
    }
}
