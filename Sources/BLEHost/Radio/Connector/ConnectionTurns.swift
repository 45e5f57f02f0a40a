import BLEPackets

/// Which of the devices that clients wait for the controller looks for now, if it cannot look for all of them.
///
/// The owners of clients have equally many places, as far as they wait for so many devices. An owner's places go to its
/// clients one after the other, and each client's place to the device that has waited longest since its last turn. So
/// one who waits for hundreds of devices, with however many clients, only delays its own devices.
///
/// A turn has a length, but a new device need not wait for its end: its owner gets a place at once if another has at
/// least two more, and an owner who is preferred and has none gets one in any case.
struct ConnectionTurns {
    /// A device that has its turn, and the owner for whom it has.
    private struct Place {
        let peer: DeviceAddress
        let user: ClientUser
    }

    private struct Owner {
        let user: ClientUser
        /// Its clients that wait; the one at the front gets the next place.
        var clients: [ClientID] = []
        /// When it last got a place, as a number that grows; 0: never.
        var served = 0
        var places = 0
        /// Whether a device of it has never had a turn.
        var isNew = false
        /// Whether a device of it may still get a place now.
        var hasMore = true
    }

    /// A client, and for whom it waits: a service waits for several owners.
    private struct Asker: Hashable {
        let client: ClientID
        let user: ClientUser
    }

    /// What waits; the last one is taken first.
    private typealias Candidates = [Asker: [Connector.Pending]]

    /// Those who wait, and those who have lately: who comes again has its turn behind those who waited meanwhile.
    private var owners: [Owner] = []
    private static let rememberedOwners = 64
    private var lastServed = 0
    private var window: [Place] = []
    private var hasNewcomer = false
    private var number = 1
    /// When the present turn is over; `nil` while all can be looked for at the same time.
    private(set) var ends: Instant?

    /// All can be looked for. What the present turn still had to do comes first when they cannot any more.
    mutating func stop() { ends = nil }

    /// A client of this owner waits for another device.
    mutating func recordNewcomer(_ user: ClientUser) {
        if window.contains(where: { $0.user != user }) { hasNewcomer = true }
    }

    /// The devices that have their turn.
    /// - Parameters:
    ///   - pending: the connections that clients wait for; notes the turns.
    ///   - peers: the devices of these that need a turn, each once.
    ///   - size: how many have their turn at the same time, at least one.
    ///   - length: how long a turn lasts.
    mutating func window(
        of pending: inout [Connector.Pending], _ peers: [DeviceAddress], size: Int, length: Microseconds,
        at now: Instant
    ) -> [DeviceAddress] {
        if let ends, ends <= now {
            number += 1
            window = []
            self.ends = nil
        }
        if ends == nil { ends = now.advanced(by: length) }
        let isWaiting = Set(peers)
        window.removeAll { !isWaiting.contains($0.peer) }
        let size = min(size, peers.count)
        if window.count > size { window.removeSubrange(size...) }
        if window.count < size || hasNewcomer { fill(&pending, isWaiting, size: size) }
        return window.map { $0.peer }
    }

    private mutating func fill(_ pending: inout [Connector.Pending], _ isWaiting: Set<DeviceAddress>, size: Int) {
        hasNewcomer = false
        var candidates = lineUp(pending, isWaiting)
        var chosen = Set(window.map { $0.peer })
        while let place = nextOwner(size: size) {
            let user = owners[place].user
            guard let peer = nextPeer(of: place, &candidates, besides: chosen) else {
                owners[place].hasMore = false
                continue
            }
            if window.count >= size, let loser = makeRoom(for: owners[place]) { chosen.remove(loser) }
            chosen.insert(peer)
            window.append(Place(peer: peer, user: user))
            lastServed += 1
            owners[place].served = lastServed
            owners[place].places += 1
        }
        for index in pending.indices where chosen.contains(pending[index].request.peer.withoutIdentityMark) {
            pending[index].turn = number
        }
    }

    /// Brings the owners and their clients up to date.
    /// - Returns: what each client waits for.
    private mutating func lineUp(_ pending: [Connector.Pending], _ isWaiting: Set<DeviceAddress>) -> Candidates {
        var candidates: Candidates = [:]
        for waiting in pending where isWaiting.contains(waiting.request.peer.withoutIdentityMark) {
            candidates[Asker(client: waiting.client, user: waiting.user), default: []].append(waiting)
            var place = owners.firstIndex { $0.user == waiting.user }
            if place == nil {
                place = owners.count
                owners.append(Owner(user: waiting.user))
            }
            if let place, !owners[place].clients.contains(waiting.client) {
                owners[place].clients.append(waiting.client)
            }
        }
        for place in owners.indices {
            let user = owners[place].user
            owners[place].clients.removeAll { candidates[Asker(client: $0, user: user)] == nil }
            owners[place].places = window.count { $0.user == user }
            owners[place].hasMore = true
            owners[place].isNew = false
            // Sorting keeps no order among equals, so that their places decide.
            for client in owners[place].clients {
                let asker = Asker(client: client, user: user)
                guard let waiting = candidates[asker] else { continue }
                if waiting.contains(where: { $0.turn == 0 }) { owners[place].isNew = true }
                candidates[asker] = waiting.indices.sorted { (waiting[$0].turn, $0) > (waiting[$1].turn, $1) }
                    .map { waiting[$0] }
            }
        }
        // Those who wait are kept: there are no more of them than clients, and those for whom they wait.
        if owners.count > Self.rememberedOwners { owners.removeAll { $0.clients.isEmpty } }
        return candidates
    }

    /// The owner whose device gets the next place.
    private func nextOwner(size: Int) -> Int? {
        var next: Int?
        for place in owners.indices where owners[place].hasMore && !owners[place].clients.isEmpty {
            guard window.count < size || loser(to: owners[place]) != nil else { continue }
            guard let best = next else {
                next = place
                continue
            }
            let (one, other) = (owners[place], owners[best])
            if (one.places, one.served) < (other.places, other.served) { next = place }
        }
        return next
    }

    /// The next device of an owner that has no place; its client goes to the end of the owner's clients.
    private mutating func nextPeer(
        of place: Int, _ candidates: inout Candidates, besides chosen: Set<DeviceAddress>
    ) -> DeviceAddress? {
        for (index, client) in owners[place].clients.enumerated() {
            let asker = Asker(client: client, user: owners[place].user)
            while let candidate = candidates[asker]?.popLast() {
                let peer = candidate.request.peer.withoutIdentityMark
                guard !chosen.contains(peer) else { continue }
                owners[place].clients.remove(at: index)
                owners[place].clients.append(client)
                return peer
            }
        }
        return nil
    }

    /// The owner who gives up a place for this one, if one has to: the one with most places.
    private func loser(to winner: Owner) -> Int? {
        let comesFirst = winner.user.isOperator && winner.isNew && winner.places == 0
        var most: Int?
        for place in owners.indices where owners[place].user != winner.user {
            let isDue = comesFirst && !owners[place].user.isOperator && owners[place].places > 0
            guard isDue || owners[place].places >= winner.places + 2 else { continue }
            if most.map({ owners[$0].places < owners[place].places }) ?? true { most = place }
        }
        return most
    }

    /// Takes a place from the owner who has to give one up.
    /// - Returns: the device that had it.
    private mutating func makeRoom(for winner: Owner) -> DeviceAddress? {
        guard let loser = loser(to: winner) else { return nil }
        let user = owners[loser].user
        guard let place = window.lastIndex(where: { $0.user == user }) else { return nil }
        owners[loser].places -= 1
        return window.remove(at: place).peer
    }
}
