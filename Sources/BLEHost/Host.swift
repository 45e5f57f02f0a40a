import BLEPackets

/// The protocol engine of one controller: a value that turns inputs into packets and events.
///
/// Everything that is not computed comes in as an input, in order: packets, commands, time, the transport's coming and
/// going. Nothing in here reads a clock, waits or draws a random number, so the same inputs give the same packets in
/// every process.
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
    enum Phase: Equatable {
        case closed
        case starting(next: Int)
        case ready
        case awaitingTransport
        case stopping(deadline: Instant)
        case stopped
        case failed
    }

    let configuration: HostConfiguration
    var phase = Phase.closed
    var information = ControllerInformation()
    var ladder: RecoveryLadder

    var outbox = Outbox()
    var events = EventQueue()
    var commands = CommandQueue()
    var desk = ToolboxDesk()
    var resolver = IdentityResolver()
    var privacy = PrivateAddress()
    var resolvingList = ControllerResolvingList()
    /// From which bonds and key the list was last made.
    var resolvingListBasis: (revision: UInt64, localKey: Key128)?

    var security: SecuritySettings
    var bonds = BondTable()
    var signingNumbers = SigningNumbers()
    var pairingGuard = PairingGuard()
    /// What was told to or heard from peers by other ways.
    var outOfBand: [(peer: DeviceAddress, data: OutOfBandData)] = []
    var lastMachine: UInt32 = 0
    var lastPairingQuestion: UInt64 = 0

    var scanner: Scanner
    var scanMachine: ScanMachine
    var connector = Connector()
    var initiator: Initiator
    var advertiser = Advertiser()
    var advertisingMachine = AdvertisingMachine()
    /// When the pace of advertising changes by itself.
    var paceDeadline: Instant?
    /// When a call that lasts 1.28 s has to be over.
    var callDeadline: Instant?
    /// The controller refused to initiate while it scanned: from now on it does one at a time.
    var mustNotInitiateWhileScanning = false
    /// How long an accept list the controller takes, where that is less than it says.
    var acceptListLimit = Int.max
    var gattServer = GATTServer()
    /// Clients for which indications are left unconfirmed.
    var holdingClients: [ClientID] = []
    var channelListeners = ChannelListeners()
    var links: LinkTable
    var acl = ACLScheduler()
    var parked: ParkedPackets

    var lastOperation: UInt64 = 0
    var stopOperations: [OperationID] = []
    /// Whether something changed that scanning or connecting depend on.
    var needsConvergence = false
    /// What the engine met and survived since it was made.
    public internal(set) var counters = HostCounters()

    /// An engine without a transport: it begins with `transportOpened(at:)`.
    public init(configuration: HostConfiguration = HostConfiguration()) {
        self.configuration = configuration
        security = configuration.security
        let isExclusive = configuration.ownership == .exclusive
        ladder = RecoveryLadder(canReset: isExclusive)
        scanMachine = ScanMachine(isExclusive: isExclusive)
        initiator = Initiator(isExclusive: isExclusive)
        scanner = Scanner(limits: configuration.limits)
        links = LinkTable(limit: configuration.limits.links)
        parked = ParkedPackets(limit: configuration.limits.parkedPackets)
        // An empty table has room for these.
        do throws(GATTPublishError) {
            try gattServer.publishOwnServices(
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
        defer { links.noteDeadlines() }
        loseController(at: now)
        if isReopening { return }
        phase = .closed
        endIntents(with: .controllerLost)
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
                    counters.strayPackets &+= 1
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
        counters.malformedPackets &+= 1
        events.append(.malformedPacket(error))
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
        advanceAddress(to: now)
        if let scanAction = scanDeadlineAction(at: now) { perform(scanAction, at: now) }
        scanner.advance(to: now, into: &events)
        if let deadline = initiator.nextDeadline, deadline <= now {
            perform(initiator.advance(to: now), at: now)
            needsConvergence = true
        }
        if let deadline = connector.nextDeadline, deadline <= now { needsConvergence = true }
        perform(advertisingMachine.advance(to: now), at: now)
        advanceCall(to: now)
        if let deadline = paceDeadline, deadline <= now {
            paceDeadline = nil
            needsConvergence = true
        }
        advanceLinks(to: now)
        if let deadline = gattServer.nextDeadline, deadline <= now {
            gattServer.advance(to: now)
            drainServer(at: now)
        }
        if case .stopping(let deadline) = phase, deadline <= now { finishStopping(at: now) }
        settle(at: now)
    }

    /// The moment at which `advance(to:)` is to be called, if nothing comes before.
    public var nextDeadline: Instant? {
        var deadline = commands.nextDeadline
        deadline = earliest(deadline, scanMachine.nextDeadline)
        deadline = earliest(deadline, scanner.nextDeadline)
        deadline = earliest(deadline, initiator.nextDeadline)
        if phase == .ready {
            deadline = earliest(deadline, connector.nextDeadline)
            deadline = earliest(deadline, advertisingMachine.nextDeadline)
            deadline = earliest(deadline, paceDeadline)
            deadline = earliest(deadline, callDeadline)
            deadline = earliest(deadline, privacy.nextDeadline)
        }
        deadline = earliest(deadline, gattServer.nextDeadline)
        deadline = earliest(deadline, links.nextDeadline)
        if case .stopping(let limit) = phase { deadline = earliest(deadline, limit) }
        return deadline
    }

    // MARK: Outputs

    /// Lends each packet for the controller, in order; the bytes hold during the call only.
    public mutating func drainPackets(_ send: (RawSpan) -> Void) { outbox.drain(send) }

    /// The oldest event that has not been taken.
    public mutating func nextEvent() -> HostEvent? { events.popFirst() }

    /// What the controller said of itself, as far as it has been asked.
    public var controllerInformation: ControllerInformation { information }

    /// Whether the controller can be used: `HostEvent.ready` was told, and nothing went wrong since.
    public var isReady: Bool { phase == .ready }

    // MARK: Commands

    private mutating func perform(
        _ command: HostCommand, operation: OperationID, client: ClientID, at now: Instant
    ) {
        switch phase {
        case .failed:
            return complete(operation, .failure(.controllerUnresponsive))
        case .stopping, .stopped:
            guard case .stop = command else { return complete(operation, .failure(.invalidRequest(.stopped))) }
        default: break
        }
        switch command {
        case .scan(let request):
            scanner.add(request, operation: operation, client: client)
            needsConvergence = true
        case .changeScan(let scan, let request):
            guard scanner.change(scan, to: request) else { return complete(operation, .failure(.cancelled)) }
            needsConvergence = true
            complete(operation, .success(.done))
        case .changeAdvertising(let wish, let request):
            guard advertiser.change(wish, to: request, at: now) else {
                return complete(operation, .failure(.cancelled))
            }
            needsConvergence = true
            complete(operation, .success(.done))
        case .advertise(let request):
            advertise(request, operation: operation, client: client, at: now)
        case .connect(let request):
            connect(request, operation: operation, client: client, at: now)
        case .cancel(let target):
            cancel(target, at: now)
            complete(operation, .success(.done))
        case .disconnect(let link):
            disconnect(link, operation: operation, client: client, at: now)
        case .gatt(let link, let request):
            guard configuration.ownership == .exclusive else {
                return complete(operation, .failure(.invalidRequest(.notAvailableOnSharedController)))
            }
            guard let slot = links.slot(of: link), !links[slot].isClosing else {
                return complete(operation, .failure(.notConnected))
            }
            if links[slot].security.isGated {
                if let failure = links[slot].security.proofFailure {
                    return complete(operation, .failure(.gatt(.security(failure))))
                }
                proveBond(slot, at: now)
                guard links.slot(of: link) != nil, !links[slot].isClosing else {
                    return complete(operation, .failure(.notConnected))
                }
            }
            if case .writeSigned(let handle, let value) = request {
                return writeSigned(handle, value, slot: slot, operation: operation, client: client, at: now)
            }
            links[slot].gatt.start(request, id: operation, client: client, at: now)
            drainGATT(slot, at: now)
        case .sendHCICommand(let opcode, let parameters):
            guard parameters.count <= 255 else {
                return complete(operation, .failure(.invalidRequest(.parametersTooLong)))
            }
            guard phase == .ready else { return complete(operation, .failure(.controllerLost)) }
            commands.append(opcode: opcode, parameters: parameters, purpose: .client(operation))
        case .pair, .answerPairing, .encrypt, .setSecurity, .restoreBonds, .removeBond, .setOutOfBandData,
            .createOutOfBandData, .unlockPasskey, .nameBond:
            performOnSecurity(command, operation: operation, client: client, at: now)
        case .stop:
            stop(operation, at: now)
        case .holdIndications(let isHeld):
            holdIndications(isHeld, of: client, at: now)
            complete(operation, .success(.done))
        case .publish, .removeService, .disableServices, .setDeviceName, .respond, .updateValue:
            performOnServer(command, operation: operation, client: client, at: now)
        case .listenForChannels, .stopListeningForChannels, .openChannel, .sendOnChannel, .consumeChannelData,
            .closeChannel:
            performOnChannels(command, operation: operation, client: client, at: now)
        case .readRSSI(let link), .readRemoteVersion(let link), .readRemoteFeatures(let link), .readPHY(let link),
            .updateConnectionParameters(let link, _), .setDataLength(let link, _, _), .setPHY(let link, _, _):
            startLinkOperation(command, on: link, operation: operation, client: client, at: now)
        }
    }

    /// Ends an operation wherever it runs.
    private mutating func cancel(_ operation: OperationID, at now: Instant) {
        if scanner.remove(operation) {
            needsConvergence = true
            return complete(operation, .failure(.cancelled))
        }
        if advertiser.remove(operation) {
            needsConvergence = true
            return complete(operation, .failure(.cancelled))
        }
        if connector.remove(operation) != nil {
            needsConvergence = true
            return complete(operation, .failure(.cancelled))
        }
        cancelOnLinks(operation, at: now)
    }

    mutating func complete(_ operation: OperationID, _ result: Result<HostResult, HostFailure>) {
        events.append(.completed(operation, result))
    }

    /// Whether what the controller says is of the past: it is being reset, or nobody uses it. Answers to commands and
    /// hardware errors are heard all the same.
    var isDeaf: Bool {
        switch phase {
        case .closed, .awaitingTransport, .failed, .stopped: true
        case .starting: commands.inFlight?.purpose == .startup(.reset)
        case .ready, .stopping: false
        }
    }

    // MARK: Settling

    /// Brings the controller nearer to what is wanted, and sends what may be sent.
    mutating func settle(at now: Instant) {
        proceedWithAddress(at: now)
        proceedWithResolvingList(at: now)
        resolvePendingConnections()
        if needsConvergence, phase == .ready {
            needsConvergence = false
            convergeScanningAndInitiating(at: now)
            convergeAdvertising(at: now)
        }
        acl.pump(&links, into: &outbox, at: now)
        notePassedFrames(at: now)
        commands.flush(into: &outbox, at: now)
        if case .stopping = phase, isQuiet { finishStopping(at: now) }
        links.noteDeadlines()
        counters.droppedValues = events.droppedValues
        counters.missedUpdates = gattServer.counters.missedUpdates
    }

    // MARK: Stopping

    private static let stopPatience: Microseconds = .seconds(3)

    private mutating func stop(_ operation: OperationID, at now: Instant) {
        stopOperations.append(operation)
        switch phase {
        case .stopping: return
        case .ready: break
        default:
            endIntents(with: .cancelled)
            return finishStopping(at: now)
        }
        endIntents(with: .cancelled)
        convergeScanningAndInitiating(at: now)
        convergeAdvertising(at: now)
        phase = .stopping(deadline: now.advanced(by: Self.stopPatience))
        for slot in links.slotRange where links.isOccupied(slot) {
            close(slot, reason: .remoteUserTerminatedConnection, isAsked: true, at: now)
        }
    }

    private var isQuiet: Bool {
        scanMachine.isIdle && initiator.isIdle && advertisingMachine.isIdle && links.isEmpty && commands.isIdle
    }

    mutating func finishStopping(at now: Instant) {
        guard !stopOperations.isEmpty else { return }
        phase = .stopped
        // What the controller did not confirm in time is not waited for.
        loseController(at: now)
        endIntents(with: .cancelled)
        events.append(.stopped)
        for operation in stopOperations { complete(operation, .success(.done)) }
        stopOperations.removeAll()
    }

    /// Ends every scan and every pending connection.
    mutating func endIntents(with failure: HostFailure) {
        for operation in scanner.removeAll() { complete(operation, .failure(failure)) }
        for operation in advertiser.removeAll() { complete(operation, .failure(failure)) }
        for pending in connector.removeAll() { complete(pending.operation, .failure(failure)) }
        needsConvergence = true
    }
}
