@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEPackets
import BLETransport
import Glibc

extension Daemon {
    /// The settings of a daemon.
    @dynamicMemberLookup public struct Configuration {
        /// Those of its rules, which are also members of this.
        public var rules = DaemonRules()
        /// The transport to the controller.
        public var transport: TransportAddress
        /// Whether it takes the first of the kernel's adapters that comes and no other daemon has, whatever `transport`
        /// says.
        public var takesFirstAdapter = false
        /// Called on the loop when the kernel's adapter is there whose address was not known at the start.
        public var adapterAppeared: @Sendable (DeviceAddress) -> Void = { _ in }
        /// Called on the loop when another adapter is plugged in in place of the daemon's own, with the address of the own
        /// one and of the other. Returns whether the other takes its place; `nil`: none does.
        public var adapterReplaced: (@Sendable (DeviceAddress, DeviceAddress) -> Bool)?
        /// Whether `transport` is the name of the adapter, for manifests, or only where it is at the start.
        public var isNamedByTransport = true
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
        /// For what does not work.
        var warn: @Sendable (String) -> Void { { [logged] in logged(.warning, $0) } }
        /// For what will be lost.
        var logError: @Sendable (String) -> Void { { [logged] in logged(.error, $0) } }

        public subscript<Value>(dynamicMember path: WritableKeyPath<DaemonRules, Value>) -> Value {
            get { rules[keyPath: path] }
            set { rules[keyPath: path] = newValue }
        }

        /// The rules with what follows from the rest.
        var wholeRules: DaemonRules {
            var rules = rules
            rules.ownUser = geteuid()
            rules.transportName = isNamedByTransport ? "\(transport)" : nil
            if case .userChannel = transport { rules.isKernelAdapter = true }
            rules.hasAppsFolder = appsFolder != nil
            rules.listsProcesses = processesPath != nil
            rules.security = adapter.security
            rules.timing = adapter.timing
            rules.deviceName = adapter.deviceName
            rules.tools.acceptsEnhancedBearers = adapter.enhancedBearers != nil
            rules.tools.reportsAddressResolution = adapter.reportsAddressResolution
            return rules
        }

        public init(transport: TransportAddress, adapter: AdapterConfiguration, socketPath: String, users: Set<UInt32>)
        {
            self.transport = transport
            self.adapter = adapter
            self.socketPath = socketPath
            rules.users = users
            // Events that wait in a socket are no longer under the lifecycle's control.
            rules.lifecycle.unhandledEventLimit = 256
            rules.lifecycle.unhandledOctetLimit = 64 * 1024
            rules.overflow = .on
        }
    }
}
