import BLEPackets

/// The engine's bonds, and the keys that resolve their private addresses.
struct BondTable {
    private var list = BondList() {
        didSet {
            let now = list.all.compactMap { bond in
                bond.identityResolvingKey.map { ResolvingKey(identity: bond.identity, key: $0) }
            }
            guard now != resolving else { return }
            resolving = now
            resolvingRevision += 1
        }
    }
    /// The keys that resolve private addresses.
    private(set) var resolving: [ResolvingKey] = []
    /// Increases with each change of `resolving`.
    private(set) var resolvingRevision: UInt64 = 1

    var all: [Bond] { list.all }

    func bond(for identity: DeviceAddress) -> Bond? { list.bond(for: identity) }

    func hasBond(with identity: DeviceAddress) -> Bool { list.hasBond(with: identity) }

    func name(for identity: DeviceAddress) -> String? { list.name(for: identity) }

    mutating func set(_ bond: Bond) { list.set(bond) }

    /// - Returns: whether there was one.
    mutating func remove(_ identity: DeviceAddress) -> Bool { list.remove(identity) }

    /// A bond's key has encrypted a link: the bond becomes the most recently used one.
    /// - Returns: the bond, if it must be saved at once because many others have been used since the last time.
    mutating func use(_ identity: DeviceAddress) -> Bond? {
        guard var bond = list.bond(for: identity) else { return nil }
        let latest = all.reduce(0) { max($0, $1.lastUse) }
        if bond.lastUse == latest, latest != 0 { return nil }
        let others = all.count { $0.lastUse > bond.lastUse }
        // Bonds that are never dropped need no order beyond this run.
        let isDroppable = bond.isUnasked || Features.users && bond.isOfOrdinaryUser
        let isDue = isDroppable && (bond.lastUse == 0 || others >= Self.useInterval)
        let (next, isTooGreat) = latest.addingReportingOverflow(1)
        bond.lastUse = isTooGreat ? latest : next
        list.set(bond)
        return isDue ? bond : nil
    }

    /// How many others may be used after a bond before its own use is saved: a write for each connection would wear out
    /// the disk.
    private static let useInterval = 16

    mutating func replaceAll(by bonds: [Bond]) { list = BondList(bonds) }
}
