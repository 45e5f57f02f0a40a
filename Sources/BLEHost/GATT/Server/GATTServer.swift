import BLEPackets

/// The attribute server of a device: one table, many clients (Core 5.4, Vol 3, Parts F and G; SPEC 1.3, 2.4).
///
///     request ──▶ checked ──▶ value in the table ──▶ response
///                    │
///                    ├──▶ value of the app ──▶ question ──respond──▶ response
///                    └──▶ refused ──▶ Error Response
///
/// Each bearer has one request in progress at a time; an app has 30 s for its answer and gives exactly one. There is no
/// clock and no I/O: time comes in with each input, and the owner fetches the actions with `nextAction` after it. The
/// owner of the bearer exchanges the ATT_MTU.
///
/// The checks of an access come in this order: the handle, whether the access is permitted at all, authentication and
/// encryption, the key size, authorization, then offset and length of the value.
public struct GATTServer {
    /// Limits and time-outs.
    public let settings: GATTServerSettings
    /// The table of attributes.
    public internal(set) var database: GATTDatabase
    /// Counts unusual events since the server was created.
    public internal(set) var counters = GATTServerCounters()
    var clients = ServerClients()
    var broadcasts = BroadcastTable()
    /// Apps whose values and descriptors are currently disabled, and the error that clients get.
    var disabledOwners: [(owner: ClientID, error: ATTError)] = []
    /// The owner of the value that was last refused to a client for lack of security; `Link` removes it.
    var securityDemander: ClientID?
    private var actions = Queue<GATTServerAction>()
    private var lastQuestion: UInt64 = 0
    /// Whether an update was refused and `readyToUpdate` has not been reported since.
    var owesReadiness = false
    /// Until when clients with room wait for those without; `nil` while no client waits.
    var slowDeadline: Instant?
    /// How long the next such wait may last.
    var currentUpdateTimeout: Microseconds
    /// Responses and written values on their way out.
    var octets = OctetRing()
    /// When the last PDU arrived.
    var latest = Instant.zero
    /// When a client was last given up as too slow.
    var lastFallenBehind: Instant?
    /// The revision of the table for which the hash was last requested.
    var hashAskedFor: UInt64?

    /// Creates a server.
    /// - Parameters:
    ///   - database: the initial table.
    ///   - settings: limits and behaviour.
    public init(database: GATTDatabase = GATTDatabase(), settings: GATTServerSettings = GATTServerSettings()) {
        self.database = database
        self.settings = settings
        currentUpdateTimeout = settings.updateTimeout
    }

    /// When `advance` must be called next; `nil` if nothing is due.
    @inline(__always)
    public var nextDeadline: Instant? {
        guard let deadline = clients.nextDeadline else { return slowDeadline }
        return min(deadline, slowDeadline ?? deadline)
    }

    /// Whether actions wait.
    @inline(__always)
    var hasActions: Bool { !actions.isEmpty }

    /// The next action. Call this after every input until it returns `nil`.
    public mutating func nextAction() -> GATTServerAction? { actions.popFirst() }

    // MARK: Links

    /// A link is up.
    ///
    /// - Parameters:
    ///   - mtu: ATT_MTU in octets, 23 before the exchange.
    ///   - record: what was stored about a bonded client.
    public mutating func connected(
        _ link: LinkID, mtu: UInt16 = 23, security: GATTLinkSecurity = .none, restoring record: GATTClientRecord? = nil,
        at now: Instant
    ) {
        guard clients.handle(of: link) == nil else { return }
        let client = clients.add(ServerClient(link: link, mtu: mtu, security: security))
        if let record { restore(record, client, now) }
    }

    /// A link is gone: its requests, prepared writes, updates and subscriptions are dropped.
    ///
    /// - Parameters:
    ///   - isBonded: whether the client will get its configuration back: in this case no app gets an event that its
    ///     subscriptions ended (SPEC 2.4).
    ///   - kept: the earlier record of a client that may not change it: the subscriptions in it do not end.
    /// - Returns: what to store about a bonded client.
    @discardableResult
    public mutating func disconnected(
        _ link: LinkID, isBonded: Bool = false, keeping kept: GATTClientRecord? = nil, at now: Instant
    ) -> GATTClientRecord? {
        guard let client = clients.handle(of: link) else { return nil }
        let record = isBonded ? record(of: client) : nil
        if !isBonded { endSubscriptions(client, except: kept) }
        clients.remove(client)
        announceReadiness(now)
        return record
    }

    /// The ATT_MTU of a link was exchanged; `mtu` is in octets.
    public mutating func mtuChanged(to mtu: UInt16, on link: LinkID) {
        guard let client = clients.handle(of: link) else { return }
        clients[client].mtu = max(Int(ATTBearer.defaultMTU), Int(mtu))
    }

    /// The security of a client's link, as last reported with `securityChanged`.
    public func security(of link: LinkID) -> GATTLinkSecurity {
        clients.handle(of: link).map { clients[$0].security } ?? .none
    }

    /// The security of a link changed: it was encrypted, or its client paired or was authorized.
    public mutating func securityChanged(to security: GATTLinkSecurity, on link: LinkID) {
        guard let client = clients.handle(of: link) else { return }
        clients[client].security = security
    }

    // MARK: Time

    /// Time has passed: a request or indication that was not answered or confirmed in time ends its bearer (Core 5.4,
    /// Vol 3, Part F, 3.3.3).
    @inline(never)  // rarely does anything, and several inputs begin with it
    public mutating func advance(to now: Instant) {
        for client in clients.handles {
            guard let deadline = clients[client].nextDeadline, deadline <= now else { continue }
            forEachBearer(of: client) { $0.expire(client, now) }
        }
        giveUpTheSlow(now)
    }

    /// Gives up the bearer at work if its time is over.
    private mutating func expire(_ client: ServerClients.Handle, _ now: Instant) {
        guard let deadline = clients[client].bearerDeadline, deadline <= now else { return }
        if let transaction = clients[client].transaction, transaction.deadline <= now {
            counters.expiredRequests &+= 1
            if let question = transaction.question { emit(.requestExpired(question, clients[client].link)) }
            drop(client, .answerTimeout, now)
        } else {
            counters.unconfirmedIndications &+= 1
            drop(client, .confirmationTimeout, now)
        }
    }

    // MARK: PDUs

    /// Receives a request, command or confirmation of a client.
    public mutating func receive(_ pdu: RawSpan, from link: LinkID, at now: Instant) {
        guard let client = clients.handle(of: link), !clients[client].isDead else {
            counters.strayPDUs &+= 1
            return
        }
        clients.recordRecent(client)
        latest = now
        if let deadline = clients[client].nextDeadline, deadline <= now {
            advance(to: now)
            if clients[client].isDead || clients[client].isGivenUp { return }
        }
        guard let octet = pdu.byte(at: 0) else {
            counters.malformedPDUs &+= 1
            return
        }
        let opcode = ATTOpcode(rawValue: octet)
        switch opcode.kind {
        case .request: receiveRequest(pdu, opcode, client, now)
        case .command: receiveCommand(pdu, opcode, client, now)
        case .confirmation: receiveConfirmation(pdu, client, now)
        case .response, .notification, .indication: counters.strayPDUs &+= 1
        case .unknown:
            if opcode.isCommand { counters.refusedCommands &+= 1 } else { receiveRequest(pdu, opcode, client, now) }
        }
    }

    @inline(__always)
    private mutating func receiveRequest(
        _ pdu: RawSpan, _ opcode: ATTOpcode, _ client: ServerClients.Handle, _ now: Instant
    ) {
        guard clients[client].unsentResponses < settings.unsentResponseLimit else { return flooded(client, now) }
        guard clients[client].transaction == nil else {
            counters.earlyRequests &+= 1
            guard clients[client].early.count < settings.earlyRequestLimit else { return flooded(client, now) }
            return clients[client].early.append(pdu.copied())
        }
        handle(pdu, opcode, client, now)
    }

    private mutating func flooded(_ client: ServerClients.Handle, _ now: Instant) {
        counters.floodedBearers &+= 1
        drop(client, .flooded, now)
    }

    /// Handles the requests that came too early, until one has to wait again.
    mutating func pump(_ client: ServerClients.Handle, _ now: Instant) {
        while clients[client].transaction == nil, let pdu = clients[client].early.popFirst(),
            let octet = pdu.first
        {
            handle(pdu.span.bytes, ATTOpcode(rawValue: octet), client, now)
        }
    }

    /// Carries out a request, or begins to, unless its client must first learn that the table has changed.
    mutating func handle(_ pdu: RawSpan, _ opcode: ATTOpcode, _ client: ServerClients.Handle, _ now: Instant) {
        let isBehind = clients[client].awareness != .aware
        if isBehind, refusesOutOfSync(pdu, opcode, client) { return }
        dispatch(pdu, opcode, client, now)
        // Indications that were postponed while the client did not know of the change follow the response.
        if isBehind { forEachBearer(of: client) { $0.pumpIndications(client, now) } }
    }

    /// Carries out a request, or begins to.
    mutating func dispatch(_ pdu: RawSpan, _ opcode: ATTOpcode, _ client: ServerClients.Handle, _ now: Instant) {
        // A PDU longer than ATT_MTU is not valid on this bearer (Core 5.4, Vol 3, Part F, 3.2.8).
        if pdu.byteCount > clients[client].mtu, opcode.kind == .request {
            counters.malformedPDUs &+= 1
            return refuse(opcode, .none, .invalidPDU, client)
        }
        do throws(DecodingError) {
            switch opcode {
            case .readRequest: read(try ATTReadRequest(pdu).handle, offset: 0, .readRequest, pdu, client, now)
            case .readBlobRequest:
                let request = try ATTReadBlobRequest(pdu)
                read(request.handle, offset: Int(request.offset), .readBlobRequest, pdu, client, now)
            case .writeRequest: write(try ATTWriteRequest(pdu), client, now)
            case .readByTypeRequest: readByType(try ATTReadByTypeRequest(pdu), pdu, client, now)
            case .readByGroupTypeRequest: readByGroupType(try ATTReadByGroupTypeRequest(pdu), client)
            case .findInformationRequest: findInformation(try ATTFindInformationRequest(pdu).range, client)
            case .findByTypeValueRequest: findByTypeValue(try ATTFindByTypeValueRequest(pdu), client)
            case .readMultipleRequest:
                readMultiple(try ATTReadMultipleRequest(pdu).handles, isVariable: false, pdu, client, now)
            case .readMultipleVariableRequest:
                readMultiple(try ATTReadMultipleVariableRequest(pdu).handles, isVariable: true, pdu, client, now)
            case .prepareWriteRequest: prepare(try ATTPrepareWriteRequest(pdu), client)
            case .executeWriteRequest: execute(try ATTExecuteWriteRequest(pdu).flags, client, now)
            default:
                counters.unsupportedRequests &+= 1
                refuse(opcode, .none, .requestNotSupported, client)
            }
        } catch {
            counters.malformedPDUs &+= 1
            refuse(opcode, .none, .invalidPDU, client)
        }
    }

    // MARK: Outputs

    mutating func emit(_ event: GATTServerEvent) { act(.event(event)) }

    @inline(__always)
    mutating func act(_ action: consuming GATTServerAction) { actions.append(action) }

    @inline(__always)
    mutating func respond(_ response: [UInt8], _ client: ServerClients.Handle) {
        clients[client].unsentResponses += 1
        send(response, .response, client)
    }

    /// Sends a PDU on the bearer at work.
    @inline(__always)
    mutating func send(_ pdu: [UInt8], _ tag: GATTServerSendTag, _ client: ServerClients.Handle) {
        let number = clients[client].number
        let link = clients[client].link
        act(number == 0 ? .send(pdu, to: link, tag: tag) : .sendEnhanced(pdu, to: link, bearer: number, tag: tag))
    }

    mutating func refuse(
        _ request: ATTOpcode, _ handle: AttributeHandle, _ error: ATTError, _ client: ServerClients.Handle
    ) {
        respond(ATTErrorResponse(request: request, handle: handle, error: error).encoded(), client)
    }

    /// Gives up the bearer of a client.
    private mutating func drop(_ client: ServerClients.Handle, _ fault: GATTServerFault, _ now: Instant) {
        let number = clients[client].number
        let link = clients[client].link
        clients[client].die()
        act(number == 0 ? .disconnect(link, fault) : .closeBearer(link, number, fault))
        announceReadiness(now)
    }

    mutating func announceBroadcasts() { act(.broadcast(broadcasts.serviceData)) }

    // MARK: Questions to the app

    mutating func nextQuestion() -> GATTRequestID {
        lastQuestion &+= 1
        return GATTRequestID(rawValue: lastQuestion)
    }

    /// The app's answer to a read or write.
    ///
    /// - Returns: false if nothing waits for it: a second answer, one that comes too late, or one for a client that is
    ///   gone. It is dropped and counted. For an answer to a command the result is true, and the answer has no effect.
    @discardableResult
    public mutating func respond(to id: GATTRequestID, with answer: GATTAnswer, at now: Instant) -> Bool {
        advance(to: now)
        if id.rawValue & Self.commandMark != 0 { return true }
        guard let client = clients.handle(waitingFor: id), clients[client].turn(toAnswer: id) else {
            counters.lateAnswers &+= 1
            return false
        }
        if let transaction = clients[client].transaction { answered(transaction, with: answer, client, now) }
        pump(client, now)
        clients[client].turn(to: 0)
        return true
    }

    /// Marks the identifiers of requests whose answers have no effect.
    static let commandMark: UInt64 = 1 << 63

    private mutating func answered(
        _ transaction: ServerClient.Transaction, with answer: GATTAnswer, _ client: ServerClients.Handle, _ now: Instant
    ) {
        if case .failure(let error, let handle) = answer {
            clients[client].transaction = nil
            // An error code of zero would mean nothing to the client.
            let code = error.rawValue == 0 ? ATTError.unlikelyError : error
            return refuse(transaction.request, handle ?? transaction.handle, code, client)
        }
        var octets: [UInt8] = []
        if case .value(let value) = answer { octets = value }
        switch transaction.work {
        case .read:
            clients[client].transaction = nil
            respondValue(octets.span.bytes, transaction.request, client)
        case .readByType:
            clients[client].transaction = nil
            respondReadByType([(transaction.handle, octets)], client)
        case .readMultiple(let work): continueReadMultiple(work, with: octets, transaction, client, now)
        case .write:
            clients[client].transaction = nil
            respond(Self.writeResponse, client)
        case .execute(let work): continueExecution(work, transaction, client, now)
        case .hash: break
        }
    }
}
