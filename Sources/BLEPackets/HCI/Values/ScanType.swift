/// Whether a scanner asks for scan responses (Core 5.4, Vol 4, Part E, 7.8.10).
public struct ScanType: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let passive = ScanType(rawValue: 0x00)
    public static let active = ScanType(rawValue: 0x01)
}
