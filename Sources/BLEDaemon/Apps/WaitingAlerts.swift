import BLEAppLifecycle

/// The alerts of apps that nobody has answered. Each user's are limited on their own: however many one user's apps
/// raise, those of others stay.
struct WaitingAlerts {
    /// Alerts of one user; the oldest one makes room.
    static let limitOfUser = 64

    private var entries: [(alert: Alert, user: UInt32)] = []

    /// Oldest first.
    var all: [Alert] { entries.map(\.alert) }

    subscript(id: AlertID) -> Alert? { entries.first { $0.alert.id == id }?.alert }

    /// - Parameter user: the user of the app that raises the alert.
    /// - Returns: an alert of the same user that is one too many; it is still there.
    mutating func add(_ alert: Alert, of user: UInt32) -> Alert? {
        entries.append((alert, user))
        guard entries.count(where: { $0.user == user }) > Self.limitOfUser else { return nil }
        return entries.first { $0.user == user }?.alert
    }

    /// - Returns: the alert, if it was there.
    mutating func remove(_ id: AlertID) -> Alert? {
        entries.firstIndex { $0.alert.id == id }.map { entries.remove(at: $0).alert }
    }
}
