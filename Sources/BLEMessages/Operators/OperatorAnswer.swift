import BLEAppLifecycle
import BLEHost

/// The answer to a request of an operator; what the request does not ask for is empty.
public struct OperatorAnswer: Message, Equatable, Sendable {
    /// For people; empty if it was done.
    public var error = ""
    /// Of `list`, `reload` and `show`.
    public var apps: [AppStatus] = []
    /// Of `status`.
    public var status: DaemonStatus?
    /// Of `alerts` and `followAlerts`, oldest first.
    public var alerts: [OperatorAlert] = []
    /// Of `bonds`; without keys.
    public var bonds: [Bond] = []
    /// The transport of the adapter that answers; empty if the daemon is older than this library.
    public var adapter = ""
    /// Of `remove`.
    public var removed: RemovedApp?
    /// Of `reload`: how many files of the folder of apps were ignored; the log of `bled` says why.
    public var ignoredFiles = 0

    public init() {}

    /// The error of a request to remove a bond that does not exist.
    public static let noBond = "there is no such bond"

    public static var blank: Self { Self() }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "error", &it.error)
        try c.field(2, "apps", &it.apps)
        try c.field(3, "status", &it.status)
        try c.field(4, "alerts", &it.alerts)
        try c.field(5, "bonds", &it.bonds)
        try c.field(6, "adapter", &it.adapter)
        try c.field(7, "removed", &it.removed)
        try c.field(8, "ignored_files", &it.ignoredFiles)
    }
}

/// What was done to remove an app.
public struct RemovedApp: Message, Hashable, Sendable {
    /// The manifests that were deleted; empty if only something was left of the app.
    public var files: [String] = []
    /// The process of the app at the adapter that answers; `nil` if none ran there.
    public var process: UInt32?
    /// Whether that process could not be ended, because it belongs to another user: it goes on without the daemon.
    public var isRunning = false
    /// Whether the devices that the app knew are saved.
    public var keepsState = false

    public init() {}

    public static var blank: Self { Self() }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "files", &it.files)
        try c.field(2, "process", &it.process, nilAs: 0)
        try c.field(3, "is_running", &it.isRunning)
        try c.field(4, "keeps_state", &it.keepsState)
    }
}

/// An alert for the user (SPEC ALR-1 to ALR-5).
public struct OperatorAlert: Message, Hashable, Sendable {
    public var alert: Alert
    /// Whether it has been answered, or no longer matters.
    public var isOver: Bool

    public init(_ alert: Alert, isOver: Bool = false) {
        self.alert = alert
        self.isOver = isOver
    }

    public static var blank: Self { Self(AppAlert.blank.alert) }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        var (id, app, content) = (it.alert.id, it.alert.app, AppAlert(alert: it.alert))
        try c.field(1, "id", &id)
        try c.field(2, "app", &app)
        // One of an unknown kind is listed as a connection: it waits for an answer all the same.
        try c.field(3, "alert", &content)
        it.alert = content.alert
        (it.alert.id, it.alert.app) = (id, app)
        try c.field(4, "is_over", &it.isOver)
    }
}
