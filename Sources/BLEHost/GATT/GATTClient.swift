import BLEPackets

/// The GATT client of one link: carries out operations one after another, those of several clients in turns, and
/// reports the values that the peer sends unasked (Core 5.4, Vol 3, Part G, 4).
///
///     start ──▶ waiting ──▶ running ──answer──▶ running … ──▶ completed
///                  │           │
///                  └─ cancel ──┴──▶ completed; the answer is received and dropped
///
/// Each operation ends exactly once: with its result, a failure, a cancellation, a time-out or the end of the link
/// (pain 4). There is no clock and no I/O: time comes in with each input, and the owner fetches the actions with
/// `nextAction` after it.
struct GATTClient {
    struct Waiting {
        var id: OperationID?
        var client: ClientID
        /// The number of the client's user.
        var user = ClientUser.common.number
        var work: Work
        /// Whether this is the second attempt, after the first was refused for insufficient security.
        var isRetry = false
        /// Whether the bearer on which it ran was closed.
        var isRerun = false
    }

    /// An operation that waits until the link is secure.
    struct Suspended {
        var operation: Waiting
        var error: ATTError
        var handle: AttributeHandle
    }

    enum Work {
        case operation(GATTOperation)
        /// Write the peer's configuration for this value as the holders want it.
        case reconfigure(AttributeHandle)
    }

    struct Running {
        /// `nil` if the operation has already ended, or belongs to no client.
        var id: OperationID?
        var client: ClientID
        var user = ClientUser.common.number
        var procedure: GATTProcedure
        /// Whether the result is no longer wanted: the answer in progress ends the operation.
        var isAbandoned = false
        var isRetry = false
        var isRerun = false
        /// How many requests were sent.
        var requests = 0
        /// When the first request was sent.
        var start: Instant
        /// The operation to repeat; `nil` if no client started it.
        var operation: GATTOperation?
        /// The configurations of values that clients use among what the operation writes.
        var configurations: [ConfigurationWrite] = []

        /// The value whose configuration the operation writes.
        var configured: AttributeHandle? {
            if case .configure(let value, _, _, _) = procedure { value } else { nil }
        }
    }

    let settings: GATTClientSettings
    /// The bearer at work: between inputs the unenhanced one, whose number is zero.
    var number: UInt32 = 0
    var bearer = ATTBearer()
    /// The other bearers.
    var others: [Lane] = []
    var subscriptions = SubscriptionTable()
    /// The peer's Service Changed, once a client has discovered it: it invalidates the ranges that it names.
    private(set) var serviceChanged: AttributeHandle?
    /// Whether an indication was confirmed and dropped that may have been Service Changed: the peer will not repeat it.
    var hasMissedChange = false
    var early: EarlyNotifications
    /// Clients for whose values indications are left unconfirmed.
    var holdingClients: [ClientID] = []
    /// The indication of the bearer at work whose confirmation waits for clients.
    var indication: UnconfirmedIndication?
    var commands: WriteCommandQueue
    /// Values and write commands on their way out.
    var octets = OctetRing()
    var running: Running?
    var waiting = OperationLine()
    private(set) var suspended: Suspended?
    var actions = Queue<GATTClientAction>()
    /// Why no operation can be started any more.
    private(set) var end: GATTFailure?
    /// Whether sent PDUs wait outside for the peer's proof of its bond: the timeout for a response has not begun.
    var isPaused = false

    init(settings: GATTClientSettings = GATTClientSettings()) {
        self.settings = settings
        early = EarlyNotifications(limit: settings.earlyNotificationLimit)
        commands = WriteCommandQueue(limit: settings.writeCommandLimit)
    }

    /// ATT_MTU in octets.
    var mtu: UInt16 { bearer.mtu }
    var counters: ATTCounters { bearer.counters }
    /// Whether a write command would be accepted (SPEC 2.3).
    var canSendWriteCommand: Bool { end == nil && !commands.isFull }
    /// When `advance` must be called next.
    @inline(__always)
    var nextDeadline: Instant? {
        guard end == nil, !isPaused else { return nil }
        guard hasOthers else { return earliest(bearer.deadline, indication?.deadline) }
        return Self.firstDeadline(of: others, earliest(bearer.deadline, indication?.deadline))
    }
    /// The client whose operation is under way, or waits for security.
    var clientAtWork: ClientID? {
        let client = running?.client ?? suspended?.operation.client
        return client == .local ? nil : client
    }
    /// The client whose operation waits for security, and the peer's refusal.
    var securityAwaited: (error: ATTError, client: ClientID)? {
        suspended.map { ($0.error, $0.operation.client) }
    }
    /// Whether the link is gone.
    var isUnlinked: Bool { end == .notConnected }
    /// Whether a request to the peer is in progress, apart from the exchange of ATT_MTU.
    var isBusy: Bool {
        if suspended != nil || !waiting.isEmpty || !commands.commands.isEmpty || isBusyElsewhere { return true }
        if case .exchangeMTU? = running?.procedure { return false }
        return running != nil
    }

    /// The next action; must be called until it returns `nil` after every input.
    mutating func nextAction() -> GATTClientAction? { actions.popFirst() }

    // MARK: Inputs

    /// The PDU of a write command, which is sent at once with the tag `.command(id)`, before the actions.
    /// - Parameter user: the number of the client's user.
    /// - Returns: `nil` for every other operation, and for a command that cannot be sent: `start` handles these.
    mutating func pduOfWriteCommand(
        _ operation: GATTOperation, id: OperationID, client: ClientID, user: UInt32, at now: Instant
    ) -> [UInt8]? {
        guard case .writeCommand(let handle, let value) = operation else { return nil }
        advance(to: now)
        guard end == nil, value.count <= commandLimit, commands.hasRoom(for: client, user),
            !subscriptions.isConfiguration(handle)
        else { return nil }
        if commands.append(id, client, user) { emit(.writeCommandsFull) }
        return octets.write { ATTWriteCommand(handle: handle, value: value.span.bytes).encode(into: &$0) }
    }

    /// Octets that a write command can carry.
    private var commandLimit: Int { min(Int(mtu) - 3, maximumAttributeLength) }

    /// Starts an operation; a write command is one that `pduOfWriteCommand` did not accept.
    mutating func start(_ operation: GATTOperation, id: OperationID, client: ClientID, user: UInt32, at now: Instant) {
        advance(to: now)
        if let end { return complete(id, .failure(end)) }
        if case .confirm(let handle) = operation {
            confirm(handle, by: client)
            return complete(id, .success(.confirmed))
        }
        if case .writeCommand(let handle, let value) = operation {
            guard value.count <= commandLimit else {
                return complete(id, .failure(.valueTooLong(limit: commandLimit)))
            }
            // One that clients share keeps its place among the other requests.
            guard subscriptions.isConfiguration(handle) else { return complete(id, .failure(.queueFull)) }
        }
        guard waiting.hasRoom(for: client, user, limit: settings.operationLimit) else {
            return complete(id, .failure(.queueFull))
        }
        waiting.append(Waiting(id: id, client: client, user: user, work: .operation(operation)))
        pump(now)
    }

    /// A write command has been handed to the controller.
    /// - Returns: whether its operation ends now, before the actions.
    mutating func commandSent(_ id: OperationID) -> Bool {
        guard let command = commands.remove(id) else { return false }
        if commands.consumeReadiness() { emit(.writeCommandsReady) }
        return !command.isAbandoned
    }

    /// Cancels an operation. A PDU that was sent cannot be recalled and may still take effect on the peer.
    mutating func cancel(_ id: OperationID, at now: Instant) {
        advance(to: now)
        if waiting.remove(id) {
            complete(id, .failure(.cancelled))
        } else if let bearer = runningBearer(of: id) {
            turn(to: bearer)
            abandonRunning()
            turn(to: 0)
        } else if suspended?.operation.id == id {
            abandonSuspended(now)
        } else if commands.abandon(id) {
            complete(id, .failure(.cancelled))
        }
    }

    /// A client has released the link: its operations and subscriptions end (SPEC CEN-22, 5.5 rule 5).
    mutating func clientLeft(_ client: ClientID, at now: Instant) {
        advance(to: now)
        if end != nil { return }
        forEachBearer { if $0.running?.client == client { $0.abandonRunning() } }
        if suspended?.operation.client == client { abandonSuspended(now) }
        for id in waiting.removeAll(of: client) { complete(id, .failure(.cancelled)) }
        for id in commands.abandonAll(of: client) { complete(id, .failure(.cancelled)) }
        for handle in subscriptions.removeAll(of: client) { reconfigure(handle) }
        releaseIndications(now)
        pump(now)
    }

    /// The link is gone, or the channel was closed: all operations end.
    mutating func bearerClosed(_ reason: GATTFailure) {
        if end == nil { endAll(reason) }
        end = .notConnected
    }

    mutating func advance(to now: Instant) {
        if hasOthers { return advanceBearers(to: now) }
        guard end == nil, !isPaused else { return }
        confirmOverdue(now)
        guard let deadline = bearer.deadline, deadline <= now else { return }
        endAll(.transactionTimeout)
        actions.append(.disconnect)
    }

    /// The PDUs that waited outside are sent now.
    mutating func resume(at now: Instant) {
        guard isPaused else { return }
        isPaused = false
        reportMissedChange()
        bearer.restart(deadline: now.advanced(by: settings.transactionTimeout))
    }

    /// PDUs sent while the client was paused are lost: every operation ends; new ones may be started.
    mutating func endOperations(_ reason: GATTFailure, at now: Instant) {
        guard end == nil else { return }
        var ended: [OperationID?] = []
        forEachBearer { client in
            client.bearer.forgetRequest()
            if let running = client.running { ended.append(running.id) }
            if let value = client.running?.configured {
                client.subscriptions.settle(value)
                client.subscriptions.forget(value)
            }
            client.running = nil
        }
        let kept = suspended.map { [$0.operation.id] } ?? []
        suspended = nil
        for id in ended + kept {
            if let id { complete(id, .failure(reason)) }
        }
        for id in waiting.removeAll() { complete(id, .failure(reason)) }
        for command in commands.commands where !command.isAbandoned { complete(command.id, .failure(reason)) }
        commands.removeAll()
        if commands.consumeReadiness() { emit(.writeCommandsReady) }
    }

    /// The link got the security that was requested with `secure`, or failed to get it.
    ///
    /// - Parameter failure: `nil` on success. Otherwise the operation ends with the peer's refusal, unless this failure
    ///   says more.
    mutating func secured(_ failure: SecurityFailure?, at now: Instant) {
        advance(to: now)
        guard let ended = suspended else { return }
        suspended = nil
        if let failure {
            if let id = ended.operation.id {
                let told: GATTFailure =
                    failure.saysMoreThanRefusal ? .security(failure) : .att(ended.error, handle: ended.handle)
                complete(id, .failure(told))
            }
        } else {
            waiting.putBack(ended.operation)
        }
        pump(now)
    }

    /// Receives one complete PDU of the bearer's channel.
    /// - Returns: whether it is for the server of this link.
    mutating func receive(_ pdu: RawSpan, at now: Instant) -> Bool {
        advance(to: now)
        if end != nil { return false }
        switch bearer.classify(pdu) {
        case .ignored: break
        case .response: answered(pdu, now)
        case .refusal(let error, let handle): refused(error, handle, now)
        case .invalidResponse(let detail): broken(detail, now)
        case .notification: receiveNotification(pdu)
        case .multipleNotification: receiveMultipleNotification(pdu)
        case .indication: receiveIndication(pdu, now)
        case .mtuRequest: receiveMTURequest(pdu)
        case .request, .command, .confirmation: return true
        }
        return false
    }

    // MARK: Outputs

    mutating func emit(_ event: consuming GATTClientEvent) { actions.append(.event(event)) }

    /// Sends a PDU on the bearer at work.
    mutating func send(_ pdu: [UInt8]) {
        actions.append(number == 0 ? .send(pdu, tag: .none) : .sendEnhanced(pdu, bearer: number))
    }

    mutating func complete(_ id: OperationID, _ result: Result<GATTResult, GATTFailure>) {
        emit(.completed(id, result))
    }

    // MARK: Operations

    /// Sends a complete Signed Write Command, which counts as a write command.
    mutating func startSigned(_ pdu: [UInt8], id: OperationID, client: ClientID, user: UInt32, at now: Instant) {
        advance(to: now)
        if let end { return complete(id, .failure(end)) }
        guard pdu.count <= Int(mtu) else {
            return complete(id, .failure(.valueTooLong(limit: max(0, Int(mtu) - Self.signedOverhead))))
        }
        guard commands.hasRoom(for: client, user) else { return complete(id, .failure(.queueFull)) }
        let isLast = commands.append(id, client, user)
        actions.append(.send(pdu, tag: .command(id)))
        if isLast { emit(.writeCommandsFull) }
    }

    /// Octets of opcode, handle and signature.
    static let signedOverhead = 15

    mutating func reconfigure(_ handle: AttributeHandle) {
        waiting.append(Waiting(id: nil, client: .local, work: .reconfigure(handle)))
    }

    /// Starts waiting operations until one is running.
    mutating func pump(_ now: Instant) {
        if hasOthers { return spread(now) }
        while end == nil, running == nil, suspended == nil, !waiting.isEmpty { begin(waiting.start(at: 0), now) }
    }

    /// Starts an operation on the bearer at work; some end at once. Apart from its callers, whose frames stay small.
    @inline(never)
    mutating func begin(_ next: Waiting, _ now: Instant) {
        guard let procedure = prepare(next) else { return }
        running = Running(
            id: next.id, client: next.client, user: next.user, procedure: procedure, isRetry: next.isRetry,
            isRerun: next.isRerun, start: now)
        if case .operation(let operation) = next.work {
            running?.operation = operation
            let configurations = configurations(in: operation, of: next.client)
            running?.configurations = configurations
        }
        let mtu = mtu
        guard let step = running?.procedure.begin(mtu: mtu) else { return }
        apply(step, now)
    }

    /// Carries out a step of a procedure.
    mutating func apply(_ step: GATTStep, _ now: Instant) {
        switch step {
        case .send(let pdu):
            if running?.isAbandoned == true {
                guard let pdu = running?.procedure.cleanUp() else { return finish(.failure(.cancelled)) }
                sendRequest(pdu, now)
            } else if exceedsDiscovery(now) {
                finish(.failure(.discoveryTooLong))
            } else {
                sendRequest(pdu, now)
            }
        case .done(let result): finish(.success(result))
        case .failed(let failure): finish(.failure(failure))
        }
    }

    /// Whether a server prolongs a discovery beyond the size of any real database, or beyond all patience. Each answer
    /// makes progress, but there are 65,535 handles, and each answer may take almost 30 s.
    private mutating func exceedsDiscovery(_ now: Instant) -> Bool {
        guard let found = running?.procedure.discoveredCount, let requests = running?.requests,
            let limit = running?.start.advanced(by: settings.discoveryTimeout)
        else { return false }
        running?.requests += 1
        return requests >= settings.discoveryRequestLimit || found > settings.discoveredAttributeLimit || now >= limit
    }

    mutating func sendRequest(_ pdu: [UInt8], _ now: Instant) {
        guard let opcode = pdu.first else { return }
        bearer.sent(ATTOpcode(rawValue: opcode), deadline: now.advanced(by: settings.transactionTimeout))
        send(pdu)
    }

    // MARK: Answers

    private mutating func answered(_ pdu: RawSpan, _ now: Instant) {
        if case .exchangeMTU = running?.procedure {
            do throws(DecodingError) {
                let response = try ATTExchangeMTUResponse(pdu)
                bearer.endExchange()
                agree(peerMTU: response.serverReceiveMTU)
                apply(.done(.mtu(mtu)), now)
            } catch {
                apply(.invalid(.malformed(error)), now)
            }
        } else {
            let mtu = mtu
            if let step = running?.procedure.receive(pdu, mtu: mtu) { apply(step, now) }
        }
        pump(now)
    }

    private mutating func refused(_ error: ATTError, _ handle: AttributeHandle, _ now: Instant) {
        if case .exchangeMTU = running?.procedure, error == .requestNotSupported {
            // The server supports only an ATT_MTU of 23.
            bearer.endExchange()
            apply(.done(.mtu(mtu)), now)
        } else {
            let mtu = mtu
            if let step = running?.procedure.refused(error, handle, mtu: mtu) { apply(step, now) }
        }
        pump(now)
    }

    private mutating func broken(_ detail: ATTInvalidResponse, _ now: Instant) {
        if let step = running?.procedure.broken(detail) { apply(step, now) }
        pump(now)
    }

    // MARK: Ends

    /// The running operation has ended.
    private mutating func finish(_ result: Result<GATTResult, GATTFailure>) {
        guard let ended = running else { return }
        running = nil
        if suspend(ended, result) { return }
        if case .success(.characteristics(let found)) = result,
            let changed = found.first(where: { $0.uuid == .serviceChanged })
        {
            serviceChanged = changed.valueHandle
            reportMissedChange()
        }
        if case .configure(let handle, let configuration, let bits, let purpose) = ended.procedure {
            return configured(handle, configuration, bits, purpose, ended, result)
        }
        if let id = ended.id { complete(id, result) }
        if !ended.configurations.isEmpty, case .success = result { wroteConfigurations(ended) }
    }

    /// Keeps, once, an operation that was refused for insufficient security, until the link is more secure.
    /// - Returns: whether it is stored.
    private mutating func suspend(_ ended: Running, _ result: Result<GATTResult, GATTFailure>) -> Bool {
        guard settings.asksForSecurity, !ended.isAbandoned, !ended.isRetry, let operation = ended.operation,
            case .failure(.att(let error, let handle)) = result, error.isCuredBySecurity
        else { return false }
        if case .configure(let value, _, _, let purpose) = ended.procedure {
            guard case .subscribed = purpose else { return false }
            subscriptions.settle(value)
        }
        var repeated = Waiting(
            id: ended.id, client: ended.client, user: ended.user, work: .operation(operation), isRerun: ended.isRerun)
        guard suspended == nil else {
            // Another bearer already waits for security: this one tries again afterwards.
            waiting.putBack(repeated)
            return true
        }
        repeated.isRetry = true
        suspended = Suspended(operation: repeated, error: error, handle: handle)
        actions.append(.secure(error, for: ended.client))
        return true
    }

    /// Securing the link continues, but the other operations need not wait for it.
    private mutating func abandonSuspended(_ now: Instant) {
        guard let id = suspended?.operation.id else { return }
        suspended = nil
        complete(id, .failure(.cancelled))
        pump(now)
    }

    mutating func abandonRunning() {
        guard let id = running?.id else { return }
        running?.id = nil
        running?.isAbandoned = true
        complete(id, .failure(.cancelled))
    }

    /// Ends everything: the running operation, then those that wait, then the write commands.
    mutating func endAll(_ reason: GATTFailure) {
        end = .bearerClosed
        forEachBearer { client in
            client.bearer.die()
            if let id = client.running?.id { client.complete(id, .failure(reason)) }
            client.running = nil
            client.indication = nil
        }
        if let id = suspended?.operation.id { complete(id, .failure(reason)) }
        suspended = nil
        for id in waiting.removeAll() { complete(id, .failure(reason)) }
        for command in commands.commands where !command.isAbandoned { complete(command.id, .failure(reason)) }
        commands.removeAll()
        subscriptions.removeAll()
        early.removeAll()
    }
}
