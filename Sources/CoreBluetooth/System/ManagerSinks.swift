import BLEAppLifecycle

/// A system's state for its managers, under one lock because managers use it from their own queues.
struct ManagerSinks {
    var lastManager: UInt32 = 0
    var lastQuery: UInt32 = 0
    var managers: [ManagerID: ManagerSink] = [:]
    /// Whether the app was woken and the end of the wake is awaited.
    var isAwaited = false
    var isDone: Bool { managers.values.allSatisfy { $0.handled >= $0.awaited } }
    var features: CBCentralManager.Feature = []
    var launchOptions = LaunchOptions()
    var overflow: OverflowSetting?
    var onAlert: (@Sendable (CBApplication.Alert) -> Void)?
    var onExpiration: (@Sendable () -> Void)?
    var hasStarted = false
}
