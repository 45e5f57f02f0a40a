import BLEHost

/// What an app declares before it runs (SPEC 5.3, BGX-1).
public struct AppManifest: Hashable, Sendable {
    /// The app.
    public var app: AppID
    /// The background modes of the app.
    public var backgroundModes: BackgroundModes
    /// Whether the user allows the app to use Bluetooth.
    public var authorization: ManagerAuthorization
    /// Whether the app sees the services of peripherals that Apple's system keeps to itself
    /// (`LifecycleSettings.hiddenServices`).
    public var showsSystemServices = false
    /// How long it may run after it was woken for an event; `nil`: `LifecycleSettings.wakeBudget`.
    public var wakeBudget: Microseconds?
    /// Whether the app's advertisements send the overflow area.
    public var overflow = OverflowSetting.on
    /// The number of the user in the system for whom the app runs: each user gets separate alerts, and what waits for
    /// all apps of one user is bounded (`LifecycleSettings.queuedOctetLimitOfUser`).
    public var user: UInt32 = 0

    public init(
        app: AppID, backgroundModes: BackgroundModes = [], authorization: ManagerAuthorization = .allowedAlways,
        showsSystemServices: Bool = false
    ) {
        self.app = app
        self.backgroundModes = backgroundModes
        self.authorization = authorization
        self.showsSystemServices = showsSystemServices
    }
}

/// `UIBackgroundModes` (SPEC BGX-1).
public struct BackgroundModes: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `bluetooth-central`
    public static let central = BackgroundModes(rawValue: 0x01)
    /// `bluetooth-peripheral`
    public static let peripheral = BackgroundModes(rawValue: 0x02)

    /// The mode that covers a role.
    public init(_ role: ManagerRole) { self = role == .central ? .central : .peripheral }

    /// Creates the modes from the names in a manifest; other names are ignored, see `ManifestNames`.
    public init(names: [String]) {
        self = []
        if names.contains("bluetooth-central") { insert(.central) }
        if names.contains("bluetooth-peripheral") { insert(.peripheral) }
    }
}

/// Why an app was launched by the system (SPEC SPR-6, SPR-7): restore identifiers of the managers that were active
/// while it did not run.
public struct LaunchOptions: Hashable, Sendable {
    /// The identifiers of its central managers.
    public var centrals: [String]
    /// The identifiers of its peripheral managers.
    public var peripherals: [String]

    public init(centrals: [String] = [], peripherals: [String] = []) {
        self.centrals = centrals
        self.peripherals = peripherals
    }

    /// Whether the app was not launched for Bluetooth.
    public var isEmpty: Bool { centrals.isEmpty && peripherals.isEmpty }
}
