import BLEPackets

/// The engine's bonds, and by which keys their private addresses are resolved.
struct BondTable {
    private var list = BondList() {
        didSet {
            let now = list.all.compactMap { bond in
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

    var all: [Bond] { list.all }

    func bond(for identity: DeviceAddress) -> Bond? { list.bond(for: identity) }

    mutating func set(_ bond: Bond) { list.set(bond) }

    /// - Returns: whether there was one.
    mutating func remove(_ identity: DeviceAddress) -> Bool { list.remove(identity) }

    mutating func replaceAll(by bonds: [Bond]) { list = BondList(bonds) }
}
