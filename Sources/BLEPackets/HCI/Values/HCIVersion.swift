/// The version of the Core specification that a controller implements (Assigned Numbers, 2.1).
public struct HCIVersion: RawRepresentable, Hashable, Comparable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let core10b = HCIVersion(rawValue: 0x00)
    public static let core11 = HCIVersion(rawValue: 0x01)
    public static let core12 = HCIVersion(rawValue: 0x02)
    public static let core20 = HCIVersion(rawValue: 0x03)
    public static let core21 = HCIVersion(rawValue: 0x04)
    public static let core30 = HCIVersion(rawValue: 0x05)
    public static let core40 = HCIVersion(rawValue: 0x06)
    public static let core41 = HCIVersion(rawValue: 0x07)
    public static let core42 = HCIVersion(rawValue: 0x08)
    public static let core50 = HCIVersion(rawValue: 0x09)
    public static let core51 = HCIVersion(rawValue: 0x0A)
    public static let core52 = HCIVersion(rawValue: 0x0B)
    public static let core53 = HCIVersion(rawValue: 0x0C)
    public static let core54 = HCIVersion(rawValue: 0x0D)

    @inlinable public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// `5.4`; `nil` for an unknown version.
    public var name: String? {
        switch rawValue {
        case 0: "1.0b"
        case 1: "1.1"
        case 2: "1.2"
        case 3: "2.0"
        case 4: "2.1"
        case 5: "3.0"
        case 6: "4.0"
        case 7: "4.1"
        case 8: "4.2"
        case 9: "5.0"
        case 10: "5.1"
        case 11: "5.2"
        case 12: "5.3"
        case 13: "5.4"
        default: nil
        }
    }
}
