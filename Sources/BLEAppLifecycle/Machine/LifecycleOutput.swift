import BLEHost
import BLEPackets

/// What the owner of an `AppLifecycle` has to do, in order.
public enum LifecycleOutput: Equatable, Sendable {
    /// Give the engine this command, and tell `AppLifecycle.submitted(_:as:)` at once which operation it became.
    case submit(HostCommand, from: ClientID, CommandToken)
    /// Hand it to the manager; nothing overtakes it.
    case event(ClientEvent, to: ManagerID, of: AppID)
    /// Do this with the process of an app.
    case process(ProcessAction, AppID)
    /// Show it to the user, until it is answered or withdrawn.
    case alert(Alert)
    /// The alert has no meaning any more.
    case alertWithdrawn(AlertID)
    /// Write it to the log of an app.
    case log(LogMessage, AppID)
    /// Append it to the journal before anything else is done.
    case journal(JournalEntry)
}

/// The machine's name for a command that it gives.
public struct CommandToken: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// What is done with the process of an app (SPEC 5.4, 5.5).
public enum ProcessAction: Hashable, Codable, Sendable {
    /// Let it run: events follow. In the background it says that it is done by `AppLifecycle.suspend`.
    case resume
    /// Its time is nearly over (SPEC BGX-4).
    case expiring
    /// Let it run no more until `resume`.
    case suspend
    /// End it; it counts as ended already.
    case terminate
    /// Launch it into the background, with these options (SPEC SPR-5, SPR-6).
    case relaunch(LaunchOptions)
}

/// How the process of an app came to its end.
public enum ProcessEnd: Hashable, Codable, Sendable {
    /// It returned from its main function.
    case exited
    /// It was killed by a fault of its own.
    case crashed
    /// The system ended it, for its memory or because it overran its time.
    case terminatedBySystem
    /// The user ended it: nothing is preserved until the user launches it again (SPEC SPR-30).
    case forceQuit
}

/// The name of an alert; each is given once.
public struct AlertID: RawRepresentable, Hashable, Codable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// Something that the user is to know, and may bring an app to the foreground for (SPEC ALR-1 to ALR-5).
public struct Alert: Hashable, Codable, Sendable {
    /// What the user is told.
    public enum Kind: Hashable, Codable, Sendable {
        /// The peripheral is connected.
        case connection
        /// The peripheral's link has ended.
        case disconnection
        /// The peripheral has sent a value.
        case notification
        /// Bluetooth is off and the app wants it on.
        case powerOff
    }

    /// By which it is answered or withdrawn.
    public var id: AlertID
    /// Who would have it shown.
    public var app: AppID
    /// What has happened.
    public var kind: Kind
    /// `nil` for `powerOff`.
    public var peripheral: PeripheralDescription?
}
