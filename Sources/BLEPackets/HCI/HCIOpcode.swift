/// The number of a command: its group (OGF) in the upper six bits, the command (OCF) in the lower ten
/// (Core 5.4, Vol 4, Part E, 5.4.1).
public struct HCIOpcode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The family of a command (OGF).
    public enum Group: UInt16, Sendable {
        /// Links; of LE only Disconnect and Read Remote Version Information (Core 5.4, Vol 4, Part E, 7.1).
        case linkControl = 0x01
        /// How links of BR/EDR behave (Part E, 7.2).
        case linkPolicy = 0x02
        /// The controller as a whole: reset, event masks, flow control (Part E, 7.3).
        case controllerAndBaseband = 0x03
        /// Fixed properties of the controller: version, features, address, buffers (Part E, 7.4).
        case informationalParameters = 0x04
        /// The current status, such as RSSI (Part E, 7.5).
        case statusParameters = 0x05
        /// BR/EDR tests; those of LE are among `leController` (Part E, 7.6).
        case testing = 0x06
        /// Everything of LE (Part E, 7.8).
        case leController = 0x08
        /// Vendor-specific content.
        case vendorSpecific = 0x3F
    }

    /// - Parameter command: the OCF, 0 to 0x3FF; higher bits are dropped.
    @inlinable
    public init(group: Group, command: UInt16) { rawValue = group.rawValue << 10 | command & 0x3FF }

    /// The OGF, 0 to 0x3F; `Group` may have no name for it.
    public var groupField: UInt16 { rawValue >> 10 }
    /// The OCF, 0 to 0x3FF.
    public var commandField: UInt16 { rawValue & 0x3FF }
}
