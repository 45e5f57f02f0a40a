import BLEPackets

/// The protocol engine of one controller: a value that turns inputs into packets and events.
///
/// Everything that is not computed comes in as an input, in order: packets, commands, time, and the opening and loss of
/// the transport. Nothing here reads a clock, waits or draws random numbers, so the same inputs give the same packets
/// in every process.
///
/// After each input the owner drains the packets and the events, and arms one timer for `nextDeadline`:
///
///     host.receive(packet, at: now)
///     while let question = host.nextToolboxQuestion() { … host.answer(question.id, with: result, at: now) }
///     host.drainPackets { transport.send($0) }
///     while let event = host.nextEvent() { … }
///     timer.set(host.nextDeadline)
///
/// The way up is controller event or ACL data → link → L2CAP channel → ATT bearer → GATT client → `HostEvent`; the way
/// down is `HostCommand` → the machine concerned → packets, within the controller's credits.
public struct Host: ~Copyable {
    let configuration: HostConfiguration
    var session: ControllerSession
    var radio: Radio
    /// What the input that is being handled leads to.
    var effects = Effects()

    var security: SecuritySettings
    var bonds: Bonds
    var pairings: PairingAttempts

    var gattServer = GATTServer()
    /// Clients for which indications are left unconfirmed.
    var holdingClients: [ClientID] = []
    var channelListeners = ChannelListeners()
    var links: LinkTable
    var parked: ParkedPackets

    var lastOperation: UInt64 = 0
    var stopOperations: [OperationID] = []

    /// An engine without a transport: it begins with `transportOpened(at:)`.
    public init(configuration: HostConfiguration = HostConfiguration()) {
        self.configuration = configuration
        security = configuration.security
        bonds = Bonds(configuration: configuration)
        pairings = PairingAttempts(configuration: configuration)
        session = ControllerSession(configuration: configuration)
        radio = Radio(configuration: configuration)
        links = LinkTable(limit: configuration.limits.links)
        parked = ParkedPackets(limit: configuration.limits.parkedPackets)
        // An empty table has room for these.
        do throws(GATTPublishError) {
            try gattServer.publishGenericServices(
                deviceName: configuration.deviceName, hasDatabaseHash: configuration.hasToolbox, at: .zero)
        } catch {}
    }

    // MARK: Inputs

    /// The transport can carry packets: the controller is started.
    public mutating func transportOpened(at now: Instant) {
        guard phase == .closed || phase == .awaitingTransport else { return }
        startController(at: now)
        settle(at: now)
    }

    /// The transport is gone. Links end; scans and pending connections do too, unless the transport is being reopened.
    public mutating func transportClosed(at now: Instant) {
        let isReopening = phase == .awaitingTransport
        defer { noteDeadline() }
        loseController(at: now)
        if isReopening { return }
        session.phase = .closed
        radio.endRequests(with: .controllerLost, into: &effects)
        finishStopping(at: now)
    }

    /// One H4 packet from the controller.
    public mutating func receive(_ packet: RawSpan, at now: Instant) {
        var reader = PacketReader(packet)
        do throws(DecodingError) {
            let type: UInt8 = try reader.read()
            switch H4PacketType(rawValue: type) {
            case .event: try receiveEvent(&reader, at: now)
            case .acl:
                guard !isDeaf else {
                    effects.counters.strayPackets &+= 1
                    break
                }
                try receiveACL(reader.readRest(), at: now)
            case .sco, .iso, .command: break
            case nil: throw .invalidValue(UInt64(type), field: .packetType)
            }
        } catch {
            noteMalformedPacket(error)
        }
        settle(at: now)
    }

    mutating func noteMalformedPacket(_ error: DecodingError) {
        effects.counters.malformedPackets &+= 1
        effects.events.append(.malformedPacket(error))
    }

    /// A client's command. Its end is told by `HostEvent.completed` with the identifier that is returned.
    public mutating func submit(
        _ command: HostCommand, from client: ClientID = .local, at now: Instant
    ) -> OperationID {
        lastOperation += 1
        let operation = OperationID(rawValue: lastOperation)
        perform(command, operation: operation, client: client, at: now)
        settle(at: now)
        return operation
    }

    /// Time has passed: timers that are due are served.
    public mutating func advance(to now: Instant) {
        advanceController(to: now)
        radio.advance(
            to: now, isReady: isReady, identityResolvingKey: security.identityResolvingKey, into: &effects)
        advanceLinks(to: now)
        if let deadline = gattServer.nextDeadline, deadline <= now {
            gattServer.advance(to: now)
        }
        if case .stopping(let deadline) = phase, deadline <= now { finishStopping(at: now) }
        settle(at: now)
    }

    /// The moment at which `advance(to:)` is to be called, if nothing comes before.
    ///
    /// Stored at the end of each input: an owner who asks reads one field, and the engine is not copied to be asked.
    public private(set) var nextDeadline: Instant?

    private mutating func noteDeadline() {
        links.noteDeadlines()
        var deadline = effects.commands.nextDeadline
        deadline = earliest(deadline, radio.nextDeadline(isReady: isReady))
        deadline = earliest(deadline, gattServer.nextDeadline)
        deadline = earliest(deadline, links.nextDeadline)
        if case .stopping(let limit) = phase { deadline = earliest(deadline, limit) }
        nextDeadline = deadline
    }

    // MARK: Outputs

    /// Lends each packet for the controller, in order; the bytes hold during the call only.
    public mutating func drainPackets(_ send: (RawSpan) -> Void) { effects.packets.drain(send) }

    /// The oldest event that has not been taken.
    public mutating func nextEvent() -> HostEvent? { effects.events.popFirst() }

    /// What is known about the controller so far.
    public var controllerInformation: ControllerInformation { information }

    /// Whether the controller can be used: `HostEvent.ready` was told, and nothing went wrong since.
    public var isReady: Bool { session.phase == .ready }

    /// Counters since the creation of the engine.
    public var counters: HostCounters { effects.counters }

    var isDeaf: Bool { session.isDeaf(effects.commands) }

    // MARK: Settling

    /// Brings the controller nearer to what is wanted, and sends what may be sent.
    mutating func settle(at now: Instant) {
        drainServer(at: now)
        fulfilWishes(at: now)
        if isReady {
            radio.proceedWithAddress(into: &effects)
            radio.proceedWithResolvingList(bonds.table, localKey: security.identityResolvingKey, into: &effects)
        }
        resolvePendingConnections()
        if effects.needsConvergence, isReady {
            effects.needsConvergence = false
            convergeRadio(at: now)
        }
        effects.sendData(&links, at: now)
        notePassedFrames(at: now)
        effects.sendCommands(at: now)
        if case .stopping = phase, isQuiet { finishStopping(at: now) }
        noteDeadline()
        effects.counters.droppedValues = effects.events.droppedValues
        effects.counters.missedUpdates = gattServer.counters.missedUpdates
    }

    private mutating func convergeRadio(at now: Instant) {
        let present = radio.advertiser.targets.filter { isConnected(to: $0) }
        radio.converge(resolving: bonds.table.resolving, present: present, at: now, into: &effects)
    }

    func isConnected(to peer: DeviceAddress) -> Bool {
        let peer = peer.withoutIdentityMark
        return links.contains { $0.security.identity == peer || $0.peer.withoutIdentityMark == peer }
    }

    // MARK: Rooms

    var phase: ControllerSession.Phase { session.phase }
    var information: ControllerInformation { session.information }

    // MARK: Stopping

    private static let stopTimeout: Microseconds = .seconds(3)

    mutating func stop(_ operation: OperationID, at now: Instant) {
        stopOperations.append(operation)
        switch phase {
        case .stopping: return
        case .ready: break
        case .closed, .awaitingTransport, .starting, .stopped, .failed:
            radio.endRequests(with: .cancelled, into: &effects)
            return finishStopping(at: now)
        }
        radio.endRequests(with: .cancelled, into: &effects)
        convergeRadio(at: now)
        session.phase = .stopping(deadline: now.advanced(by: Self.stopTimeout))
        for link in links.all {
            close(link, reason: .remoteUserTerminatedConnection, isAsked: true, at: now)
        }
    }

    private var isQuiet: Bool {
        radio.isIdle && links.isEmpty && effects.commands.isIdle
    }

    mutating func finishStopping(at now: Instant) {
        guard !stopOperations.isEmpty else { return }
        session.phase = .stopped
        // What the controller did not confirm in time is not waited for.
        loseController(at: now)
        radio.endRequests(with: .cancelled, into: &effects)
        effects.events.append(.stopped)
        for operation in stopOperations { effects.complete(operation, .success(.done)) }
        stopOperations.removeAll()
    }
}
