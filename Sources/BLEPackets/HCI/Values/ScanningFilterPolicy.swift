/// The advertisers that a scanner reports (Core 5.4, Vol 4, Part E, 7.8.10).
///
/// The unrestricted forms also report advertising that is directed to a resolvable address which could not be resolved.
public struct ScanningFilterPolicy: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Everybody, but what is directed to another device.
    public static let all = ScanningFilterPolicy(rawValue: 0x00)
    /// Devices of the filter accept list, but what is directed to another device.
    public static let acceptListOnly = ScanningFilterPolicy(rawValue: 0x01)
    /// Like `all`, and what is directed to an unresolved address.
    public static let allUnrestricted = ScanningFilterPolicy(rawValue: 0x02)
    /// Like `acceptListOnly`, and what is directed to an unresolved address.
    public static let acceptListOnlyUnrestricted = ScanningFilterPolicy(rawValue: 0x03)
}
