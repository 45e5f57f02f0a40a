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
    /// Whether a crypto provider provides the cryptography for private addresses and signatures.
    var hasCryptoProvider: Bool { Features.pairing && usesCryptoProvider }
    private let usesCryptoProvider: Bool
    private(set) var table = BondTable()
    var resolver = IdentityResolver()
    var signingNumbers = SigningNumbers()

    init(configuration: HostConfiguration) {
        limits = configuration.limits
        usesCryptoProvider = configuration.usesCryptoProvider
    }

    /// The longest name of a device, in octets of UTF-8 (Core 5.4, Vol 3, Part C, 12.1).
    private static let nameLimit = 248

    // MARK: Changes

    func bond(for identity: DeviceAddress) -> Bond? { Features.pairing ? table.bond(for: identity) : nil }

    /// Whether there is a bond, without a copy of it.
    func hasBond(with identity: DeviceAddress) -> Bool { Features.pairing && table.hasBond(with: identity) }

    /// Replaces all bonds with those from a store.
    mutating func restore(_ bonds: [Bond]) { table.replaceAll(by: bonds) }

    /// A bond's content changed: reports it to the owner, who stores bonds.
    mutating func update(_ bond: Bond, into effects: inout Effects) {
        table.set(bond)
        effects.events.append(.bondChanged(bond))
    }

    /// Stores what the server knows about a peer as a client, if that has changed.
    mutating func store(_ record: GATTClientRecord, of identity: DeviceAddress, into effects: inout Effects) {
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
}
