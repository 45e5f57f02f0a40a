import BLEPackets

/// Bonds in the order in which they were added; each identity occurs once.
public struct BondList: Equatable, Sendable {
    /// All bonds, in the order in which they were added.
    public private(set) var all: [Bond] = []

    /// Creates an empty list.
    public init() {}

    /// Creates a list; of several bonds with the same identity, the last is kept, in the place of the first.
    public init(_ bonds: [Bond]) {
        for bond in bonds { set(bond) }
    }

    /// The bond with this identity, however the address is marked; `nil` if there is none.
    public func bond(for identity: DeviceAddress) -> Bond? { place(of: identity).map { all[$0] } }

    func hasBond(with identity: DeviceAddress) -> Bool { place(of: identity) != nil }

    func name(for identity: DeviceAddress) -> String? { place(of: identity).flatMap { all[$0].name } }

    /// Adds a bond; it replaces a bond with the same identity.
    public mutating func set(_ bond: Bond) {
        if let place = place(of: bond.identity) { all[place] = bond } else { all.append(bond) }
    }

    /// Removes the bond with this identity, however the address is marked.
    /// - Returns: whether there was one.
    @discardableResult
    public mutating func remove(_ identity: DeviceAddress) -> Bool {
        guard let place = place(of: identity) else { return false }
        all.remove(at: place)
        return true
    }

    private func place(of identity: DeviceAddress) -> Int? {
        let identity = identity.withoutIdentityMark
        return all.firstIndex { $0.identity == identity }
    }
}
