import BLEAppLifecycle
import BLEText
import Foundation

/// The life of this app, as far as Bluetooth is concerned: what `UIApplication` tells on Apple's system (SPEC 5.4).
///
/// On a gateway an app is in the foreground until something says otherwise.
public final class CBApplication: Sendable {
    /// The one of this process.
    public static let shared = CBApplication(system: { CurrentSystem.system })

    private let system: @Sendable () -> any BluetoothSystem
    init(system: @escaping @Sendable () -> any BluetoothSystem) { self.system = system }

    /// Something that the user is to know, and may bring the app to the foreground for (SPEC ALR-1 to ALR-4).
    public struct Alert: Sendable {
        /// A peripheral that connected, disconnected or sent a value while the app could not hear of it (SPEC ALR-1 to
        /// ALR-3); or Bluetooth that was off when a manager was made with `CBCentralManagerOptionShowPowerAlertKey`.
        public enum Kind: Sendable { case connection, disconnection, notification, powerOff }

        /// What happened.
        public let kind: Kind
        /// The peripheral that it is about; `nil` where it is about none.
        public let identifier: UUID?
        /// What the peripheral calls itself, or advertised; `nil` where that is not known or it is about no peripheral.
        public let name: String?
    }

    /// What the app declares in its manifest, under `UIBackgroundModes` (SPEC BGX-1).
    public var backgroundModes: [String] { AppEnvironment.current.modeNames }

    /// The app is not to be seen any more: it is soon suspended unless it declared a mode (SPEC FGO-1, BGX-2).
    public func enterBackground() { system().move(.background) }
    /// The app is to be seen again; what waited for it is delivered (SPEC FGO-5).
    public func enterForeground() { system().move(.foreground) }
    /// Nothing is delivered until the app is woken or enters the foreground. An app that was woken for an event is suspended
    /// again as soon as its delegates have returned (SPEC BGX-4).
    public func suspend() { system().move(.suspended) }
    /// As `enterForeground()`.
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

    /// Gets each alert, on a thread of the system's; without one they are written to standard error.
    public func onAlert(_ body: (@Sendable (Alert) -> Void)?) { system().onAlert(body) }

    /// Gets each line about misuse instead of standard error.
    public func onLog(_ body: (@Sendable (String) -> Void)?) { MisuseLog.redirect(to: body) }

    /// Names who is asked while devices pair, from now on: the place of the dialog that Apple's system shows.
    ///
    /// An app that names nobody, and that was started from a terminal (standard input and standard error are one), asks
    /// there, as `.keyboardDisplay`; its manifest can forbid that (`"pairing": "none"`). Without a terminal nobody is asked:
    /// devices then pair by the model that needs no person, which is safe from listeners, not from someone in between,
    /// and a device that demands more is not paired with.
    /// - Parameters:
    ///   - agent: `nil`: nobody.
    ///   - capability: what the agent can do.
    ///   - asksConsent: whether the agent is asked before a pairing that the other device began.
    ///   - requiresAuthentication: whether protection against someone in between is demanded: a pairing that cannot give
    ///     it fails. Without, it is used where the other device demands it.
    ///   - requiresSecureConnectionsOnly: whether nothing less than LE security mode 1 level 4 is taken: authenticated LE
    ///     Secure Connections with keys of 16 octets (Core 5.4, Vol 3, Part C, 10.2.4).
    ///   - minimumKeySize: octets, 7 to 16. Less than 16 is for old devices alone, and knowingly.
    ///
    /// What is demanded holds for bonds that are there already: one that is weaker does not serve.
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

    /// Called when a delegate has taken longer than an app may that was woken (SPEC BGX-4), on a thread of the system's.
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

    /// For people, where the app shows no alerts.
    var text: String {
        let words = ["alert: \(kind)", name?.quoted(limit: 60), identifier?.uuidString]
        return words.compactMap(\.self).joined(separator: " ")
    }
}

/// Where an app goes.
enum AppMove: Sendable { case foreground, background, suspended }
