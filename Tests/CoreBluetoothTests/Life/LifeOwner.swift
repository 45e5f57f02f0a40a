@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEMessages
import Foundation

@testable import BLEDaemon
@testable import CoreBluetooth

/// What has the engine, and decides over the life of an app.
protocol LifeOwner: AnyObject, Sendable {
    /// A new process of the app.
    func launch() async throws -> any BluetoothSystem
    /// The process of the app ends without a word. When this returns, the system knows.
    func kill() async throws
    /// The system restarts. Nothing happens if it does not exist without the app.
    func restart() async throws
    /// The user turns Bluetooth off or on.
    func setPower(_ isOn: Bool) async throws
    /// The user sends the app to the background or brings it to the foreground; the system suspends it.
    func move(_ move: AppMove) async throws
}

/// The engine is in the process of the app.
final class OwnEngine: LifeOwner, @unchecked Sendable {
    // @unchecked Sendable is safe because one test calls this, one thing after the other.
    private let stage: Stage
    private let modes: [String]
    private var system: LocalSystem?

    init(_ stage: Stage, modes: [String]) {
        self.stage = stage
        self.modes = modes
    }

    func launch() -> any BluetoothSystem {
        let system = stage.launch(modes: modes)
        self.system = system
        return system
    }

    func kill() async {
        await system?.kill()
        system = nil
    }

    func restart() async { if system != nil { await stage.failHardware() } }

    func setPower(_ isOn: Bool) async {
        system?.onLoop { system in
            let now = system.now
            system.engine.withApps(at: now) { $0.setPower(isOn, at: now) }
            system.pump()
        }
        await system?.barrier()
    }

    func move(_ move: AppMove) async {
        system?.move(move)
        await system?.barrier()
    }
}

/// `bled` has it. The app is installed, so that it may be preserved; its process is that of the tests, which `bled`
/// does not stop.
final class SharedEngine: LifeOwner, @unchecked Sendable {
    // @unchecked Sendable is safe because the daemon is touched only on the loop's thread, and the rest by one test.
    private static let app = AppID(rawValue: "org.example.life")

    private let stage: Stage
    private let path = "@jelling-\(UUID())"
    private let modes: [String]
    private var daemon: Daemon?
    private var system: DaemonSystem?

    init(_ stage: Stage, modes: [String]) throws {
        self.stage = stage
        self.modes = modes
        let apps = URL(fileURLWithPath: stage.folder).appendingPathComponent("apps")
        try FileManager.default.createDirectory(at: apps, withIntermediateDirectories: true)
        let file = apps.appendingPathComponent("life.json")
        let manifest: [String: Any] = [
            "BundleIdentifier": Self.app.rawValue, "UIBackgroundModes": modes, "user": "\(geteuid())",
        ]
        try JSONSerialization.data(withJSONObject: manifest).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    }

    private func onLoop<Value: Sendable>(
        _ body: @escaping @Sendable (SharedEngine) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            stage.loop.run { continuation.resume(with: Result { try body(self) }) }
        }
    }

    /// On the loop.
    private func begin() throws {
        let stage = stage
        var configuration = Daemon.Configuration(
            transport: .simulator(scenario: nil),
            adapter: AdapterConfiguration(makeVirtualTransport: { _ in stage.makeTransport() }), socketPath: path,
            users: [geteuid()])
        configuration.appsFolder = stage.folder + "/apps"
        configuration.journalPath = stage.folder + "/bled.journal"
        configuration.processesPath = stage.folder + "/processes"
        configuration.memoryPressurePath = nil
        daemon = try Daemon(configuration, on: stage.loop)
    }

    func launch() async throws -> any BluetoothSystem {
        try await onLoop { if $0.daemon == nil { try $0.begin() } }
        var environment = AppEnvironment([:])
        environment.identifier = Self.app.rawValue
        environment.modeNames = modes
        environment.asksAtTerminal = false
        let system = DaemonSystem(.init(environment, socketPath: path))
        self.system = system
        return system
    }

    func kill() async throws {
        system?.kill()
        system = nil
        try await waitUntil("the end of the app is noticed") {
            try await onLoop { owner in
                guard let daemon = owner.daemon else { return true }
                return [.notRunning, .relaunching].contains(daemon.core.apps.lifecycle.apps.place(of: Self.app))
            }
        }
    }

    /// Without a word to the apps, as SIGTERM and SIGKILL end it.
    func restart() async throws {
        await withCheckedContinuation { continuation in
            stage.loop.run {
                self.daemon?.onStopped = { continuation.resume() }
                self.daemon?.stop()
            }
        }
        try await onLoop { try $0.begin() }
        guard system != nil else { return }
        try await waitUntil("the app is back") {
            try await onLoop { $0.daemon?.core.connection(of: Self.app) != nil }
        }
    }

    func setPower(_ isOn: Bool) async throws {
        try await onLoop { $0.daemon?.withCore { $0.setPower(isOn) } }
        try await waitUntil("Bluetooth is \(isOn ? "on" : "off")") {
            try await onLoop {
                $0.daemon.map { $0.core.controller.isReady == isOn && $0.runner.isOpen == isOn } ?? true
            }
        }
    }

    /// As an operator: an app that runs because it was woken cannot bring itself to the foreground.
    func move(_ move: AppMove) async throws {
        try await onLoop { owner in
            owner.daemon?.withCore { core in
                switch move {
                case .foreground: core.move(Self.app, to: .foreground)
                case .background: core.move(Self.app, to: .background)
                case .suspended: core.move(Self.app, to: .suspended)
                }
            }
        }
    }

    /// Ends the daemon with the test.
    func end() async {
        system?.kill()
        await withCheckedContinuation { continuation in
            stage.loop.run {
                guard let daemon = self.daemon else { return continuation.resume() }
                daemon.onStopped = { continuation.resume() }
                daemon.stop()
            }
        }
    }
}
