/// BlueZ's errors, with the texts that it has for them: some programs compare these.
extension BusError {
    private static func bluez(_ name: String, _ text: String) -> BusError {
        BusError(name: "org.bluez.Error." + name, text: text)
    }

    static func failed(_ text: String) -> BusError { bluez("Failed", text) }
    static func notPermitted(_ text: String) -> BusError { bluez("NotPermitted", text) }
    static func invalidArguments(_ text: String) -> BusError { bluez("InvalidArguments", text) }
    static func inProgress(_ text: String) -> BusError { bluez("InProgress", text) }

    static let notReady = bluez("NotReady", "Resource Not Ready")
    static let invalidArguments = invalidArguments("Invalid arguments in method call")
    static let doesNotExist = bluez("DoesNotExist", "Does Not Exist")
    static let alreadyExists = bluez("AlreadyExists", "Already Exists")
    static let notSupported = bluez("NotSupported", "Operation is not supported")
    static let notConnected = failed("Not connected")
    static let bearerNotConnected = bluez("NotConnected", "Not Connected")
    static let alreadyConnected = bluez("AlreadyConnected", "Already Connected")
    static let notAuthorized = bluez("NotAuthorized", "Operation Not Authorized")
    static let improperlyConfigured = bluez("ImproperlyConfigured", "Improperly Configured")
    static let notAvailable = bluez("NotAvailable", "Operation currently not available")
    static let operationInProgress = failed("Operation already in progress")
    static let connectionAborted = failed("le-connection-abort-by-local")
    static let authenticationFailed = bluez("AuthenticationFailed", "Authentication Failed")
    static let authenticationCanceled = bluez("AuthenticationCanceled", "Authentication Canceled")
    static let authenticationRejected = bluez("AuthenticationRejected", "Authentication Rejected")
    static let authenticationTimeout = bluez("AuthenticationTimeout", "Authentication Timeout")
    static let connectionAttemptFailed = bluez("ConnectionAttemptFailed", "Page Timeout")

    private static func dbus(_ name: String, _ text: String) -> BusError {
        BusError(name: "org.freedesktop.DBus.Error." + name, text: text)
    }

    static func unknownObject(_ path: String) -> BusError {
        dbus("UnknownObject", "Method call for an object that does not exist: \(path)")
    }
    static func unknownMethod(_ call: BusCall) -> BusError {
        dbus(
            "UnknownMethod",
            "Method \"\(call.member)\" with signature \"\(call.signature)\" on interface \""
                + "\(call.interface ?? "(null)")\" doesn't exist\n")
    }
    static func noSuchInterface(_ name: String) -> BusError { dbus("InvalidArgs", "No such interface '\(name)'") }
    static func noSuchProperty(_ name: String) -> BusError { dbus("InvalidArgs", "No such property '\(name)'") }
    static func unknownProperty(_ name: String) -> BusError { dbus("UnknownProperty", "No such property '\(name)'") }
    static func propertyReadOnly(_ name: String) -> BusError {
        dbus("PropertyReadOnly", "Property '\(name)' is not writable")
    }
    static func invalidSignature(_ name: String) -> BusError {
        dbus("InvalidSignature", "Invalid signature for '\(name)'")
    }
    static let noReply = dbus("NoReply", "The client has not answered")
    static let tooManyWishes = dbus("LimitsExceeded", "Too many sessions and registrations of this client or its user")
    static let tooManyRequests = dbus("LimitsExceeded", "Too many operations of this user are under way")
    static let tooManyConnections = failed("le-connection-concurrent-connection-limit")
    public static let limitsExceeded = dbus("LimitsExceeded", "Too many calls of this client wait for a reply")
}
