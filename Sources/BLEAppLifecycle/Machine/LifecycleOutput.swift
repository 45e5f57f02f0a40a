import BLEHost

/// An output of `AppLifecycle`, to be carried out by its owner in order.
public enum LifecycleOutput: Equatable, Sendable {
    /// Submit this command to the engine, and call `AppLifecycle.submitted(_:as:)` at once with its operation.
    case submit(HostCommand, from: ClientID, CommandToken)
    /// Deliver the event to the manager, in order.
    case event(ClientEvent, to: ManagerID, of: AppID)
    /// Deliver the discovery to its managers; only if the engine joins discoveries (`Host.joinsDiscoveries`).
    case discovered(SharedDiscovery)
    /// Do this with the process of an app.
    case process(ProcessAction, AppID)
    /// Show it to the user, until it is answered or withdrawn.
    case alert(Alert)
    /// The alert is no longer relevant: remove it.
    case alertWithdrawn(AlertID)
    /// Write it to the log of an app.
    case log(LogMessage, AppID)
    /// Append the entry to the journal before any later output.
    case journal(JournalEntry)
}

/// Identifies a command of the machine.
public struct CommandToken: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// An action on the process of an app (SPEC 5.4, 5.5).
public enum ProcessAction: Hashable, Sendable {
    /// Resume it: events follow. An app in the background reports with `AppLifecycle.suspend` that it is done.
    case resume
    /// Its time is nearly over (SPEC BGX-4).
    case expiring
    /// Stop it until `resume`.
    case suspend
    /// End it; the machine already treats it as ended.
    case terminate
    /// Launch it into the background, with these options (SPEC SPR-5, SPR-6).
    case relaunch(LaunchOptions)
}

/// The state of an app's process (SPEC 5.4).
public enum AppPlace: Hashable, Sendable {
    /// It does not exist.
    case notRunning
    /// It is being launched and has not reported that it runs.
    case relaunching
    /// The app is in the foreground.
    case foreground
    /// It continues for a while after the app left the foreground.
    case background
    /// It runs to handle an event.
    case woken
    /// It is stopped.
    case suspended
}

/// How the process of an app ended.
public enum ProcessEnd: Hashable, Sendable {
    /// It returned from its main function.
    case exited
    /// It crashed.
    case crashed
    /// The system ended it, because of its memory or because it exceeded its time.
    case terminatedBySystem
    /// The user quit it: nothing is preserved until the user launches it again (SPEC SPR-30).
    case forceQuit
}

/// Identifies an alert; never reused.
public struct AlertID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// An alert for the user, who may bring an app to the foreground because of it (SPEC ALR-1 to ALR-5).
public struct Alert: Hashable, Sendable {
    /// The kind of an alert.
    public enum Kind: String, Hashable, CaseIterable, Sendable {
        /// The peripheral is connected.
        case connection
        /// The peripheral's link has ended.
        case disconnection
        /// The peripheral has sent a value.
        case notification
        /// Bluetooth is off and the app needs it.
        case powerOff
    }

    /// The identifier with which it is answered or withdrawn.
    public var id: AlertID
    /// The app that requests the alert.
    public var app: AppID
    /// The kind of the alert.
    public var kind: Kind
    /// The peripheral; `nil` for `powerOff`.
    public var peripheral: PeripheralDescription?

    package init(id: AlertID, app: AppID, kind: Kind, peripheral: PeripheralDescription?) {
        (self.id, self.app) = (id, app)
        (self.kind, self.peripheral) = (kind, peripheral)
    }
}
