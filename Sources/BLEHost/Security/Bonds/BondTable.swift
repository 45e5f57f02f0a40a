import BLEPackets

/// The bonds, each identity once, in the order in which they came.
struct BondTable {
    private(set) var all: [Bond] = [] {
        didSet {
            let now = all.compactMap { bond in
                bond.identityResolvingKey.map { Resolving(identity: bond.identity, key: $0) }
            }
            guard now != resolving else { return }
            resolving = now
            resolvingRevision += 1
        }
    }
    /// By which private addresses are resolved.
    private(set) var resolving: [Resolving] = []
    /// Grows with each change of `resolving`.
    private(set) var resolvingRevision: UInt64 = 1

    struct Resolving: Equatable {
        var identity: DeviceAddress
        var key: Key128
    }

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
