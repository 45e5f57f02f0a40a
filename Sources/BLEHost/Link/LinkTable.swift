import BLEPackets

/// The links of a controller, found by handle in O(1).
///
/// A link that was found stays what it is for as long as it is referred to: one that has ended is not found any more, and a
/// handle that is given out again belongs to another `Link`.
///
/// The table knows when the first of its links is due without a walk over them: each link that was lent is asked for its
/// deadline once, at the end of the input (`noteDeadlines`).
struct LinkTable {
    /// By their places; a place becomes free when its link ends.
    private var places: [Link?] = []
    /// The place of the link with a handle; `none` for a handle without a link.
    private var placeOfHandle: [UInt16] = []
    private static let none = UInt16.max
    private(set) var count = 0
    private var deadlines = EarliestDeadline()
    /// The link that may have another deadline than is known, for most inputs the only one.
    private var lent: Link?
    /// Further ones.
    private var alsoLent: [Link] = []
    private var generation: UInt32 = 0
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { count == 0 }
    var isFull: Bool { count >= limit }

    // MARK: Lending

    /// The link that has this handle now.
    subscript(handle: ConnectionHandle) -> Link? {
        mutating get {
            let index = Int(handle.rawValue)
            guard index < placeOfHandle.count, placeOfHandle[index] != Self.none,
                let link = places[Int(placeOfHandle[index])]
            else { return nil }
            note(link)
            return link
        }
    }

    /// Exactly this link; `nil` when it ended, even if its handle lives again.
    subscript(id: LinkID) -> Link? {
        mutating get {
            guard let link = self[id.handle], link.id == id else { return nil }
            return link
        }
    }

    /// Every link, in an order that depends on nothing but the inputs.
    var all: [Link] {
        mutating get {
            let all = places.compactMap { $0 }
            for link in all { note(link) }
            return all
        }
    }

    /// The link to a peer that is not about to end.
    /// - Parameter peer: who it is, or the private address under which the link was made.
    mutating func link(to peer: DeviceAddress) -> Link? {
        let peer = peer.withoutIdentityMark
        for case let link? in places where link.isWith(peer) && !link.isClosing {
            note(link)
            return link
        }
        return nil
    }

    func contains(where isIncluded: (Link) -> Bool) -> Bool {
        places.contains { $0.map(isIncluded) ?? false }
    }

    /// Who the peers of all links are.
    var identities: [DeviceAddress] { places.compactMap { $0?.security.identity } }

    func count(where isIncluded: (Link) -> Bool) -> Int {
        places.count { $0.map(isIncluded) ?? false }
    }

    /// A link is about to change that did not come from here in this input.
    mutating func note(_ link: Link) {
        guard link !== lent else { return }
        if let lent, !alsoLent.contains(where: { $0 === lent }) { alsoLent.append(lent) }
        lent = link
    }

    // MARK: Deadlines

    /// When the first of all links is due; as of the last `noteDeadlines`.
    var nextDeadline: Instant? { deadlines.earliest }

    /// Asks the links that may have changed for their deadlines.
    mutating func noteDeadlines() {
        guard let lent else { return }
        self.lent = nil
        noteDeadline(of: lent)
        guard !alsoLent.isEmpty else { return }
        for link in alsoLent { noteDeadline(of: link) }
        alsoLent.removeAll(keepingCapacity: true)
    }

    private mutating func noteDeadline(of link: Link) {
        guard let place = link.place else { return }
        deadlines.set(link.nextDeadline, of: place)
    }

    // MARK: Coming and going

    mutating func nextID(for handle: ConnectionHandle) -> LinkID {
        generation &+= 1
        return LinkID(handle: handle, generation: generation)
    }

    /// Takes in a link whose handle no other has.
    mutating func insert(_ link: Link) {
        let place: Int
        if let free = places.firstIndex(where: { $0 == nil }) {
            place = free
            places[free] = link
        } else {
            place = places.count
            places.append(link)
        }
        link.place = place
        let index = Int(link.id.handle.rawValue)
        while placeOfHandle.count <= index { placeOfHandle.append(Self.none) }
        placeOfHandle[index] = UInt16(place)
        count += 1
        note(link)
    }

    mutating func remove(_ link: Link) {
        guard let place = link.place else { return }
        link.place = nil
        places[place] = nil
        placeOfHandle[Int(link.id.handle.rawValue)] = Self.none
        deadlines.set(nil, of: place)
        count -= 1
    }
}
