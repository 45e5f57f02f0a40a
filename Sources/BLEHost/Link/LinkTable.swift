import BLEPackets

/// The links of a controller, found by handle in O(1).
///
/// A `Link` that was found stays valid for as long as it is referenced. A link that has ended is no longer found, and a
/// handle that the controller uses again belongs to another `Link`.
///
/// The table knows when the first of its links is due without a walk over all of them: each link that was lent is asked
/// for its deadline once, at the end of the input (`updateDeadlines`).
struct LinkTable {
    /// Links by place; a place becomes free when its link ends.
    private var places: [Link?] = []
    /// The place of the link by handle; `none` for a handle without a link.
    private var placeOfHandle: [UInt16] = []
    private static let none = UInt16.max
    private(set) var count = 0
    /// Grows when a link comes or goes.
    private(set) var revision: UInt64 = 0
    private var deadlines = EarliestDeadline()
    /// The place of a link whose deadline may have changed; for most inputs it is the only one.
    private var lent: Int?
    /// Places of further links whose deadlines may have changed.
    private var alsoLent: [Int] = []
    private var generation: UInt32 = 0
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { count == 0 }
    var isFull: Bool { count >= limit }

    // MARK: Lending

    /// The link that currently has this handle.
    subscript(handle: ConnectionHandle) -> Link? {
        mutating get {
            guard Features.links else { return nil }
            let index = Int(handle.rawValue)
            guard index < placeOfHandle.count, placeOfHandle[index] != Self.none else { return nil }
            let place = Int(placeOfHandle[index])
            markChanged(place)
            return places[place]
        }
    }

    /// Exactly this link; `nil` if it has ended, even if its handle is in use again.
    subscript(id: LinkID) -> Link? {
        mutating get {
            guard let link = self[id.handle], link.id == id else { return nil }
            return link
        }
    }

    /// Every link, in an order that depends only on the inputs.
    var all: [Link] {
        mutating get {
            guard Features.links else { return [] }
            let all = places.compactMap { $0 }
            for link in all { markChanged(link) }
            return all
        }
    }

    /// The link to a peer, unless the link is closing.
    /// - Parameter peer: the peer's identity address, or the private address under which the link was made.
    mutating func link(to peer: DeviceAddress) -> Link? {
        guard Features.links else { return nil }
        let peer = peer.withoutIdentityMark
        for case let link? in places where link.isWith(peer) && !link.isClosing {
            markChanged(link)
            return link
        }
        return nil
    }

    func contains(where isIncluded: (Link) -> Bool) -> Bool {
        Features.links && places.contains { $0.map(isIncluded) ?? false }
    }

    /// The identities of all peers.
    var identities: [DeviceAddress] { Features.links ? places.compactMap { $0?.security.identity } : [] }

    func count(where isIncluded: (Link) -> Bool) -> Int {
        Features.links ? places.count { $0.map(isIncluded) ?? false } : 0
    }

    /// Notes a link that is about to change and that the table did not lend during this input.
    mutating func markChanged(_ link: Link) {
        guard let place = link.place else { return }
        markChanged(place)
    }

    @inline(__always)
    private mutating func markChanged(_ place: Int) {
        guard place != lent else { return }
        if let lent, !alsoLent.contains(lent) { alsoLent.append(lent) }
        lent = place
    }

    // MARK: Deadlines

    /// When the first of all links is due, as of the last `updateDeadlines`.
    var nextDeadline: Instant? { deadlines.earliest }

    /// Asks the links that may have changed for their deadlines.
    mutating func updateDeadlines() {
        guard Features.links, let lent else { return }
        self.lent = nil
        updateDeadline(of: lent)
        guard !alsoLent.isEmpty else { return }
        for place in alsoLent { updateDeadline(of: place) }
        alsoLent.removeAll(keepingCapacity: true)
    }

    private mutating func updateDeadline(of place: Int) {
        // A link that has ended meanwhile has no deadline.
        guard let link = places[place] else { return }
        deadlines.set(link.nextDeadline, of: place)
    }

    // MARK: Coming and going

    mutating func nextID(for handle: ConnectionHandle) -> LinkID {
        generation &+= 1
        return LinkID(handle: handle, generation: generation)
    }

    /// Adds a link; no other link may have its handle.
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
        revision += 1
        markChanged(link)
    }

    mutating func remove(_ link: Link) {
        guard let place = link.place else { return }
        link.place = nil
        places[place] = nil
        placeOfHandle[Int(link.id.handle.rawValue)] = Self.none
        deadlines.set(nil, of: place)
        count -= 1
        revision += 1
    }
}
