import BLEAppLifecycle

/// A system's state for its managers, under one lock because managers use it from their own queues.
struct ManagerSinks {
    var lastManager: UInt32 = 0
    var lastQuery: UInt32 = 0
    var managers: [ManagerID: ManagerSink] = [:]
    /// Whether the app was woken, so that the machine must know when it has handled its events.
    var isWoken = false
    /// When the app's time is over, in microseconds of the loop's clock; `nil` if nothing limits it.
    var end: UInt64?
    var features: CBCentralManager.Feature = []
    var launchOptions = LaunchOptions()
    var overflow: OverflowSetting?
    var onAlert: (@Sendable (CBApplication.Alert) -> Void)?
    var onExpiration: (@Sendable () -> Void)?
    var hasStarted = false
}
