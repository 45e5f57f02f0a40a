import BLEPackets

/// The counters of our signed writes (Core 5.4, Vol 3, Part H, 2.4.5): each is used once, whatever happens to this
/// process.
///
/// A bond stores the lowest counter that was never used. Storing it before each write would cost too much, so counters
/// are reserved in blocks: the stored counter is ahead of those in use, and only this process uses the reserved ones.
/// After a crash the rest of a block is skipped. A block is reserved when half of the one before it is used, so that
/// the store has it long before it is needed; the first block of a run is reserved when the link is made, before
/// clients get the event.
struct SigningNumbers {
    private struct Entry {
        var identity: DeviceAddress
        var key: Key128
        var next: UInt32
    }

    /// How many counters one change of the bond reserves.
    static let block: UInt32 = 256
    /// How many bonds are remembered; a bond that is forgotten skips the rest of its block.
    private static let limit = 256

    private var entries: [Entry] = []

    /// The index of the entry for a bond's key; for an unknown key, all reserved counters count as used.
    private mutating func place(of key: SigningKey, _ identity: DeviceAddress) -> Int {
        if let index = entries.firstIndex(where: { $0.identity == identity }) {
            if entries[index].key != key.key {
                entries[index] = Entry(identity: identity, key: key.key, next: key.counter)
            }
            return index
        }
        if entries.count >= Self.limit { entries.removeFirst() }
        entries.append(Entry(identity: identity, key: key.key, next: key.counter))
        return entries.count - 1
    }

    /// Reserves a block if half of the last one is used.
    /// - Returns: whether the bond has changed and must be stored.
    mutating func setAside(in bond: inout Bond) -> Bool {
        guard let key = bond.localSigningKey else { return false }
        let place = place(of: key, bond.identity)
        let used = entries[place].next
        guard key.counter < used || key.counter - used < Self.block / 2, key.counter < .max else { return false }
        let (sum, isOver) = used.addingReportingOverflow(Self.block)
        bond.localSigningKey?.counter = isOver ? .max : sum
        return true
    }

    /// The counter of the next signature; `nil` if none is reserved.
    /// - Parameter bond: the bond with the reserved counters.
    mutating func next(for bond: Bond) -> UInt32? {
        guard let key = bond.localSigningKey else { return nil }
        let place = place(of: key, bond.identity)
        guard entries[place].next < key.counter else { return nil }
        defer { entries[place].next += 1 }
        return entries[place].next
    }
}
