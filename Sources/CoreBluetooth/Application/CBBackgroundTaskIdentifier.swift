/// Identifies a task that an app has begun in order to go on in the background, as `UIBackgroundTaskIdentifier` does on
/// Apple's system (``CBApplication/beginBackgroundTask(withName:expirationHandler:)``).
public struct CBBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// No task.
    public static let invalid = CBBackgroundTaskIdentifier(rawValue: 0)
}
