/// Where a connection comes from, as far as limits depend on it: one who has an IPv6 address has all those that begin
/// with the same eight octets.
public struct ClientAddress: Hashable, Sendable {
    private let octets: [UInt8]

    /// - Parameter address: the 4 or 16 octets of an address.
    public init(address: [UInt8]) {
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        octets = address.starts(with: mapped) ? Array(address.dropFirst(12)) : Array(address.prefix(8))
    }
}
