import BLEPackets

/// Which of the devices that clients wait for the controller looks for now, if it cannot look for all of them.
///
/// The places of a turn go to the clients one after the other, and each client's place to the device that has waited
/// longest since its last turn. So a client that waits for hundreds of devices only delays its own.
struct ConnectionTurns {
    /// Those that wait; the one at the front gets the next place.
    private var clients: [ClientID] = []
    private var window: [DeviceAddress] = []
    private var number = 1
    /// When the present turn is over; `nil` while all can be looked for at the same time.
    private(set) var ends: Instant?

    /// All can be looked for. What the present turn still had to do comes first when they cannot any more.
    mutating func stop() { ends = nil }

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
        window.removeAll { !peers.contains($0) }
        let size = min(size, peers.count)
        if window.count > size { window.removeSubrange(size...) }
        if window.count < size { fill(&pending, peers, size: size) }
        return window
    }

    private mutating func fill(_ pending: inout [Connector.Pending], _ peers: [DeviceAddress], size: Int) {
        let isWaiting = Set(peers)
        var candidates: [ClientID: [Connector.Pending]] = [:]
        for waiting in pending where isWaiting.contains(waiting.request.peer.withoutIdentityMark) {
            candidates[waiting.client, default: []].append(waiting)
            if !clients.contains(waiting.client) { clients.append(waiting.client) }
        }
        clients.removeAll { candidates[$0] == nil }
        // The last one is taken first. Sorting keeps no order among equals, so that their places decide.
        for client in clients {
            let waiting = candidates[client] ?? []
            candidates[client] = waiting.indices.sorted { (waiting[$0].turn, $0) > (waiting[$1].turn, $1) }
                .map { waiting[$0] }
        }
        var chosen = Set(window)
        var place = 0
        while window.count < size, place < clients.count {
            let client = clients[place]
            var next: DeviceAddress?
            while next == nil, let candidate = candidates[client]?.popLast() {
                let peer = candidate.request.peer.withoutIdentityMark
                if chosen.insert(peer).inserted { next = peer }
            }
            guard let next else {
                place += 1
                continue
            }
            window.append(next)
            clients.remove(at: place)
            clients.append(client)
        }
        for index in pending.indices where chosen.contains(pending[index].request.peer.withoutIdentityMark) {
            pending[index].turn = number
        }
    }
}
