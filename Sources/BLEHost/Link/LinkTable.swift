import BLEPackets

/// The links, found by handle in O(1). A slot index stays valid while its link lives.
///
/// The table knows when the first of its links is due without a walk over them: whatever was lent for a change is asked
/// for its deadline once, at the end of the input (`noteDeadlines`).
struct LinkTable {
    private var slots: [Link?] = []
    private var slotOfHandle: [UInt16: Int] = [:]
    private var deadlines = EarliestDeadline()
    /// The slot whose link may have another deadline than is known, for most inputs the only one.
    private var touched: Int?
    /// Further ones.
    private var alsoTouched: [Int] = []
    private var generation: UInt32 = 0
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { slotOfHandle.isEmpty }
    var count: Int { slotOfHandle.count }
    var isFull: Bool { slotOfHandle.count >= limit }

    /// Slots in use or free; whoever walks over them asks `isOccupied`.
    var slotRange: Range<Int> { 0..<slots.count }

    func isOccupied(_ slot: Int) -> Bool { slots[slot] != nil }

    subscript(slot: Int) -> Link {
        // A slot index comes from this table and its link lives: both hold wherever the engine keeps one.
        _read { yield slots[slot]! }
        _modify {
            touch(slot)
            yield &slots[slot]!
        }
    }

    private mutating func touch(_ slot: Int) {
        guard slot != touched else { return }
        if let touched, !alsoTouched.contains(touched) { alsoTouched.append(touched) }
        touched = slot
    }

    /// When the first of all links is due; as of the last `noteDeadlines`.
    var nextDeadline: Instant? { deadlines.earliest }

    /// Asks the links that may have changed for their deadlines.
    mutating func noteDeadlines() {
        guard let touched else { return }
        self.touched = nil
        noteDeadline(of: touched)
        guard !alsoTouched.isEmpty else { return }
        for slot in alsoTouched { noteDeadline(of: slot) }
        alsoTouched.removeAll(keepingCapacity: true)
    }

    private mutating func noteDeadline(of slot: Int) {
        deadlines.set(isOccupied(slot) ? self[slot].nextDeadline : nil, of: slot)
    }

    func slot(of handle: ConnectionHandle) -> Int? { slotOfHandle[handle.rawValue] }

    /// The slot of exactly this link; `nil` when it ended, even if its handle lives again.
    func slot(of id: LinkID) -> Int? {
        guard let slot = slotOfHandle[id.handle.rawValue], slots[slot]?.id == id else { return nil }
        return slot
    }

    /// The link to a peer that is not about to end.
    /// - Parameter peer: who it is, or the private address under which the link was made.
    func slot(ofPeer peer: DeviceAddress) -> Int? {
        let peer = peer.withoutIdentityMark
        return slots.firstIndex { $0.map { $0.isWith(peer) && !$0.isClosing } ?? false }
    }

    mutating func nextID(for handle: ConnectionHandle) -> LinkID {
        generation &+= 1
        return LinkID(handle: handle, generation: generation)
    }

    mutating func insert(_ link: Link) -> Int {
        let slot: Int
        if let free = slots.firstIndex(where: { $0 == nil }) {
            slot = free
            slots[free] = link
        } else {
            slot = slots.count
            slots.append(link)
        }
        touch(slot)
        slotOfHandle[link.id.handle.rawValue] = slot
        return slot
    }

    mutating func remove(_ slot: Int) -> Link {
        let link = self[slot]
        slotOfHandle[link.id.handle.rawValue] = nil
        slots[slot] = nil
        touch(slot)
        return link
    }
}
