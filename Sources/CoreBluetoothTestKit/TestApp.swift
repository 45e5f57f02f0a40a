import BLE
@_exported import BLETestKit
@_spi(TestKit) import CoreBluetooth
import Foundation

/// An app that uses Core Bluetooth, on a test radio: its managers share a controller there.
///
///     let radio = try TestRadio { TestDevice("Belt") { TestService(.heartRate) } }
///     let app = TestApp(on: radio)
///     let monitor = app.run { HeartRateMonitor() }    // the class under test, which creates a CBCentralManager
///
/// The code under test stays as it is. Code that creates managers later, on other queues, needs `makeCurrent()` instead
/// of `run(_:)`. Several apps can be on one radio, as several phones.
public final class TestApp: Sendable {
    /// How an app is launched.
    public struct Launch: Sendable {
        /// The background modes in its manifest: `bluetooth-central`, `bluetooth-peripheral`.
        public var backgroundModes: [String] = []
        /// Whether the app is launched in the foreground.
        public var startsInForeground = true
        /// Whether the app may use Bluetooth.
        public var authorization = CBManagerAuthorization.allowedAlways
        /// Whether the app sees the services that Apple's system hides.
        public var showsSystemServices = false
        /// Changes the adapter's configuration, for example to add a crypto provider and a store of bonds.
        public var configure: @Sendable (inout AdapterConfiguration) -> Void = { _ in }
        /// Receives messages about API misuse; `nil` prints them.
        public var log: (@Sendable (String) -> Void)?

        public init() {}
    }

    /// The identifier of the app.
    public let identifier: String
    private let radio: TestRadio
    private let launch: Launch
    private let system: SeparateSystem
    /// Keeps what outlives the process of the app.
    private let state: StateFile

    /// Launches an app.
    /// - Parameter identifier: what is preserved for restoration belongs to it.
    public convenience init(on radio: TestRadio, identifier: String = "org.example.app", _ launch: Launch = Launch()) {
        self.init(radio, identifier, launch, StateFile())
    }

    private init(_ radio: TestRadio, _ identifier: String, _ launch: Launch, _ state: StateFile) {
        self.radio = radio
        self.identifier = identifier
        self.launch = launch
        self.state = state
        var adapter = radio.configuration()
        launch.configure(&adapter)
        var settings = SeparateSystem.Settings(identifier: identifier, adapter: adapter, loop: radio.loop)
        settings.backgroundModes = launch.backgroundModes
        settings.startsInForeground = launch.startsInForeground
        settings.authorization = launch.authorization
        settings.showsSystemServices = launch.showsSystemServices
        settings.journalPath = state.path
        settings.log = launch.log
        system = SeparateSystem(settings)
    }

    /// Runs code of the app: the managers that it creates at once belong to this app.
    public func run<Value>(_ body: () throws -> Value) rethrows -> Value { try system.run(body) }

    /// Makes this the app of the process: all managers that are created from now on belong to it, on any queue. Tests
    /// that do so must not run at the same time.
    public func makeCurrent() { system.install() }

    /// The life cycle of the app: foreground, background, suspension, alerts.
    public var application: CBApplication { system.application }

    /// Ends the process of the app, as the system does when memory is short. Its managers receive nothing any more.
    public func terminate() async { await system.kill() }

    /// Ends the app, if that has not happened, and launches it again with what was preserved for it: managers with a
    /// restore identifier are restored.
    public func relaunch(_ launch: Launch? = nil) async -> TestApp {
        await terminate()
        return TestApp(radio, identifier, launch ?? self.launch, state)
    }
}

extension TestApp: CustomStringConvertible {
    public var description: String { "test app \(identifier)" }
}

/// A file in a temporary folder, removed with its last user.
private final class StateFile: Sendable {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ble-test-app-\(UUID())")
    var path: String { folder.appendingPathComponent("state").path }

    init() { try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }
}
