import BLEPackets

/// What is stored about paired devices, and what depends on it: the identity behind a private address, the counter of a
/// signed write, and which bond makes room for another.
///
///     pairing         ──▶ limits ──▶ BondTable ──▶ `bondChanged`, `bondRemoved`
///                                        │
///     private address ──▶ IdentityResolver ┤ resolving keys
///     signed write    ──▶ SigningNumbers ──┘ signing keys and counters
///
/// Links are unknown here: what depends on one is passed with the call, as the address of its peer.
struct Bonds {
    let limits: HostLimits
    /// Whether a toolbox provides the cryptography for private addresses and signatures.
    var hasToolbox: Bool { BuiltIn.pairing && usesToolbox }
    private let usesToolbox: Bool
    private(set) var table = BondTable()
    var resolver = IdentityResolver()
    var signingNumbers = SigningNumbers()

    init(configuration: HostConfiguration) {
        limits = configuration.limits
        usesToolbox = configuration.usesToolbox
    }

    /// The longest name of a device, in octets of UTF-8 (Core 5.4, Vol 3, Part C, 12.1).
    private static let nameLimit = 248

    // MARK: Changes

    func bond(for identity: DeviceAddress) -> Bond? { BuiltIn.pairing ? table.bond(for: identity) : nil }

    /// Whether there is a bond, without a copy of it.
    func hasBond(with identity: DeviceAddress) -> Bool { BuiltIn.pairing && table.hasBond(with: identity) }

    /// Replaces all bonds with those from a store.
    mutating func restore(_ bonds: [Bond]) { table.replaceAll(by: bonds) }

    /// A bond's content changed: tells the owner, who stores bonds.
    mutating func update(_ bond: Bond, into effects: inout Effects) {
        table.set(bond)
        effects.events.append(.bondChanged(bond))
    }

    /// Stores what the server knows about a peer as a client, if that has changed.
    mutating func keep(_ record: GATTClientRecord, of identity: DeviceAddress, into effects: inout Effects) {
        guard var bond = bond(for: identity), bond.clientRecord != record else { return }
        bond.clientRecord = record
        update(bond, into: &effects)
    }

    /// - Returns: whether there was one.
    mutating func remove(_ identity: DeviceAddress, into effects: inout Effects) -> Bool {
        guard table.remove(identity) else { return false }
        effects.events.append(.bondRemoved(identity.withoutIdentityMark))
        return true
    }

    /// Sets the user's name for a device.
    /// - Returns: whether there is such a bond and the name is short enough.
    mutating func name(_ identity: DeviceAddress, _ name: String, into effects: inout Effects) -> Bool {
        guard var bond = bond(for: identity), name.utf8.span.count <= Self.nameLimit else { return false }
        // By octets: comparing texts as Unicode does would take 30 kB of tables into firmware.
        if bond.name?.utf8Prefix(Self.nameLimit) != name.utf8Prefix(Self.nameLimit) {
            bond.name = name
            update(bond, into: &effects)
        }
        return true
    }

    /// The bond's key has encrypted a link.
    /// - Returns: the bond, if its use must be saved at once.
    mutating func use(_ identity: DeviceAddress) -> Bond? { table.use(identity) }

    // MARK: Limits

    /// Whether pairing with a device can lead to a bond: any device in range may begin to pair, and may claim to be a
    /// different device each time.
    func hasRoom(for identity: DeviceAddress) -> Bool {
        if hasBond(with: identity) || table.all.count < limits.bonds { return true }
        return leastUsed(besides: identity, connected: []) != nil
    }

    /// Keeps the bond of a pairing that has just ended, and drops the bond that it replaces.
    /// - Parameters:
    ///   - address: the peer's identity as known before the pairing.
    ///   - isAskedFor: whether this side wanted the pairing.
    ///   - connected: the identities of all connected peers.
    /// - Returns: `false` if no other bond may be dropped for it.
    mutating func keep(
        _ new: Bond, inPlaceOf address: DeviceAddress, isAskedFor: Bool, connected: [DeviceAddress],
        into effects: inout Effects
    ) -> Bool {
        var new = new
        new.isUnasked = !isAskedFor && !new.isAuthenticated
        guard makeRoom(for: &new, connected: connected, into: &effects) else { return false }
        // The device of the link's bond now has another identity.
        if address != new.identity { _ = remove(address, into: &effects) }
        update(new, into: &effects)
        return true
    }

    private mutating func makeRoom(
        for bond: inout Bond, connected: [DeviceAddress], into effects: inout Effects
    ) -> Bool {
        if let old = self.bond(for: bond.identity) {
            // A bond that was asked for once stays so.
            bond.isUnasked = bond.isUnasked && old.isUnasked
            bond.lastUse = old.lastUse
            return true
        }
        let isCrowded = bond.isUnasked && table.all.count(where: { $0.isUnasked }) >= limits.unaskedBonds
        guard isCrowded || table.all.count >= limits.bonds else { return true }
        guard let oldest = leastUsed(besides: bond.identity, connected: connected) else { return false }
        _ = remove(oldest, into: &effects)
        return true
    }

    /// The bond that is missed least: first those that were never used after their pairing, such as those of a stranger
    /// that pairs under many addresses, then by last use. Authenticated bonds and those that were asked for are never
    /// dropped; those of connected devices are the last to go.
    private func leastUsed(besides identity: DeviceAddress, connected: [DeviceAddress]) -> DeviceAddress? {
        var least: (identity: DeviceAddress, isConnected: Bool, lastUse: UInt64)?
        // By place: a bond is too large to be copied for each look at it.
        for place in table.all.indices where table.all[place].isUnasked && table.all[place].identity != identity {
            let candidate = table.all[place].identity
            let isConnected = connected.contains(candidate)
            let lastUse = table.all[place].lastUse
            if let least, (least.isConnected ? 1 : 0, least.lastUse) <= (isConnected ? 1 : 0, lastUse) { continue }
            least = (candidate, isConnected, lastUse)
        }
        return least?.identity
    }
}
