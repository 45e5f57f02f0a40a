import BLEHost
import BLEJSON
import BLEPackets
import BLEScripts

/// Carries out requests for GATT over the gateway's links: a machine without I/O, clock and threads.
///
///     submit ──▶ waiting ──turn──▶ carried out ──▶ kept ──▶ over
///                                   └─failure, time, gone──▲
///
/// Each request that is accepted has one answer for each step that was carried out, in order, and exactly one that says
/// `"done": true`, the last. Whoever goes gets nothing more, and its link ends.
package struct RemoteGATT: Sendable {
    /// Identifies a session; never used again for a later one.
    package struct SessionID: Hashable, Comparable, Sendable {
        let number: UInt64
        package static func < (a: Self, b: Self) -> Bool { a.number < b.number }
    }

    package enum Action: Equatable, Sendable {
        /// From now on the session asks for links, with the turns of this party.
        case begin(SessionID, LinkParty)
        case ask(SessionID, LinkRequest)
        /// The session asks for nothing more: its link ends.
        case finish(SessionID)
        /// - Parameter isLast: whether nothing follows for this request.
        case answer(GATTDoor, id: String, JSONValue, isLast: Bool)
        /// A value, or the end of the link, that no step waits for.
        case notify(GATTDoor, id: String, device: UInt64, JSONValue)
    }

    /// Why a request is not taken.
    package enum Refusal: Error, Equatable, Sendable {
        /// It was seen before.
        case repeated
        /// Too many wait.
        case busy
    }

    /// What names a request: nobody can use up the identifiers of another.
    private struct Identifier: Hashable {
        let party: LinkParty
        let text: String
    }

    private struct Waiting {
        let request: GATTRequest
        let peer: DeviceAddress
        let door: GATTDoor
        let deadline: Instant
    }

    let limits: GATTLimits
    var sessions: [SessionID: GATTSession] = [:]
    var actions: [Action] = []
    /// The requesters with requests that wait, the one whose turn is next first.
    private var waiting: [(requester: GATTRequester, requests: [Waiting])] = []
    private var identifiers: Set<Identifier> = []
    private var identifierOrder: [Identifier] = []
    private var lastNumber: UInt64 = 0
    /// When those who wait for a slot try again.
    private var nextTurn: Instant?

    private static let turnPause = Microseconds.seconds(1)

    package init(_ limits: GATTLimits = GATTLimits()) { self.limits = limits }

    package mutating func drainActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// For people: the device, who has it, and what it does.
    package var list: [(peer: DeviceAddress, requester: String, state: String)] {
        sessions.sorted { $0.key < $1.key }.map { _, session in
            let state =
                switch session.job?.stage {
                case nil: "kept"
                case .slot?: "waiting"
                case .link?: "connecting"
                case _?: "working"
                }
            return (session.peer, session.requester.description, state)
        }
    }

    package var waitingCount: Int { waiting.reduce(0) { $0 + $1.requests.count } }

    /// The moment at which `advance` has something to do.
    package var nextDeadline: Instant? {
        var next = nextTurn
        for session in sessions.values {
            next = earliest(next, session.job?.deadline ?? session.keptUntil)
            if case .values(_, let until?, _, _)? = session.job?.stage { next = earliest(next, until) }
        }
        for entry in waiting { for request in entry.requests { next = earliest(next, request.deadline) } }
        return next
    }

    // MARK: Requests

    /// - Parameters:
    ///   - peer: the device, with the type of its address.
    ///   - client: where a request over HTTP comes from.
    package mutating func submit(
        _ request: GATTRequest, to peer: DeviceAddress, from door: GATTDoor,
        client: ClientAddress = ClientAddress(address: []), at now: Instant
    ) throws(Refusal) {
        let party: LinkParty = door == .broker ? .broker : .http(client)
        let requester = GATTRequester(party: party, name: request.requester)
        let key = Identifier(party: party, text: request.id)
        guard !identifiers.contains(key) else { throw .repeated }
        let ofRequester = waiting.first { $0.requester == requester }?.requests.count ?? 0
        let ofParty = waiting.reduce(0) { $0 + ($1.requester.party == party ? $1.requests.count : 0) }
        let ofDoor = waiting.reduce(0) { $0 + ($1.requester.isBroker == requester.isBroker ? $1.requests.count : 0) }
        // A broker may have many clients behind it; those of an address are one.
        guard waitingCount < limits.waiting, ofDoor < limits.waitingOfDoor, ofRequester < limits.waitingOfRequester,
            requester.isBroker || ofParty < limits.waitingOfRequester
        else { throw .busy }
        identifiers.insert(key)
        identifierOrder.append(key)
        if identifierOrder.count > limits.identifiers { identifiers.remove(identifierOrder.removeFirst()) }
        let new = Waiting(request: request, peer: peer, door: door, deadline: now.advanced(by: request.timeout))
        if let index = waiting.firstIndex(where: { $0.requester == requester }) {
            waiting[index].requests.append(new)
        } else {
            waiting.append((requester, [new]))
        }
        giveTurns(now)
    }

    /// One who waits for answers over HTTP is gone.
    package mutating func gone(_ door: GATTDoor, at now: Instant) {
        for index in waiting.indices { waiting[index].requests.removeAll { $0.door == door } }
        waiting.removeAll { $0.requests.isEmpty }
        for (id, session) in sessions where session.job?.door == door { finish(id) }
        giveTurns(now)
    }

    /// Nobody wants what is published for this request.
    package mutating func unwanted(id: String, at now: Instant) {
        for index in waiting.indices { waiting[index].requests.removeAll { $0.door == .broker && $0.request.id == id } }
        waiting.removeAll { $0.requests.isEmpty }
        for (key, session) in sessions where session.door == .broker && session.lastID == id { finish(key) }
        giveTurns(now)
    }

    /// Begins what can begin: of each requester one request, then again, so that nobody's many keep others waiting.
    private mutating func giveTurns(_ now: Instant) {
        var index = 0
        while index < waiting.count {
            let requester = waiting[index].requester
            guard let place = waiting[index].requests.firstIndex(where: { canBegin($0, requester) }) else {
                index += 1
                continue
            }
            let next = waiting[index].requests.remove(at: place)
            // It had its turn.
            let entry = waiting.remove(at: index)
            if !entry.requests.isEmpty { waiting.append(entry) }
            begin(next, requester, now)
            index = 0
        }
    }

    private func canBegin(_ next: Waiting, _ requester: GATTRequester) -> Bool {
        let same = sessions.values.first { $0.requester == requester && $0.peer.value == next.peer.value }
        if let same { return same.job == nil }
        let ofDoor = sessions.values.count { $0.requester.isBroker == requester.isBroker }
        guard ofDoor < limits.sessionsOfDoor else { return idleSession(besides: requester, isOfDoor: true) != nil }
        return sessions.count < limits.sessions || idleSession(besides: requester, isOfDoor: false) != nil
    }

    /// A session that is only kept, of the requester with the most, which makes room for one who has fewer.
    /// - Parameter isOfDoor: whether only those of the same door can make room.
    private func idleSession(besides requester: GATTRequester, isOfDoor: Bool) -> SessionID? {
        let own = sessions.values.count { $0.requester == requester }
        let idle = sessions.filter {
            $0.value.job == nil && $0.value.requester != requester
                && (!isOfDoor || $0.value.requester.isBroker == requester.isBroker)
        }
        let counts = Dictionary(grouping: sessions.values, by: \.requester).mapValues(\.count)
        let best = idle.max {
            (counts[$0.value.requester] ?? 0, $1.key) < (counts[$1.value.requester] ?? 0, $0.key)
        }
        guard let best, counts[best.value.requester] ?? 0 > own else { return nil }
        return best.key
    }

    private mutating func begin(_ next: Waiting, _ requester: GATTRequester, _ now: Instant) {
        let job = GATTSession.Job(request: next.request, door: next.door, deadline: next.deadline)
        let known = sessions.first { $0.value.requester == requester && $0.value.peer.value == next.peer.value }?.key
        let id: SessionID
        if let known {
            id = known
        } else {
            let ofDoor = sessions.values.count { $0.requester.isBroker == requester.isBroker }
            let isOfDoor = ofDoor >= limits.sessionsOfDoor
            if isOfDoor || sessions.count >= limits.sessions,
                let idle = idleSession(besides: requester, isOfDoor: isOfDoor)
            {
                release(idle)
            }
            lastNumber += 1
            id = SessionID(number: lastNumber)
            sessions[id] = GATTSession(requester, next.peer)
            actions.append(.begin(id, requester.party))
        }
        sessions[id]?.job = job
        sessions[id]?.lastID = next.request.id
        sessions[id]?.door = next.door
        work(id, now)
    }

    // MARK: Ends

    /// Ends a session that is only kept.
    private mutating func release(_ id: SessionID) {
        guard let session = sessions[id] else { return }
        actions.append(
            .notify(
                session.door, id: session.lastID, device: session.peer.value, ["event": "disconnected", "done": true]))
        finish(id)
    }

    mutating func finish(_ id: SessionID) {
        guard sessions.removeValue(forKey: id) != nil else { return }
        actions.append(.finish(id))
    }

    /// The request is over; its session may be kept.
    mutating func endJob(_ id: SessionID, isOk: Bool, _ now: Instant) {
        guard var session = sessions[id], let job = session.job else { return }
        session.job = nil
        session.keptUntil = now.advanced(by: job.request.keep)
        sessions[id] = session
        let last: JSONValue = ["id": .string(job.request.id), "ok": .boolean(isOk), "done": true]
        actions.append(.answer(job.door, id: job.request.id, last, isLast: true))
        if session.attMTU == nil || job.request.keep.rawValue == 0 { finish(id) }
        giveTurns(now)
    }

    // MARK: Time and slots

    /// Slots may have become free.
    private mutating func tryAgain(_ now: Instant) {
        nextTurn = nil
        let waiting = sessions.filter { if case .slot? = $0.value.job?.stage { true } else { false } }
        let counts = Dictionary(grouping: sessions.values.filter { $0.attMTU != nil }, by: \.requester).mapValues(
            \.count)
        // Who has fewer links comes first.
        let order = waiting.sorted {
            (counts[$0.value.requester] ?? 0, $0.key) < (counts[$1.value.requester] ?? 0, $1.key)
        }
        for (id, session) in order {
            sessions[id]?.job?.stage = .link
            actions.append(.ask(id, .connect(session.peer, timeout: remaining(session, now))))
        }
    }

    func remaining(_ session: GATTSession, _ now: Instant) -> Microseconds {
        .microseconds(max(100_000, now.distance(to: session.job?.deadline ?? now).rawValue))
    }

    /// A place for a link is missing.
    mutating func waitForSlot(_ id: SessionID, _ failure: LinkFailure, _ now: Instant) {
        guard let session = sessions[id] else { return }
        sessions[id]?.job?.stage = .slot(failure)
        nextTurn = earliest(nextTurn, now.advanced(by: Self.turnPause))
        if let idle = idleSession(besides: session.requester, isOfDoor: false) { release(idle) }
    }

    package mutating func advance(to now: Instant) {
        for id in sessions.keys.sorted() {
            guard let session = sessions[id] else { continue }
            guard let job = session.job else {
                if session.keptUntil <= now { release(id) }
                continue
            }
            if case .values(let count, let until?, let taken, _) = job.stage, until <= now, until < job.deadline {
                endWait(id, count: count, taken: taken, now)
            } else if job.deadline <= now {
                // Something may still be on its way: nobody goes on with this link.
                sessions[id]?.attMTU = nil
                if case .slot(let failure) = job.stage {
                    fail(id, GATTFailure(failure), now)
                } else {
                    fail(id, .timeout, now)
                }
            }
        }
        for index in waiting.indices {
            for late in waiting[index].requests where late.deadline <= now {
                let request = late.request
                let error = GATTFailure("noSlot", "the time was over before it was this request's turn")
                let answer: JSONValue = ["id": .string(request.id), "step": 0, "error": error.json]
                actions.append(.answer(late.door, id: request.id, answer, isLast: false))
                let last: JSONValue = ["id": .string(request.id), "ok": false, "done": true]
                actions.append(.answer(late.door, id: request.id, last, isLast: true))
            }
            waiting[index].requests.removeAll { $0.deadline <= now }
        }
        waiting.removeAll { $0.requests.isEmpty }
        if let turn = nextTurn, turn <= now { tryAgain(now) }
        giveTurns(now)
    }

    // MARK: Links

    /// What a session gets of its link.
    package mutating func received(_ event: LinkEvent, for id: SessionID, at now: Instant) {
        guard sessions[id] != nil else { return }
        switch event {
        case .slots(let slots):
            let isAsked = nextTurn != nil && slots.free > 0
            if isAsked { tryAgain(now) }
        case .connected(_, let mtu): connected(id, mtu, now)
        case .connectionFailed(_, let failure):
            guard sessions[id]?.job?.stage == .link else { return }
            switch failure {
            case .noSlot, .inUse, .noAdapter: waitForSlot(id, failure, now)
            // An attempt is shorter than a request may be; others come before the next one.
            case .timedOut where sessions[id]?.job.map { now < $0.deadline } == true: waitForSlot(id, failure, now)
            default: fail(id, GATTFailure(failure), now)
            }
        case .disconnected(_, let reason): disconnected(id, reason, now)
        case .ended(let tag, _, let result):
            guard sessions[id]?.tag == tag else { return }
            ended(id, result, now)
        case .notified(_, let handle, let value): notified(id, handle, value, now)
        }
    }
}
