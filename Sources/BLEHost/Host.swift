import BLEPackets

/// The protocol engine of one controller: a value that turns inputs into packets and events.
///
/// Everything from outside comes in as an input, in order: packets, commands, time, answers of the crypto provider, and
/// the opening and loss of the transport. Nothing here reads a clock, waits or draws random numbers, so the same inputs
/// give the same packets in every process.
///
/// After each input the owner drains the packets and the events, and arms one timer for `nextDeadline`:
///
///     host.receive(packet, at: now)
///     while let question = host.nextCryptoRequest() { … host.answer(question.id, with: result, at: now) }
///     host.drainPackets { transport.send($0) }
///     while let event = host.nextEvent() { … }
///     timer.set(host.nextDeadline)
///
/// Upwards: controller event or ACL data → link → L2CAP channel → ATT bearer → GATT client → `HostEvent`. Downwards:
/// `HostCommand` → the state machine concerned → packets, within the controller's credits.
public struct Host: ~Copyable {
    private let shared: SharedConfiguration
    @inline(__always)
    var configuration: HostConfiguration { shared.value }
    var session: ControllerSession
    var radio: Radio
    /// When the radio is next due, as of the last input that may have changed it.
    private var radioDeadline: Instant?
    /// What the plans of the radio depended on at the last convergence.
    private var settledFacts = Radio.Facts()
    /// The effects of the input that is being handled.
    var effects: Effects

    /// Clients whose indications stay unconfirmed for now.
    var holdingClients: [ClientID] = []
    /// What the links work with.
    var rooms: Rooms
    var parked: ParkedPackets
    var recentEnds = RecentEnds()

    var stopOperations: [OperationID] = []

    /// Creates an engine without a transport; it starts with `transportOpened(at:)`.
    ///
    /// Always inlined into the caller: then the parts are built in place, and the whole is not on the stack.
    @inline(__always)
    public init(configuration: HostConfiguration = HostConfiguration()) {
        shared = SharedConfiguration(configuration)
        effects = Effects(experience: configuration.experience, adapts: configuration.adaptsToController)
        if configuration.adaptsToController { effects.commands.resetTimeout = CommandQueue.longResetTimeout }
        session = ControllerSession(configuration: shared)
        radio = Radio(configuration: shared)
        rooms = Rooms(configuration: configuration)
        parked = ParkedPackets(limit: configuration.limits.parkedPackets)
    }

    /// Whether an advertising packet that several clients want is one event, with all of them in `Discovery.others`,
    /// instead of one for each. What goes to the controller is the same.
    package var joinsDiscoveries: Bool {
        get { radio.scanner.joinsDiscoveries }
        set { radio.scanner.joinsDiscoveries = newValue }
    }

    // MARK: Inputs

    /// The transport can carry packets; the engine starts the controller.
    public mutating func transportOpened(at now: Instant) {
        effects.now = now
        guard phase == .closed || phase == .awaitingTransport else { return }
        startController()
        settle()
    }

    /// The transport is gone. Links end; scans and pending connections do too, unless the transport is being reopened.
    public mutating func transportClosed(at now: Instant) {
        effects.now = now
        let isReopening = phase == .awaitingTransport
        if configuration.adaptsToController, case .startup(let step)? = effects.commands.inFlight?.purpose {
            session.startFailed(at: step, isTransportClosed: true, knowledge: &effects.controller)
        }
        defer { updateDeadline() }
        loseController()
        if isReopening { return }
        session.phase = .closed
        radio.endRequests(with: .controllerLost, into: &effects)
        effects.endQuestions(with: .controllerLost)
        finishStopping()
    }

    /// The transport has lost packets of the controller, and goes on: what the engine knows of the controller may be
    /// wrong, so it is reset. Links end; scans, advertisements and pending connections stay.
    public mutating func packetsLost(at now: Instant) {
        effects.now = now
        recover(from: .packetsLost)
        settle()
    }

    /// One H4 packet from the controller.
    public mutating func receive(_ packet: RawSpan, at now: Instant) {
        effects.now = now
        var reader = PacketReader(packet)
        do throws(DecodingError) {
            let type: UInt8 = try reader.read()
            switch H4PacketType(rawValue: type) {
            case .event: try receiveEvent(&reader)
            case .acl:
                guard Features.links, !ignoresControllerEvents else {
                    effects.counters.strayPackets &+= 1
                    break
                }
                try receiveACL(reader.readRest())
            case .sco, .iso, .command: break
            case nil: throw .invalidValue(UInt64(type), field: .packetType)
            }
        } catch {
            effects.recordMalformedPacket(error)
        }
        settle()
    }

    /// One packet of ACL data. A packet that came before its Connection Complete is stored for a moment.
    mutating func receiveACL(_ packet: RawSpan) throws(DecodingError) {
        guard rooms.pairings.isExclusive else { return }
        let data = try ACLDataPacket(decoding: packet)
        guard let link = rooms.links[data.connectionHandle] else {
            if parked.park(packet, for: data.connectionHandle, at: effects.now) {
                effects.counters.parkedPackets &+= 1
            } else {
                effects.counters.strayPackets &+= 1
            }
            return
        }
        link.lastReception = effects.now
        try link.receive(data.data, isStart: data.boundary.isFirst, &rooms, into: &effects)
    }

    /// Starts a client's command. `HostEvent.completed` reports its end with the identifier that this returns.
    public mutating func submit(
        _ command: HostCommand, from client: ClientID = .local, at now: Instant
    ) -> OperationID {
        effects.now = now
        let operation = effects.nextOperation()
        perform(command, operation: operation, client: client)
        settle()
        return operation
    }

    /// Names the user for whom a client works, before its commands; `nil`: it has gone.
    public mutating func setUser(_ user: ClientUser?, of client: ClientID, at now: Instant) {
        effects.now = now
        guard Features.users else { return }
        effects.commands.users.set(user, of: client)
        rooms.pairings.users = effects.commands.users
        radio.advertiser.users = effects.commands.users
        settle()
    }

    /// Time has passed; timers that are due fire.
    public mutating func advance(to now: Instant) {
        effects.now = now
        advanceController()
        advanceCryptoRequests()
        radio.advance(
            isReady: isReady, identityResolvingKey: rooms.pairings.settings.identityResolvingKey, into: &effects)
        advanceLinks()
        if Features.server, let deadline = rooms.server.nextDeadline, deadline <= now {
            rooms.server.advance(to: now)
        }
        if case .stopping(let deadline) = phase, deadline <= now { finishStopping() }
        settle()
    }

    /// When to call `advance(to:)`, unless another input comes first; `nil` if no timer runs.
    ///
    /// Stored at the end of each input, so that reading it does not copy the engine.
    public private(set) var nextDeadline: Instant?

    private mutating func updateDeadline(isRadioNew: Bool = true) {
        rooms.links.updateDeadlines()
        if Features.pairing { effects.cryptoRequests.startTime(at: effects.now) }
        if isRadioNew { radioDeadline = radio.nextDeadline(isReady: isReady) }
        var earliest = EarliestInstant(radioDeadline)
        earliest.include(radio.scanDeadline)
        earliest.include(effects.commands.nextDeadline)
        if Features.server { earliest.include(rooms.server.nextDeadline) }
        if Features.links { earliest.include(rooms.links.nextDeadline) }
        if Features.pairing { earliest.include(effects.cryptoRequests.nextDeadline) }
        if case .stopping(let limit) = phase { earliest.include(limit) }
        nextDeadline = earliest.moment
    }

    // MARK: Outputs

    /// Passes each packet for the controller to `send`, in order. The bytes are valid during that call only.
    public mutating func drainPackets(_ send: (RawSpan) -> Void) { effects.packets.drain(send) }

    /// Whether packets or requests for cryptography wait to be taken, and not only events.
    ///
    /// Mutating, because it is asked for each packet: what only reads is compiled for a copy of the engine in other modules.
    public var asksOwner: Bool {
        mutating get { !effects.packets.isEmpty || effects.cryptoRequests.hasQuestions }
    }

    /// Removes and returns the oldest event; `nil` if there is none.
    public mutating func nextEvent() -> HostEvent? { effects.events.popFirst() }

    /// What is known about the controller so far.
    public var controllerInformation: ControllerInformation {
        var information = session.information
        information.traits = effects.controller.traits
        return information
    }

    /// Whether the controller can be used: `HostEvent.ready` was reported, and nothing went wrong since.
    public var isReady: Bool { session.phase == .ready }

    /// Counters since the creation of the engine.
    public var counters: HostCounters { effects.counters }

    /// Mutating, like `isQuiet`: what only reads is compiled for a whole copy of the engine on the stack in other
    /// modules.
    var ignoresControllerEvents: Bool {
        mutating get { session.ignoresControllerEvents(effects.commands) }
    }

    // MARK: Settling

    /// Finishes the handling of an input: does what the rooms left to each other, brings the controller closer to what
    /// the clients want, and sends what may be sent.
    mutating func settle() {
        performDeferredWork()
        if let fault = effects.takeFault() { recover(from: fault) }
        if effects.wantsRestart, phase == .ready, rooms.links.isEmpty { restartController() }
        let isRadioNew =
            radio.isUnsettled || radioFacts != settledFacts || radio.validUntil.map { $0 <= effects.now } ?? false
        if isRadioNew { settleRadio() }
        if Features.links { sendData() }
        effects.commands.flush(into: &effects.packets, at: effects.now)
        if case .stopping = phase, isQuiet { finishStopping() }
        updateDeadline(isRadioNew: isRadioNew || radio.isUnsettled)
        effects.counters.droppedValues = effects.events.droppedValues
        effects.counters.missedUpdates = rooms.server.counters.missedUpdates
    }

    /// What the plans of the radio depend on outside of it.
    private var radioFacts: Radio.Facts {
        mutating get {
            Radio.Facts(
                bonds: rooms.pairings.bonds.table.resolvingRevision, links: rooms.links.revision,
                scans: radio.scanner.revision, traits: effects.controller.traits,
                identityResolvingKey: rooms.pairings.settings.identityResolvingKey)
        }
    }

    /// Does what the radio and the bonds together allow: a new address, the controller's resolving list, identities of
    /// devices that clients wait for. Then makes the radio follow its plans.
    @inline(never)
    private mutating func settleRadio() {
        if isReady {
            radio.proceedWithAddress(into: &effects)
            if Features.pairing, radio.resolvingList.capacity > 0 {
                radio.proceedWithResolvingList(
                    rooms.pairings.bonds.table.resolving, revision: rooms.pairings.bonds.table.resolvingRevision,
                    localKey: rooms.pairings.settings.identityResolvingKey, into: &effects)
            }
        }
        resolvePendingConnections()
        // A scan or an attempt that the controller was just beginning when the engine had to stop ends here.
        if isReady || isStopping { convergeRadio() }
    }

    /// Sends what may be sent, and reports it to the senders.
    private mutating func sendData() {
        effects.data.pump(&rooms.links, into: &effects.packets, at: effects.now)
        while let link = effects.data.popLinkWithPassedFrames() {
            rooms.links.markChanged(link)
            link.reportPassedFrames(&rooms.server, into: &effects)
            performDeferredWork()
            effects.data.pump(&rooms.links, into: &effects.packets, at: effects.now)
        }
    }

    /// Does what the server and the links left to other rooms, one item after the other, until nothing is left.
    private mutating func performDeferredWork() {
        guard Features.links else { return }
        performServerActions()
        while let (link, work) = effects.deferred.popFirst() {
            // The link may have ended meanwhile.
            guard link.place != nil else { continue }
            rooms.links.markChanged(link)
            perform(work, on: link)
            performServerActions()
        }
    }

    private mutating func perform(_ work: DeferredLinkWork, on link: Link) {
        switch work {
        case .secure(let error, let client):
            link.secureOnDemand(error, for: client, &rooms, into: &effects)
        case .end(let reason): link.close(reason: reason, &rooms.pairings.attempts, into: &effects)
        case .continuePairing:
            link.carryOutPairing(&rooms, into: &effects)
        case .adoptWaiting(let address): adoptWaiting(for: address, by: link.peer.withoutIdentityMark)
        case .releasePostponed: link.releasePostponed(into: &effects)
        case .receivePostponed: link.receivePostponed(&rooms, into: &effects)
        case .continueBearers: link.continueBearers(&rooms, into: &effects)
        case .followSecurityRequest:
            link.followSecurityRequest(&rooms, into: &effects)
        case .storeClientRecord: link.storeClientRecord(&rooms, into: &effects)
        }
    }

    /// Carries out the actions of the attribute server.
    mutating func performServerActions() {
        guard Features.server, rooms.server.hasActions else { return }
        carryOutServerActions()
    }

    // Apart: most inputs lead to none.
    private mutating func carryOutServerActions() {
        while let action = rooms.server.nextAction() {
            switch action {
            case .send(let pdu, let link, let tag):
                guard let link = rooms.links[link], !link.isClosing else { continue }
                link.send(pdu, on: .attributeProtocol, tag: .server(tag), into: &effects)
            case .sendEnhanced(let pdu, let link, let number, let tag):
                rooms.links[link]?.send(pdu, onBearer: number, tag: .server(tag), into: &effects)
            case .closeBearer(let link, let number, _):
                rooms.links[link]?.bearersChanged(.givenUp(number: number), into: &effects)
            case .event(let event):
                effects.events.append(.server(event))
            case .disconnect(let link, _):
                rooms.links[link]?.close(
                    reason: .remoteUserTerminatedConnection, &rooms.pairings.attempts, into: &effects)
            case .broadcast(let structures):
                radio.advertiser.broadcasts = structures
            case .computeHash(let message, let revision):
                // The hash's key is all zeros (Core 5.4, Vol 3, Part G, 7.3.1).
                effects.cryptoRequests.ask(
                    .authenticationCode(key: [UInt8](repeating: 0, count: 16), message: message),
                    for: .databaseHash(revision: revision))
            }
        }
    }

    mutating func convergeRadio() {
        settledFacts = radioFacts
        radio.hasLinks = Features.links && !rooms.links.isEmpty
        let present = Features.server ? radio.advertiser.targets.filter { isConnected(to: $0) } : []
        radio.converge(resolving: rooms.pairings.bonds.table.resolving, present: present, into: &effects)
    }

    func isConnected(to peer: DeviceAddress) -> Bool {
        let peer = peer.withoutIdentityMark
        return rooms.links.contains { $0.security.identity == peer || $0.peer.withoutIdentityMark == peer }
    }

    // MARK: Rooms

    var phase: ControllerSession.Phase { session.phase }

    // MARK: Stopping

    private static let stopTimeout: Microseconds = .seconds(3)

    mutating func stop(_ operation: OperationID) {
        stopOperations.append(operation)
        switch phase {
        case .stopping: return
        case .ready: break
        case .closed, .awaitingTransport, .starting, .stopped, .failed:
            radio.endRequests(with: .cancelled, into: &effects)
            return finishStopping()
        }
        radio.endRequests(with: .cancelled, into: &effects)
        convergeRadio()
        session.phase = .stopping(deadline: effects.now.advanced(by: Self.stopTimeout))
        guard Features.links else { return }
        for link in rooms.links.all {
            link.close(reason: .remoteUserTerminatedConnection, isAsked: true, &rooms.pairings.attempts, into: &effects)
        }
    }

    private var isStopping: Bool { if case .stopping = phase { true } else { false } }

    private var isQuiet: Bool {
        mutating get { radio.isIdle && rooms.links.isEmpty && effects.commands.isIdle }
    }

    mutating func finishStopping() {
        guard !stopOperations.isEmpty else { return }
        // Without a transport it is as before the first one: the next one starts it again.
        session.phase = phase == .closed || phase == .awaitingTransport ? .closed : .stopped
        // Do not wait any longer for what the controller did not confirm in time.
        loseController()
        radio.endRequests(with: .cancelled, into: &effects)
        effects.endQuestions(with: .cancelled)
        effects.events.append(.stopped)
        for operation in stopOperations { effects.complete(operation, .success(.done)) }
        stopOperations.removeAll()
    }
}
