/// The number that the Bluetooth SIG gave to a company (Assigned Numbers, 7).
public struct CompanyIdentifier: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }
}
