/// The kernel's adapters that were there together with the daemon's own: one that is not among them when that one is
/// gone has been plugged in in its place. After a failure of a hub they may all be back in another order.
struct AdapterNeighbours {
    /// `nil`: the daemon's adapter has not been there yet.
    private var keys: Set<AdapterKey>?
    /// The indexes of those without a key, or whose address the kernel may not have read.
    private var unnamed: Set<UInt16> = []

    /// The daemon's own adapter is there.
    mutating func note(_ present: PresentAdapters, besides own: AdapterKey?) {
        keys = Set(present.all.compactMap(\.key)).subtracting(own.map { [$0] } ?? [])
        unnamed = Set(present.all.filter { $0.isUnnamed || $0.key == nil }.map(\.index))
    }

    /// The adapter that takes the place of the daemon's own, which is gone; `nil` if there is none, or more than one.
    func newcomer(among present: [PresentAdapter]) -> PresentAdapter? {
        guard let keys else { return nil }
        let new = present.filter { adapter in
            guard let key = adapter.key else { return false }
            return !keys.contains(key) && !unnamed.contains(adapter.index)
        }
        return new.count == 1 ? new[0] : nil
    }
}
