import BLEPackets

/// Several bearers: operations that cannot disturb each other run at the same time, each on a separate bearer (Core
/// 5.4, Vol 3, Part F, 3.2.11).
///
/// One bearer is at work at a time, so that whatever handles an answer or a timer need not know how many there are.
/// Write commands always go over the unenhanced bearer: that keeps them in order.
extension GATTClient {
    /// A bearer that is not at work.
    struct Lane {
        var number: UInt32
        var bearer: ATTBearer
        var running: Running?
        var indication: UnconfirmedIndication?
    }

    /// How many waiting operations are considered for a free bearer.
    private static let lookahead = 32

    // MARK: Coming and going

    mutating func bearerOpened(_ number: UInt32, mtu: UInt16, at now: Instant) {
        guard end == nil, number != 0, self.number != number, !others.contains(where: { $0.number == number }) else {
            return
        }
        others.append(Lane(number: number, bearer: ATTBearer(enhancedMTU: mtu)))
        pump(now)
    }

    mutating func mtuChanged(to mtu: UInt16, ofBearer number: UInt32) {
        guard turn(to: number) else { return }
        bearer.resize(to: mtu)
        turn(to: 0)
    }

    /// An enhanced bearer was closed. An operation without effects runs again, on the unenhanced bearer, which the peer
    /// cannot close as well; any other has failed, because the peer may or may not have carried it out.
    mutating func bearerClosed(_ number: UInt32, at now: Instant) {
        guard number != 0, turn(to: number) else { return }
        if let ended = running {
            if let id = ended.id, let operation = ended.operation, !ended.isAbandoned,
                !OperationReach(of: operation, client: ended.client).hasEffect
            {
                running = nil
                waiting.putBack(
                    Waiting(
                        id: id, client: ended.client, user: ended.user, work: .operation(operation),
                        isRetry: ended.isRetry, isRerun: true))
            } else {
                apply(.failed(.bearerClosed), now)
            }
        }
        turn(to: 0)
        guard let index = others.firstIndex(where: { $0.number == number }) else { return }
        bearer.addCounters(of: others.remove(at: index).bearer)
        pump(now)
    }

    // MARK: Inputs

    /// Receives one complete PDU of an enhanced bearer.
    /// - Returns: whether it is for the server of this link.
    mutating func receive(_ pdu: RawSpan, onBearer number: UInt32, at now: Instant) -> Bool {
        guard turn(to: number) else { return false }
        defer { turn(to: 0) }
        if pdu.byte(at: 0) == ATTOpcode.exchangeMTURequest.rawValue {
            // The channel determines ATT_MTU (Core 5.4, Vol 3, Part G, 5.3.1).
            guard !bearer.isDead else { return false }
            send(ATTErrorResponse(request: .exchangeMTURequest, handle: .none, error: .requestNotSupported).encoded())
            return false
        }
        return receive(pdu, at: now)
    }

    /// When the first request on any bearer times out, or the first confirmation is overdue.
    ///
    /// Static, because a copy of the client would be made for a call in the midst of its parts.
    static func firstDeadline(of others: [Lane], _ atWork: Instant?) -> Instant? {
        var first = atWork
        for lane in others { first = earliest(first, earliest(lane.bearer.deadline, lane.indication?.deadline)) }
        return first
    }

    /// Time has passed: a request that was not answered in time ends its bearer; if that is the unenhanced one, the
    /// link (Core 5.4, Vol 3, Part F, 3.3.3).
    mutating func advanceBearers(to now: Instant) {
        guard let first = nextDeadline, first <= now else { return }
        forEachBearer { client in
            if client.end == nil { client.confirmOverdue(now) }
            guard client.end == nil, let deadline = client.bearer.deadline, deadline <= now else { return }
            if client.number == 0 {
                client.endAll(.transactionTimeout)
                client.actions.append(.disconnect)
            } else {
                client.bearer.die()
                client.apply(.failed(.transactionTimeout), now)
                client.actions.append(.closeBearer(client.number))
            }
        }
        pump(now)
    }

    // MARK: The bearer at work

    /// Whether there are enhanced bearers.
    @inline(__always)
    var hasOthers: Bool { Features.enhancedBearers && !others.isEmpty }

    /// Has the bearer with this number at work.
    /// - Returns: whether there is such a bearer.
    @inline(__always)
    @discardableResult
    mutating func turn(to number: UInt32) -> Bool {
        self.number == number || Features.enhancedBearers && exchange(number)
    }

    @inline(never)
    private mutating func exchange(_ number: UInt32) -> Bool {
        guard let index = others.firstIndex(where: { $0.number == number }) else { return false }
        let next = others[index]
        others[index] = Lane(
            number: self.number, bearer: bearer, running: running, indication: indication)
        self.number = next.number
        bearer = next.bearer
        running = next.running
        indication = next.indication
        return true
    }

    /// Has each bearer at work in turn, the one that is at work now first.
    mutating func forEachBearer(_ body: (inout Self) -> Void) {
        guard hasOthers else { return body(&self) }
        let atWork = number
        let numbers = others.map { $0.number }
        body(&self)
        for number in numbers where turn(to: number) { body(&self) }
        turn(to: atWork)
    }

    // MARK: Operations

    /// The bearer on which an operation runs.
    func runningBearer(of id: OperationID) -> UInt32? {
        if running?.id == id { return number }
        guard hasOthers else { return nil }
        return others.first { $0.running?.id == id }?.number
    }

    var isBusyElsewhere: Bool { hasOthers && others.contains { $0.running != nil } }

    /// Starts waiting operations on all free bearers, the enhanced ones first: they have flow control.
    mutating func spread(_ now: Instant) {
        let atWork = number
        var numbers = others.map { $0.number }
        numbers.append(number)
        numbers.sort()
        numbers.removeFirst()
        for number in numbers + [0] where turn(to: number) {
            while end == nil, suspended == nil, running == nil, !bearer.isDead, let index = firstToStart() {
                begin(waiting.start(at: index), now)
            }
        }
        turn(to: atWork)
    }

    /// The first waiting operation that nothing ahead of it delays and that the bearer at work can carry out.
    private func firstToStart() -> Int? {
        guard !waiting.isEmpty else { return nil }
        var ahead = others.compactMap { $0.running?.reach }
        for index in 0..<min(waiting.count, Self.lookahead) {
            let reach = reach(of: waiting.operation(at: index))
            let isHeldUp = ahead.contains { $0.isBefore(reach) }
            if !isHeldUp, number == 0 || !reach.isForUnenhanced { return index }
            ahead.append(reach)
        }
        return nil
    }
}

extension GATTClient {
    fileprivate func reach(of next: Waiting) -> OperationReach {
        switch next.work {
        case .operation(let operation):
            var reach = OperationReach(of: operation, client: next.client)
            if next.isRerun { reach.isForUnenhanced = true }
            if case .unsubscribe(let handle) = operation { addConfiguration(of: handle, to: &reach) }
            return reach
        case .reconfigure(let handle):
            var reach = OperationReach(client: next.client, handles: [handle], hasEffect: true)
            addConfiguration(of: handle, to: &reach)
            return reach
        }
    }

    /// Others may write it by its own handle.
    private func addConfiguration(of value: AttributeHandle, to reach: inout OperationReach) {
        if let entry = subscriptions[value] { reach.handles.append(entry.configuration) }
    }
}

extension GATTClient.Running {
    fileprivate var reach: OperationReach {
        var reach =
            operation.map { OperationReach(of: $0, client: client) } ?? OperationReach(client: client, hasEffect: true)
        if case .configure(let value, let configuration, _, _) = procedure { reach.handles += [value, configuration] }
        return reach
    }
}
