@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEAppState
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
        /// Whether it takes another adapter if its own has no LE or does not work.
        public var takesAnyAdapter = false
        /// The kernel's adapters that are there.
        public var listAdapters: @Sendable () throws(TransportError) -> PresentAdapters = {
            () throws(TransportError) in try PresentAdapters.list()
        }
        /// Called on the loop when the kernel's adapter is there whose key was not known at the start.
        public var adapterAppeared: @Sendable (AdapterKey) -> Void = { _ in }
        /// Called on the loop whenever the controller has become usable.
        public var adapterIsReady: @Sendable () -> Void = {}
        /// Called on the loop when the adapter is found at a place.
        public var adapterIsAt: @Sendable (DeviceAddress, String) -> Void = { _, _ in }
        /// Called on the loop when another adapter is plugged in in place of the daemon's own, with the key of the own one
        /// and of the other. Returns whether the other takes its place; `nil`: none does.
        public var adapterReplaced: (@Sendable (AdapterKey, AdapterKey) -> Bool)?
        /// Reports on the loop that a device has come, for a transport that is neither the kernel's adapter nor a stream, and
        /// returns what ends the reports; `nil`: one that comes back is noticed when it is next tried.
        public var watchDevices:
            (@Sendable (EventLoop, _ came: @escaping () -> Void) throws(TransportError) -> () -> Void)?
        /// Whether `transport` is the name of the adapter, for manifests, or only where it is at the start.
        public var isNamedByTransport = true
        /// The adapters of all daemons of the process.
        public var adapters = AdapterBook()
        /// Called on the loop when an operator has installed an app: it may be that of another adapter.
        public var manifestsChanged: @Sendable () -> Void = {}
        /// An operator has removed an app: the daemons of other adapters forget it, too. Gets whether the devices that
        /// it knows are kept.
        public var appRemoved: @Sendable (AppID, Bool) -> Void = { _, _ in }
        /// Where it is kept what was learned of controllers; `nil`: it is forgotten with the daemon.
        public var memory: ControllerMemory?
        /// A program with its arguments that resets the adapter, whose name is added; empty: USB, or rfkill.
        public var recoveryCommand: [String] = []
        /// Whether the adapter's device may not be suspended while it is in use.
        public var keepsAwake = false
        /// Whether an adapter is switched on that a reset has left switched off.
        public var unblocksAfterReset = false
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
