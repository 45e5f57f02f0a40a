/// For which data the controller waits for the host (Core 5.4, Vol 4, Part E, 7.3.38).
public struct FlowControlMode: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The controller sends everything that arrives.
    public static let off = FlowControlMode(rawValue: 0x00)
    /// The controller waits for the host with ACL data.
    public static let aclOnly = FlowControlMode(rawValue: 0x01)
    /// The controller waits for the host with synchronous data.
    public static let synchronousOnly = FlowControlMode(rawValue: 0x02)
    /// The controller waits for the host with ACL data and with synchronous data.
    public static let both = FlowControlMode(rawValue: 0x03)
}
