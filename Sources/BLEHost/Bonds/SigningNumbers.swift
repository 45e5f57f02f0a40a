import BLEPackets

/// The numbers that our signed writes carry (Core 5.4, Vol 3, Part H, 2.4.5): each is used once, whatever happens to
/// this process.
///
/// A bond says from which number on none was used. That would have to be written down before each write; so numbers are
/// set aside in blocks: the bond is ahead of what was used, and what was set aside is only used by this process. After
/// a crash the rest of a block is skipped. A block is set aside when half of the one before it is used, so that the
/// store has it long before it is needed; the first of a run when the link is made, before clients hear of it.
struct SigningNumbers {
    private struct Entry {
        var identity: DeviceAddress
        var key: Key128
        var next: UInt32
    }

    /// Numbers that one change of the bond sets aside.
    static let block: UInt32 = 256
    /// Bonds that are remembered; one that is forgotten skips the rest of its block.
    private static let limit = 256

    private var entries: [Entry] = []

    /// The place of a bond's key; one of which nothing is known has used all that was set aside.
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

    /// Sets a block aside where half of the last one is used.
    /// - Returns: whether the bond has changed and has to be kept.
    mutating func setAside(in bond: inout Bond) -> Bool {
        guard let key = bond.localSigningKey else { return false }
        let place = place(of: key, bond.identity)
        let used = entries[place].next
        guard key.counter < used || key.counter - used < Self.block / 2, key.counter < .max else { return false }
        let (sum, isOver) = used.addingReportingOverflow(Self.block)
        bond.localSigningKey?.counter = isOver ? .max : sum
        return true
    }

    /// The number of the next signature; `nil` where none is left.
    /// - Parameter bond: has set it aside.
    mutating func take(from bond: Bond) -> UInt32? {
        guard let key = bond.localSigningKey else { return nil }
        let place = place(of: key, bond.identity)
        guard entries[place].next < key.counter else { return nil }
        defer { entries[place].next += 1 }
        return entries[place].next
    }
}
