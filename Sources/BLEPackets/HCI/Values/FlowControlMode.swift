/// For which data the controller waits for the host (Core 5.4, Vol 4, Part E, 7.3.38).
public struct FlowControlMode: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let off = FlowControlMode(rawValue: 0x00)
    public static let aclOnly = FlowControlMode(rawValue: 0x01)
    public static let synchronousOnly = FlowControlMode(rawValue: 0x02)
    public static let both = FlowControlMode(rawValue: 0x03)
}
