/// A line for the log of an app; most are Apple's messages about misuse of the framework (SPEC 2.3, 2.4).
public enum LogMessage: Hashable, Sendable {
    /// A command below `poweredOn`; it was dropped.
    case notPoweredOn(ManagerRole)
    /// A command to a peripheral that is not connected; it was dropped.
    case notConnected(PeerIdentifier)
    /// A restore identifier without the background mode of its role: the manager is not preserved (SPEC SPR-32).
    case restorationWithoutBackgroundMode(ManagerRole)
    /// Another manager of this role has the same restore identifier: this one is not preserved (SPEC SPR-2).
    case duplicateRestoreIdentifier(ManagerRole, String)
    /// The delegate restores, but the manager has no identifier (SPEC SPR-33). Only the delegate's side can see this.
    case restorationWithoutIdentifier(ManagerRole)
    /// The manager has a restore identifier, but its delegate does not restore (SPEC SPR-9).
    case restorationNotImplemented(ManagerRole)
    /// A method of a delegate that only a subclass of the conforming class has; the compiler has removed it.
    case delegateMethodRemoved(class: String, superclass: String, method: String)
    /// The same as `delegateMethodRemoved`, where the build plugin could see the method in the source but not call it.
    case delegateMethodHidden(class: String, superclass: String, method: String, reason: String)
    /// The same as `delegateMethodRemoved`, if the methods of the class cannot be seen at all.
    case delegateMethodsUnseen(class: String, superclass: String, method: String)
    /// The last reference to a peripheral went while it was connected or connecting (SPEC 2.3).
    case unusedPeripheral(PeerIdentifier)
    /// Every packet is reported, and all reports go to the main queue (SPEC 2.3).
    case duplicatesOnMainQueue
    /// The app added a service that is already in the database (SPEC PER-7).
    case servicePublished
    /// An attribute that does not exist, or no longer exists.
    case unknownAttribute
    /// The manager received a request of the other role, or has not been created.
    case wrongManager
    /// A second answer to a request, or one that came too late (SPEC PER-16).
    case requestAlreadyAnswered
    /// The app did not answer a request for 30 s; its central is disconnected (SPEC 2.4).
    case requestNotAnswered
    /// A key that an advertisement cannot have (SPEC PER-10).
    case advertisementKeyNotAllowed(String)
    /// An attempt to write the Client Characteristic Configuration, which only `setNotifyValue` may write (SPEC 2.3).
    case configurationDescriptorWritten
    /// A background scan without services discovers nothing (SPEC BGC-5).
    case backgroundScanWithoutServices
    /// The app overran its time in the background (SPEC BGX-5).
    case wakeBudgetExceeded(strikes: Int)
    /// Events were dropped while the app could not receive them (SPEC 5.5 rule 2).
    case eventsLost(count: Int)
    /// The app was suspended before it had answered requests of remote centrals, which got an error.
    case requestsEnded(count: Int)
    /// The app has as many of these as the system gives one app (`LifecycleSettings`).
    case appLimitReached(String, limit: Int)
    /// Several apps together have as many of these as the system gives them.
    case sharedLimitReached(String)

    /// The text: one line, without the name of the object.
    public var text: String {
        switch self {
        case .notPoweredOn(let role):
            "API MISUSE: <\(role.className)> can only accept this command while in the powered on state"
        case .notConnected(let peer):
            "API MISUSE: <CBPeripheral \(peer)> can only accept commands while in the connected state"
        case .restorationWithoutBackgroundMode(let role):
            "State restoration of \(role.className) is only allowed for applications that have specified the "
                + "\"\(role.backgroundModeName)\" background mode"
        case .duplicateRestoreIdentifier(let role, let identifier):
            "API MISUSE: another \(role.className) has the restore identifier \"\(identifier)\". "
                + "Restoring will not be supported"
        case .restorationWithoutIdentifier(let role):
            "API MISUSE: \(role.className) has no restore identifier but the delegate implements the "
                + "\(role.restorationMethod) method. Restoring will not be supported"
        case .restorationNotImplemented(let role):
            "API MISUSE: \(role.className) has a restore identifier but the delegate does not implement the "
                + "\(role.restorationMethod) method"
        case .delegateMethodRemoved(let name, let superclass, let method):
            "WARNING: \(name) implements \(method), which is not called: \(superclass) conforms to the delegate's protocol "
                + "without it, and the optimizer has removed it from \(name). Add the plugin DelegateMethods of this package "
                + "to the target, or write extension \(name): \(Self.additions(for: method)) {}"
        case .delegateMethodHidden(let name, let superclass, let method, let reason):
            "WARNING: \(name) implements \(method), which is not called: \(superclass) conforms to the delegate's protocol "
                + "without it, and the plugin DelegateMethods cannot call it: \(reason). Change that, or add "
                + "\(Self.additions(for: method)) to what \(name) conforms to"
        case .delegateMethodsUnseen(let name, let superclass, let method):
            "WARNING: \(superclass) conforms to the delegate's protocol without \(method). If \(name) implements it, or "
                + "other optional methods, they are not called: this program was optimized, or has no symbols. Add the "
                + "plugin DelegateMethods of this package to the target, or write extension \(name): "
                + "\(Self.additions(for: method)) {}"
        case .unusedPeripheral(let peer):
            "API MISUSE: Cancelling connection for unused peripheral <CBPeripheral \(peer)>, "
                + "Did you forget to keep a reference to it?"
        case .duplicatesOnMainQueue:
            "WARNING: <CBCentralManager> is disabling duplicate filtering, but is using the default queue "
                + "(main thread) for delegate events"
        case .servicePublished: "API MISUSE: the service is published already"
        case .unknownAttribute: "API MISUSE: the attribute does not belong to this peer any more"
        case .wrongManager: "API MISUSE: the manager does not have this role"
        case .requestAlreadyAnswered: "API MISUSE: the request is not waiting for an answer"
        case .requestNotAnswered: "A request was not answered in time; the central is disconnected"
        case .advertisementKeyNotAllowed(let key): "The advertisement key '\(key)' is not allowed"
        case .configurationDescriptorWritten:
            "Client Characteristic Configuration descriptors must be configured using setNotifyValue:forCharacteristic:"
        case .backgroundScanWithoutServices: "A background scan must name services; this scan finds nothing"
        case .wakeBudgetExceeded(let strikes): "The time in the background is over (strike \(strikes))"
        case .eventsLost(let count):
            "\(count) events were dropped while the app did not receive them: more may not wait, "
                + "see CBManager.lostEventCount"
        case .requestsEnded(let count):
            "The app was suspended with \(count) unanswered requests; the centrals have received an error. "
                + "Answer sooner, or count the work with CBApplication.beginBackgroundTask"
        case .appLimitReached(let what, let limit): "The system gives an app at most \(limit) \(what)"
        case .sharedLimitReached(let what): "The system has no more \(what) for this app: others have them"
        }
    }
}

extension LogMessage {
    /// The protocol with which a class declares that it adds such a method.
    private static func additions(for method: String) -> String {
        let role =
            if method.hasPrefix("centralManager") { "CentralManager" } else if method.hasPrefix("peripheralManager") {
                "PeripheralManager"
            } else { "Peripheral" }
        return "CB\(role)DelegateAdditions"
    }
}

extension ManagerRole {
    /// The class in the app's API.
    public var className: String { self == .central ? "CBCentralManager" : "CBPeripheralManager" }

    /// The name of the background mode in a manifest (SPEC BGX-1).
    public var backgroundModeName: String { self == .central ? "bluetooth-central" : "bluetooth-peripheral" }

    var restorationMethod: String {
        self == .central ? "centralManager:willRestoreState:" : "peripheralManager:willRestoreState:"
    }
}
