/// The number of a command: its group (OGF) in the upper six bits, the command (OCF) in the lower ten
/// (Core 5.4, Vol 4, Part E, 5.4.1).
public struct HCIOpcode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    public enum Group: UInt16, Sendable {
        case linkControl = 0x01
        case linkPolicy = 0x02
        case controllerAndBaseband = 0x03
        case informationalParameters = 0x04
        case statusParameters = 0x05
        case testing = 0x06
        case leController = 0x08
        case vendorSpecific = 0x3F
    }

    @inlinable
    public init(group: Group, command: UInt16) { rawValue = group.rawValue << 10 | command & 0x3FF }

    public var groupField: UInt16 { rawValue >> 10 }
    public var commandField: UInt16 { rawValue & 0x3FF }
}
