import BLEPackets

/// The bonds, each identity once, in the order in which they came.
struct BondTable {
    private(set) var all: [Bond] = []

    /// The bond with this identity, however the address is marked.
    func bond(for identity: DeviceAddress) -> Bond? {
        let identity = identity.withoutIdentityMark
        return all.first { $0.identity == identity }
    }

    /// Takes the place of a bond with the same identity.
    mutating func set(_ bond: Bond) {
        if let index = all.firstIndex(where: { $0.identity == bond.identity }) {
            all[index] = bond
        } else {
            all.append(bond)
        }
    }

    /// - Returns: whether there was one.
    mutating func remove(_ identity: DeviceAddress) -> Bool {
        let identity = identity.withoutIdentityMark
        guard let index = all.firstIndex(where: { $0.identity == identity }) else { return false }
        all.remove(at: index)
        return true
    }

    mutating func removeAll() { all.removeAll() }
}
