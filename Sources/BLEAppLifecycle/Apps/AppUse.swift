/// What the managers of apps have of what an owner may want to limit.
public struct AppUse: Hashable, Sendable {
    /// Managers, including those that continue without a process.
    public var managers = 0
    /// Scans that apps have asked for, whether they run or not.
    public var scans = 0
    /// Services that are published or being published.
    public var services = 0
    /// The attributes of these services.
    public var attributes = 0
    /// Channels that are open, being opened or published.
    public var channels = 0

    /// Nothing.
    public init() {}

    /// Adds what others have.
    public mutating func add(_ other: AppUse) {
        managers += other.managers
        scans += other.scans
        services += other.services
        attributes += other.attributes
        channels += other.channels
    }
}
