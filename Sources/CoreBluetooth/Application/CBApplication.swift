import BLEAppLifecycle
import BLEText
import Foundation

/// The life cycle of this app, as far as Bluetooth is concerned: what `UIApplication` reports on Apple's system (SPEC
/// 5.4).
///
/// On a gateway, an app is in the foreground unless its manifest or its launch says otherwise.
public final class CBApplication: Sendable {
    /// The application object of this process.
    public static let shared = CBApplication(system: { CurrentSystem.system })

    private let system: @Sendable () -> any BluetoothSystem
    init(system: @escaping @Sendable () -> any BluetoothSystem) { self.system = system }

    /// An alert for the user, who may bring the app to the foreground because of it (SPEC ALR-1 to ALR-4).
    public struct Alert: Sendable {
        /// The kind of alert: a peripheral connected, disconnected or sent a value while the app was suspended (SPEC
        /// ALR-1 to ALR-3); or Bluetooth was off when the app created a manager with
        /// `CBCentralManagerOptionShowPowerAlertKey`.
        public enum Kind: Sendable { case connection, disconnection, notification, powerOff }

        /// What happened.
        public let kind: Kind
        /// The peripheral; `nil` if the alert is not about one.
        public let identifier: UUID?
        /// The peripheral's GAP device name or advertised name; `nil` if it is unknown or the alert is not about a
        /// peripheral.
        public let name: String?
    }

    /// The background modes that the app's manifest declares under `UIBackgroundModes` (SPEC BGX-1).
    public var backgroundModes: [String] { AppEnvironment.current.modeNames }

    /// The app is no longer visible: it is suspended soon unless it declared a background mode (SPEC FGO-1, BGX-2).
    public func enterBackground() { system().move(.background) }
    /// The app is visible again and receives the events that waited for it (SPEC FGO-5).
    public func enterForeground() { system().move(.foreground) }
    /// Suspends the app: it receives nothing until it is woken or enters the foreground.
    ///
    /// An app that was woken for an event has ten seconds for it (SPEC BGX-4). When it has finished sooner, it calls
    /// this method, and is suspended as soon as its delegates have returned and its background tasks have ended.
    public func suspend() { system().move(.suspended) }
    /// Does the same as `enterForeground()`.
    public func resume() { enterForeground() }

    /// Restore identifiers of the central managers for which the system launched this app
    /// (SPEC SPR-6: `UIApplicationLaunchOptionsBluetoothCentralsKey`).
    public var launchCentrals: [String] { launchOptions.centrals }
    /// Restore identifiers of the peripheral managers for which the system launched this app
    /// (SPEC SPR-6: `UIApplicationLaunchOptionsBluetoothPeripheralsKey`).
    public var launchPeripherals: [String] { launchOptions.peripherals }

    private var launchOptions: LaunchOptions {
        var options = system().launchOptions
        for name in AppEnvironment.current.launchOptions.centrals where !options.centrals.contains(name) {
            options.centrals.append(name)
        }
        for name in AppEnvironment.current.launchOptions.peripherals where !options.peripherals.contains(name) {
            options.peripherals.append(name)
        }
        return options
    }

    /// Sets the handler of alerts, which is called on a thread of the system. Without a handler, alerts go to standard
    /// error.
    public func onAlert(_ body: (@Sendable (Alert) -> Void)?) { system().onAlert(body) }

    /// Sets the handler of messages about API misuse; `nil` writes them to standard error.
    public func onLog(_ body: (@Sendable (String) -> Void)?) { MisuseLog.redirect(to: body) }

    /// Sets the agent that asks the user during pairing, from now on. It replaces the dialog of Apple's system.
    ///
    /// Without a call of this method, an app that was started from a terminal (standard input and standard error) asks
    /// there, as `.keyboardDisplay`; its manifest can turn this off (`"pairing": "none"`). Without a terminal, no
    /// person is asked: devices pair with Just Works, which protects against eavesdroppers but not against a man in the
    /// middle. Pairing with a device that requires more fails.
    /// - Parameters:
    ///   - agent: `nil`: no person is asked.
    ///   - capability: the I/O capability of the agent.
    ///   - asksConsent: whether the agent is asked before a pairing that the other device started.
    ///   - requiresAuthentication: whether pairing must protect against a man in the middle, and fails if it cannot. If
    ///     false, pairing is authenticated only if the other device requires it.
    ///   - requiresSecureConnectionsOnly: whether only LE security mode 1 level 4 is accepted: authenticated LE Secure
    ///     Connections with keys of 16 octets (Core 5.4, Vol 3, Part C, 10.2.4).
    ///   - minimumKeySize: octets, 7 to 16. Accept less than 16 only for old devices, and knowingly.
    ///
    /// The requirements also apply to existing bonds: a bond that is too weak is not used.
    ///
    /// Through `bled` the agent is asked in pairings of this app and, if they have no agent, of other programs of its
    /// user on the same link. What it requires applies to the app's own pairings, and to all pairings and bonds if the
    /// app's user is an operator of `bled`.
    public func setPairingAgent(
        _ agent: (any CBPairingAgent)?, capability: CBPairingCapability = .keyboardDisplay, asksConsent: Bool = false,
        requiresAuthentication: Bool = false, requiresSecureConnectionsOnly: Bool = false, minimumKeySize: Int = 16
    ) {
        system().setPairing(
            agent,
            PairingSettings(
                capability: agent == nil ? nil : capability, asksConsent: agent != nil && asksConsent,
                requiresAuthentication: requiresAuthentication,
                requiresSecureConnectionsOnly: requiresSecureConnectionsOnly, minimumKeySize: minimumKeySize))
    }

    /// Whether the advertisements of peripheral managers that are created from now on send the overflow area. It starts
    /// as `JELLING_OVERFLOW` or the manifest says, else `.on`; either of them, and the owner of the daemon `bled`, can
    /// turn it off for good. Not in Apple's API, which always sends it.
    public var overflowArea: CBOverflowArea {
        get { CBOverflowArea(system().overflow ?? .on) }
        set { system().setOverflow(OverflowSetting(newValue)) }
    }

    // MARK: Work in the background

    /// Begins work that is to be finished in the background, as `UIApplication` has it: the app counts as busy until
    /// `endBackgroundTask(_:)`.
    ///
    /// The time in the background stays limited (`backgroundTimeRemaining`). A woken app that has ended its last task,
    /// whose delegates have returned and which has answered all requests of centrals is suspended at once; without
    /// tasks, it runs for the rest of its ten seconds. Tasks may begin in the foreground, too.
    /// - Parameters:
    ///   - name: for the log of a debugger on Apple's system; not used here.
    ///   - handler: called on the main queue when the time is over. The app has two more seconds; if the task has not
    ///     ended by then, it is suspended and gets a strike (SPEC 5.5 rule 3).
    /// - Returns: the task; end each one, once.
    public func beginBackgroundTask(
        withName name: String? = nil, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> CBBackgroundTaskIdentifier {
        let system = system()
        return system.tasks.begin(handler) { system.tasksChanged(to: $0) }
    }

    /// Ends a task; does nothing for `.invalid` and for a task that has ended.
    public func endBackgroundTask(_ identifier: CBBackgroundTaskIdentifier) {
        let system = system()
        system.tasks.end(identifier) { system.tasksChanged(to: $0) }
    }

    /// How long the app may still run in the background, in seconds; `greatestFiniteMagnitude` in the foreground.
    public var backgroundTimeRemaining: TimeInterval { system().secondsLeft ?? .greatestFiniteMagnitude }

    /// Sets the handler for when an app in the background is at work for longer than it is allowed (SPEC BGX-4). It is
    /// called on a thread of the system, before the expiration handlers of tasks.
    public func onExpiration(_ body: (@Sendable () -> Void)?) { system().onExpiration(body) }
}

extension CBApplication.Alert {
    init(_ alert: BLEAppLifecycle.Alert) {
        kind =
            switch alert.kind {
            case .connection: .connection
            case .disconnection: .disconnection
            case .notification: .notification
            case .powerOff: .powerOff
            }
        identifier = alert.peripheral.map { UUID($0.identifier) }
        name = alert.peripheral?.name
    }

    /// The text for apps that show no alerts themselves.
    var text: String {
        let words = ["alert: \(kind)", name?.quoted(limit: 60), identifier?.uuidString]
        return words.compactMap(\.self).joined(separator: " ")
    }
}
