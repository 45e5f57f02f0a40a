import BLEHost
import BLEPackets

/// The bonds of an adapter, in memory and in its store.
struct BondKeeper {
    /// Each identity once, in the order in which they came.
    private(set) var bonds: [Bond]
    private let store: (any BondStore)?
    /// Why the last change was not kept; `nil` where it was.
    private(set) var storeError: BondStoreError?

    /// Reads the store into the engine's settings.
    /// - Throws: `BondStoreError` when it cannot be read.
    init(_ store: (any BondStore)?, into configuration: inout HostConfiguration) throws(BondStoreError) {
        self.store = store
        bonds = []
        guard let stored = try store?.load() else { return }
        bonds = stored.bonds
        configuration.security.identityResolvingKey = stored.identityResolvingKey
    }

    /// Keeps what an event changes, before anybody hears of it: what was told survives a kill.
    mutating func take(_ event: HostEvent) {
        switch event {
        case .bondChanged(let bond):
            if let index = bonds.firstIndex(where: { $0.identity == bond.identity }) {
                bonds[index] = bond
            } else {
                bonds.append(bond)
            }
            change { store throws(BondStoreError) in try store.save(bond) }
        case .bondRemoved(let identity):
            bonds.removeAll { $0.identity == identity }
            change { store throws(BondStoreError) in try store.remove(identity) }
        default: break
        }
    }

    mutating func takeStoreError() -> BondStoreError? {
        defer { storeError = nil }
        return storeError
    }

    private mutating func change(_ change: (any BondStore) throws(BondStoreError) -> Void) {
        guard let store else { return }
        storeError = nil
        do throws(BondStoreError) { try change(store) } catch { storeError = error }
    }
}
