/// What the proxy's scanner does.
public struct ScannerState: Equatable, Sendable {
    public enum Activity: UInt32, Sendable {
        case idle = 0
        case starting = 1
        case running = 2
        case failed = 3
    }

    public var activity: Activity
    /// Whether scan responses are requested.
    public var isActive: Bool
    /// The same, as the settings say.
    public var isConfiguredActive: Bool

    public init(activity: Activity, isActive: Bool, isConfiguredActive: Bool) {
        self.activity = activity
        self.isActive = isActive
        self.isConfiguredActive = isConfiguredActive
    }

    var message: ScannerStateResponse {
        ScannerStateResponse(
            state: activity.rawValue, mode: isActive ? 1 : 0, configuredMode: isConfiguredActive ? 1 : 0)
    }
}
