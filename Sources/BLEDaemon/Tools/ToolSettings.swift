/// What a tool is told about how the daemon's engine was started.
public struct ToolSettings: Hashable, Sendable {
    /// Whether centrals may open enhanced attribute bearers.
    public var acceptsEnhancedBearers = false
    /// Whether the Generic Access service has Central Address Resolution.
    public var reportsAddressResolution = false

    public init() {}
}
