import BLE
import BLEAppLifecycle
import Foundation

/// A Bluetooth system beside that of the process, with a separate app: the module `CoreBluetoothTestKit` runs apps
/// on simulated radios with it.
@_spi(TestKit)
public final class SeparateSystem: Sendable {
    /// What the system and its app are made of.
    public struct Settings: Sendable {
        /// The identifier of the app.
        public var identifier: String
        /// The background modes in its manifest.
        public var backgroundModes: [String] = []
        /// Whether the app is launched in the foreground.
        public var startsInForeground = true
        /// Whether the app may use Bluetooth.
        public var authorization = CBManagerAuthorization.allowedAlways
        /// Whether the app sees the services that Apple's system hides.
        public var showsSystemServices = false
        /// The adapter; its virtual transport is opened.
        public var adapter: AdapterConfiguration
        /// The event loop, which has been started and outlives the system.
        public var loop: EventLoop
        /// The file of what is preserved for the app; `nil` preserves nothing.
        public var journalPath: String?
        /// Receives messages about API misuse.
        public var log: (@Sendable (String) -> Void)?

        public init(identifier: String, adapter: AdapterConfiguration, loop: EventLoop) {
            self.identifier = identifier
            self.adapter = adapter
            self.loop = loop
        }
    }

    private let system: LocalSystem
    /// The life cycle of the app.
    public let application: CBApplication

    public init(_ settings: Settings) {
        var environment = AppEnvironment([:])
        environment.transport = "sim"
        environment.socketPath = nil
        environment.identifier = settings.identifier
        environment.modeNames = settings.backgroundModes
        environment.startsInForeground = settings.startsInForeground
        environment.authorization = ManagerAuthorization(rawValue: settings.authorization.rawValue) ?? .allowedAlways
        var configuration = LocalSystem.Configuration(
            environment: environment, adapter: settings.adapter, journalPath: settings.journalPath, loop: settings.loop)
        configuration.log = settings.log
        if settings.showsSystemServices { configuration.settings.hiddenServices = [] }
        let system = LocalSystem(configuration)
        self.system = system
        application = CBApplication(system: { system })
    }

    /// Managers that the closure creates belong to this system.
    public func run<Value>(_ body: () throws -> Value) rethrows -> Value {
        try CurrentSystem.$override.withValue(system, operation: body)
    }

    /// All managers that are created from now on belong to this system, wherever that is.
    public func install() { CurrentSystem.replacement.with { $0 = system } }

    /// Managers belong to the system of the process again.
    public func uninstall() {
        CurrentSystem.replacement.with { [system] in if $0 === system { $0 = nil } }
    }

    /// Ends the app like a killed process: its managers receive nothing any more.
    public func kill() async {
        uninstall()
        await system.kill()
    }
}
