import BLEPackets

/// The connections that clients wait for, and what the initiator should do for them.
///
/// They never time out (SPEC CEN-9). A single one is a directed attempt; several use the filter accept list together,
/// or take turns by owner and client if the list is too short or has no effect. A controller that cannot scan while it
/// initiates connects on sight: the scan continues, and stops only for a moment when a wanted device was seen.
struct Connector {
    struct Pending {
        var operation: OperationID
        var client: ClientID
        /// Whose the client is.
        var user = ClientUser.common
        var request: ConnectRequest
        var retriesLeft: UInt8
        /// When its peer last had a turn, see `ConnectionTurns`; 0: never.
        var turn = 0
    }

    /// How long the devices in one accept list have their turn while others wait.
    static let listTurn: Microseconds = .seconds(10)
    /// How long a device that was seen may take to answer.
    static let sightTimeout: Microseconds = .seconds(4)
    /// How long a device that did not answer is ignored while others wait: the first time, and at most.
    static let backoff: (first: Microseconds, longest: Microseconds) = (listTurn, .seconds(60))
    /// Pause after a refusal that may be temporary.
    static let retryPause: Microseconds = .seconds(1)

    private(set) var pending: [Pending] = []
    private var turns = ConnectionTurns()
    private var pausedUntil: Instant?
    /// The revision of the bonds whose keys were tried on all addresses that wait; `nil` if another address came since.
    private var resolvedRevision: UInt64?
    private var sighted: (peer: DeviceAddress, onAir: DeviceAddress, until: Instant)?
    /// Devices that were seen and did not accept the connection; they are ignored until the others have had their turn.
    private var postponedPeers: [(peer: DeviceAddress, until: Instant, span: Microseconds)] = []

    var isEmpty: Bool { pending.isEmpty }

    /// Whether a client may wait for another connection: at the limit, one whose owner has less than a sixteenth of
    /// them may. Clients that have the common user count one by one.
    func hasRoom(for client: ClientID, _ user: ClientUser = .common, limit: Int) -> Bool {
        if pending.count < limit { return true }
        let own = pending.count { user == .common ? $0.client == client : $0.user.number == user.number }
        return own < limit / 16
    }

    mutating func add(_ request: ConnectRequest, operation: OperationID, client: ClientID, user: ClientUser = .common) {
        pending.append(
            Pending(
                operation: operation, client: client, user: user, request: request,
                retriesLeft: request.establishmentRetries))
        turns.recordNewcomer(user)
        if request.peer.isResolvablePrivate { resolvedRevision = nil }
    }

    mutating func remove(_ operation: OperationID) -> Pending? {
        guard let index = pending.firstIndex(where: { $0.operation == operation }) else { return nil }
        return pending.remove(at: index)
    }

    /// Removes and returns all that wait for `peer`, oldest first.
    /// - Parameter peer: the device, or the private address under which it was seen.
    mutating func removePending(_ peer: DeviceAddress) -> [Pending] {
        var peer = peer.withoutIdentityMark
        if let sighted, sighted.onAir == peer { peer = sighted.peer }
        let taken = pending.filter { $0.request.peer.withoutIdentityMark == peer }
        if !taken.isEmpty { pending.removeAll { $0.request.peer.withoutIdentityMark == peer } }
        if sighted?.peer == peer { sighted = nil }
        postponedPeers.removeAll { $0.peer == peer }
        return taken
    }

    /// Operations that wait for a private address now wait for the identity behind it.
    mutating func rename(_ address: DeviceAddress, to identity: DeviceAddress) {
        for index in pending.indices where pending[index].request.peer.withoutIdentityMark == address {
            pending[index].request.peer = identity
        }
    }

    /// Whether private addresses wait whose resolution was not tried with these bonds.
    func hasPrivatePeers(toResolveAt revision: UInt64) -> Bool {
        revision != resolvedRevision && pending.contains { $0.request.peer.isResolvablePrivate }
    }

    /// Private addresses that operations wait for, each once, in order. Returned once for each revision of the bonds,
    /// and again if further addresses came.
    /// - Parameter revision: the value of `BondTable.resolvingRevision`.
    mutating func privatePeers(toResolveAt revision: UInt64) -> [DeviceAddress] {
        guard revision != resolvedRevision else { return [] }
        resolvedRevision = revision
        return distinctPeers().filter { $0.isResolvablePrivate }
    }

    mutating func removeAll() -> [Pending] {
        defer {
            pending.removeAll()
            sighted = nil
            postponedPeers.removeAll()
            turns.stop()
            pausedUntil = nil
        }
        return pending
    }

    func waits(for peer: DeviceAddress) -> Bool {
        let peer = peer.withoutIdentityMark
        return pending.contains { $0.request.peer.withoutIdentityMark == peer }
    }

    /// The device that was seen with this address, which may be a private one of it.
    func peer(onAir address: DeviceAddress) -> DeviceAddress {
        if let sighted, sighted.onAir == address { return sighted.peer }
        return address
    }

    /// Puts operations back that had been taken: their link was not established, and they try again.
    mutating func putBack(_ operations: [Pending]) { pending.insert(contentsOf: operations, at: 0) }

    // MARK: Plans

    /// What the initiator should look for.
    /// - Parameters:
    ///   - onSight: whether the controller may initiate only when a wanted device was seen, because it scans.
    ///   - resolving: devices with private addresses; the connection uses the address that was seen.
    mutating func plan(
        timing: Timing, policy: HostConfiguration.PendingConnectionPolicy, acceptListSize: Int, onSight: Bool,
        resolving: [DeviceAddress] = [], at now: Instant
    ) -> Initiator.Plan? {
        if let paused = pausedUntil, paused > now { return nil }
        pausedUntil = nil
        if let seen = sighted, seen.until <= now {
            sighted = nil
            deferPeer(seen.peer, at: now)
        }
        var peers = distinctPeers()
        if !resolving.isEmpty {
            if let seen = sighted, peers.contains(seen.peer), resolving.contains(seen.peer) {
                turns.stop()
                return .directed(seen.onAir, offer(to: [seen.peer], timing: timing))
            }
            peers.removeAll { resolving.contains($0) }
        }
        guard !peers.isEmpty else {
            turns.stop()
            return nil
        }
        if onSight {
            turns.stop()
            guard let peer = sighted?.peer, peers.contains(peer) else { return nil }
            return .directed(peer, offer(to: [peer], timing: timing))
        }
        if peers.count == 1 {
            turns.stop()
            return .directed(peers[0], offer(to: peers, timing: timing))
        }
        if case .acceptList = policy, acceptListSize >= peers.count {
            turns.stop()
            return .acceptList(peers, offer(to: peers, timing: timing))
        }
        return planByTurns(peers, timing: timing, policy: policy, acceptListSize: acceptListSize, at: now)
    }

    private mutating func planByTurns(
        _ peers: [DeviceAddress], timing: Timing, policy: HostConfiguration.PendingConnectionPolicy,
        acceptListSize: Int, at now: Instant
    ) -> Initiator.Plan {
        var size = max(1, acceptListSize)
        var length = Self.listTurn
        if case .directedTurns(let duration) = policy {
            size = 1
            length = duration
        }
        let window = turns.window(of: &pending, peers, size: size, length: length, at: now)
        if window.count == 1 { return .directed(window[0], offer(to: window, timing: timing)) }
        return .acceptList(window, offer(to: window, timing: timing))
    }

    var nextDeadline: Instant? {
        pausedUntil ?? earliest(turns.ends, sighted?.until)
    }

    /// A device that a client waits for was seen, and accepts connections.
    /// - Parameter onAir: the address under which it can be reached now.
    mutating func sighted(_ peer: DeviceAddress, onAir: DeviceAddress? = nil, at now: Instant) {
        let peer = peer.withoutIdentityMark
        guard sighted == nil, !isHeldBack(peer, at: now) else { return }
        sighted = (peer, (onAir ?? peer).withoutIdentityMark, now.advanced(by: Self.sightTimeout))
    }

    private func isHeldBack(_ peer: DeviceAddress, at now: Instant) -> Bool {
        postponedPeers.contains { $0.peer == peer && $0.until > now }
            && pending.contains { $0.request.peer.withoutIdentityMark != peer }
    }

    /// A device that was seen did not answer in time. It may accept only another host, or its advertising may be a
    /// replay.
    private mutating func deferPeer(_ peer: DeviceAddress, at now: Instant) {
        postponedPeers = postponedPeers.filter { waits(for: $0.peer) }
        guard waits(for: peer) else { return }
        var span = Self.backoff.first
        if let index = postponedPeers.firstIndex(where: { $0.peer == peer }) {
            let last = postponedPeers.remove(at: index).span
            span = min(.microseconds(last.rawValue * 2), Self.backoff.longest)
        }
        postponedPeers.append((peer, now.advanced(by: span), span))
    }

    /// Whether a client waits for a device that must be seen before it can be connected to.
    func needsScan(for resolving: [DeviceAddress]) -> Bool {
        !resolving.isEmpty && pending.contains { resolving.contains($0.request.peer.withoutIdentityMark) }
    }

    mutating func pause(at now: Instant) { pausedUntil = now.advanced(by: Self.retryPause) }

    private func distinctPeers() -> [DeviceAddress] {
        var seen = Set<DeviceAddress>()
        return pending.map { $0.request.peer.withoutIdentityMark }.filter { seen.insert($0).inserted }
    }

    /// How a link to one of these peers begins: the parameters that the first one's clients asked for, the PHYs of all.
    private func offer(to peers: [DeviceAddress], timing: Timing) -> Initiator.Offer {
        let first = peers.first
        let wished = pending.first {
            $0.request.peer.withoutIdentityMark == first && ($0.request.parameters ?? $0.request.pace?.busy) != nil
        }
        let parameters =
            wished?.request.parameters ?? wished?.request.pace?.busy ?? timing.pace?.busy
            ?? ConnectionParameterRequest(
                interval: timing.connectionInterval, peripheralLatency: timing.peripheralLatency,
                supervisionTimeout: timing.supervisionTimeout)
        var phys: PHYSet = []
        for waiting in pending where peers.contains(waiting.request.peer.withoutIdentityMark) {
            phys.formUnion(waiting.request.phys ?? .le1M)
        }
        return Initiator.Offer(parameters: parameters, phys: phys)
    }
}
