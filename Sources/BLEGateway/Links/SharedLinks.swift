import BLEHost
import BLEPackets

/// The links of the gateway, shared between requesters: a machine without I/O, clock and threads.
///
///     connect ──▶ connecting ──▶ connected ──▶ ending ──▶ free
///                     └──timeout, cancel──────────▲
///
/// A device has one link at a time, and a link one requester. A slot is taken when connecting begins and free when the
/// link has really ended. Each command is answered once; one who goes is answered no more, and loses its links.
public struct SharedLinks: Sendable {
    /// What the program has to do.
    public enum Action: Equatable, Sendable {
        /// Ends with `connected` and `ended`, or with `ended`.
        case connect(LinkToken, DeviceAddress, adapter: Int)
        /// Ends the attempt or the link; `ended` follows.
        case disconnect(LinkToken)
        /// `finished` follows.
        case perform(LinkJob, LinkOperation, on: LinkToken)
        /// `finished` follows.
        case forgetBond(LinkJob, UInt64)
        /// An operation is no longer wanted.
        case cancel(LinkJob)
        case report(LinkEvent, to: LinkRequester)
    }

    enum Phase: Equatable {
        case connecting(deadline: Instant)
        case connected(attMTU: Int)
        /// What its requester gets at the end: `nil` is that the link was released.
        case ending(LinkFailure?)
    }

    struct Link {
        let token: LinkToken
        let address: UInt64
        let adapter: Int
        let party: LinkParty?
        /// `nil`: it is gone.
        var requester: LinkRequester?
        var phase: Phase
        var wasConnected = false
    }

    struct Job {
        let requester: LinkRequester
        let tag: UInt64
        let address: UInt64
        /// `nil`: it needs no link.
        let token: LinkToken?
        let deadline: Instant
    }

    /// The reason of HCI for a link that this side ended (Core 5.4, Vol 1, Part F, 2.19).
    public static let endedHere: UInt8 = 0x16

    public let limits: LinkLimits
    var requesters: Set<LinkRequester> { Set(parties.keys) }
    private var parties: [LinkRequester: LinkParty] = [:]
    private var turns = LinkTurns()
    /// In the order in which they began.
    var links: [Link] = []
    var jobs: [LinkJob: Job] = [:]
    /// Links that have ended and whose bond is being removed: that ends them, and its answer comes first.
    private var postponed: [LinkToken: LinkFailure] = [:]
    var actions: [Action] = []
    private var signals = LinkSignals()
    private var adapters: Set<Int> = []
    private var lastNumber: UInt64 = 0

    public init(_ limits: LinkLimits = LinkLimits()) { self.limits = limits }

    public var slots: LinkSlots { LinkSlots(limit: limits.slots, taken: links.map(\.address)) }

    /// The number of links and attempts of an adapter.
    public func count(ofAdapter adapter: Int) -> Int { links.count { $0.adapter == adapter } }

    /// The moment at which `advance` has something to do.
    public var nextDeadline: Instant? {
        let attempts = links.lazy.compactMap { if case .connecting(let deadline) = $0.phase { deadline } else { nil } }
        return (Array(attempts) + jobs.values.map(\.deadline)).min()
    }

    public mutating func drainActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Requesters

    /// One who gets the slots at once, and with every change.
    /// - Parameter party: with whom it shares its turns; `nil`: with nobody.
    public mutating func addRequester(of party: LinkParty? = nil) -> LinkRequester {
        let requester = LinkRequester(number: nextNumber())
        parties[requester] = party ?? .single(requester)
        actions.append(.report(.slots(slots), to: requester))
        return requester
    }

    /// One who asks for nothing more: its links end.
    public mutating func removeRequester(_ requester: LinkRequester) {
        guard parties.removeValue(forKey: requester) != nil else { return }
        actions.removeAll { if case .report(_, requester) = $0 { true } else { false } }
        // First, so that nobody is told of their end with the link.
        for (job, content) in jobs where content.requester == requester { forget(job) }
        for index in links.indices where links[index].requester == requester {
            links[index].requester = nil
            release(index, reporting: nil)
        }
        endPostponed()
    }

    public mutating func submit(_ command: LinkRequest, from requester: LinkRequester, at now: Instant) {
        guard parties[requester] != nil else { return }
        switch command {
        case .connect(let peer, let timeout): connect(peer, timeout, requester, now)
        case .disconnect(let address): disconnect(address, requester)
        case .perform(let operation, let address, let tag): perform(operation, address, tag, requester, now)
        case .forgetBond(let address, let tag): forgetBond(address, tag, requester, now)
        }
    }

    // MARK: Connecting

    private mutating func connect(
        _ peer: DeviceAddress, _ timeout: Microseconds, _ requester: LinkRequester, _ now: Instant
    ) {
        let address = peer.value
        func failure() -> LinkFailure? {
            guard let link = links.first(where: { $0.address == address }) else {
                return links.count >= limits.slots ? .noSlot : adapters.isEmpty ? .noAdapter : nil
            }
            if case .ending = link.phase { return .inUse }
            return link.requester == requester ? nil : .inUse
        }
        if let failure = failure() {
            // It counts as waiting.
            if failure == .noSlot { _ = hasTurn(requester, now) }
            return actions.append(.report(.connectionFailed(address, failure), to: requester))
        }
        if let link = links.first(where: { $0.address == address }) {
            // An attempt is answered at its end.
            guard case .connected(let mtu) = link.phase else { return }
            return actions.append(.report(.connected(address, attMTU: mtu), to: requester))
        }
        guard let adapter = signals.best(for: address, among: adapters) ?? leastBusyAdapter else { return }
        guard hasTurn(requester, now) else {
            return actions.append(.report(.connectionFailed(address, .noSlot), to: requester))
        }
        let token = LinkToken(number: nextNumber())
        let phase = Phase.connecting(deadline: now.advanced(by: min(timeout, limits.attemptTime)))
        let party = parties[requester]
        links.append(
            Link(token: token, address: address, adapter: adapter, party: party, requester: requester, phase: phase))
        actions.append(.connect(token, peer, adapter: adapter))
        reportSlots()
    }

    private mutating func hasTurn(_ requester: LinkRequester, _ now: Instant) -> Bool {
        guard let party = parties[requester] else { return false }
        let counts = Dictionary(grouping: links.compactMap(\.party), by: \.self).mapValues(\.count)
        let hasOthers = parties.values.contains { $0 != party }
        return turns.takes(
            party, free: limits.slots - links.count, counts: counts, hasOthers: hasOthers, at: now)
    }

    private var leastBusyAdapter: Int? { adapters.min { (count(ofAdapter: $0), $0) < (count(ofAdapter: $1), $1) } }

    private mutating func disconnect(_ address: UInt64, _ requester: LinkRequester) {
        guard let index = links.firstIndex(where: { $0.address == address && $0.requester == requester }) else {
            actions.append(.report(.disconnected(address, reason: Self.endedHere), to: requester))
            return actions.append(.report(.slots(slots), to: requester))
        }
        release(index, reporting: nil)
    }

    /// - Parameter failure: what the requester of an attempt gets; `nil`: that the link was released.
    private mutating func release(_ index: Int, reporting failure: LinkFailure?) {
        if case .ending = links[index].phase { return }
        links[index].phase = .ending(failure)
        actions.append(.disconnect(links[index].token))
        endJobs(of: links[index].token, with: .linkLost(Self.endedHere))
    }

    private mutating func reportSlots() {
        let slots = slots
        for requester in requesters.sorted() { actions.append(.report(.slots(slots), to: requester)) }
    }

    // MARK: What the program reports

    /// A packet of a device was received.
    public mutating func heard(_ address: UInt64, adapter: Int, rssi: Int8, at now: Instant) {
        signals.heard(address, adapter: adapter, rssi: rssi, at: now)
    }

    /// Whether links can be made with an adapter. The links of one that was closed end by `ended`.
    public mutating func setAdapter(_ adapter: Int, isUsable: Bool) {
        if isUsable { adapters.insert(adapter) } else { adapters.remove(adapter) }
    }

    /// A link is established, and its ATT_MTU agreed.
    public mutating func connected(_ token: LinkToken, attMTU: Int) {
        guard let index = links.firstIndex(where: { $0.token == token }), case .connecting = links[index].phase else {
            return
        }
        links[index].phase = .connected(attMTU: attMTU)
        links[index].wasConnected = true
        guard let requester = links[index].requester else { return }
        actions.append(.report(.connected(links[index].address, attMTU: attMTU), to: requester))
    }

    /// A link or an attempt has ended, and nothing of it is left.
    public mutating func ended(_ token: LinkToken, _ failure: LinkFailure) {
        guard let index = links.firstIndex(where: { $0.token == token }) else { return }
        guard !jobs.values.contains(where: { $0.token == nil && $0.address == links[index].address }) else {
            postponed[token] = failure
            if case .connected = links[index].phase { links[index].phase = .ending(nil) }
            return endJobs(of: token, with: .linkLost(Self.endedHere))
        }
        let reason: UInt8 = if case .linkLost(let reason) = failure { reason } else { Self.endedHere }
        endJobs(of: token, with: .linkLost(reason))
        let isFull = links.count >= limits.slots
        let link = links.remove(at: index)
        if isFull, !link.wasConnected, let party = link.party { turns.failed(party) }
        if let requester = link.requester {
            let event: LinkEvent =
                switch link.phase {
                case .connecting: .connectionFailed(link.address, failure)
                case .connected: .disconnected(link.address, reason: reason)
                case .ending(let failure?): .connectionFailed(link.address, failure)
                case .ending(nil): .disconnected(link.address, reason: Self.endedHere)
                }
            actions.append(.report(event, to: requester))
        }
        reportSlots()
    }

    /// Ends what waited for the answer about a bond.
    mutating func endPostponed() {
        for (token, failure) in postponed.sorted(by: { $0.key.number < $1.key.number }) {
            postponed[token] = nil
            ended(token, failure)
        }
    }

    /// The device has sent a value.
    public mutating func notified(_ token: LinkToken, _ handle: AttributeHandle, _ value: [UInt8]) {
        guard let link = links.first(where: { $0.token == token }), case .connected = link.phase,
            let requester = link.requester
        else { return }
        actions.append(.report(.notified(link.address, handle, value), to: requester))
    }

    /// Ends what takes too long.
    public mutating func advance(to now: Instant) {
        for index in links.indices {
            guard case .connecting(let deadline) = links[index].phase, deadline <= now else { continue }
            release(index, reporting: .timedOut)
        }
        for job in jobs.filter({ $0.value.deadline <= now }).map(\.key).sorted(by: { $0.number < $1.number }) {
            end(job, .failure(.timedOut))
            actions.append(.cancel(job))
        }
        endPostponed()
    }
}
