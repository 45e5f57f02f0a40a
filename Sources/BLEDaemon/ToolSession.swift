import BLEHost
import BLEMessages
import BLEPackets

/// A tool, that is, a client of the daemon that uses the engine's own operations: what it may do, which operations it
/// has started, and which events it gets. A value without I/O: octets go in, commands and messages come out.
///
///     greeting ──hello──▶ waiting ──controller ready──▶ open ──error, end──▶ ended
///         ├──── hello of an app or an operator ──▶ handed over
///         └────────────── refusal ───────────────────────────────────────────────┘
///
/// A client can only use the operations that it started and the links that were reported to it. Operations and links of
/// others do not exist for it.
public struct ToolSession {
    /// What the owner must do, in order.
    public enum Output {
        /// Submit this command to the engine, and call `submitted` at once.
        case submit(HostCommand, number: OperationID)
        /// Send this.
        case send(FromDaemon)
        /// Report that a write command has been sent. While `hasManyCommands`, the report may wait for others.
        case written(OperationID)
        /// The client is an app: an `AppSession` continues with its messages, and this session returns nothing more.
        case isApp(AppGreeting, FrameReader)
        /// The client is an operator: an `OperatorSession` continues with its messages, and this session returns
        /// nothing more.
        case isOperator(FrameReader)
        /// The client serves from now on: call `serves` with the centrals that are connected.
        case serves
        /// The client advertises: call `controllerAdvertises`.
        case advertises
        /// How the pairings are done that the client makes necessary.
        case pairing(PairingOptions)
        /// Whether the client gets what crosses HCI.
        case capture(Bool)
        /// The client sets the device name, until it leaves.
        case deviceName(String)
        /// End what the client has asked for (`leaving`), then complete this request.
        case leave(OperationID)
        /// End the connection after the messages before this have been sent.
        case close
    }

    private enum Phase {
        case greeting, waiting, open, ended
        /// An `AppSession` or an `OperatorSession` continues.
        case handedOver
    }

    /// The client's identifier in the engine.
    public let client: ClientID
    let isOperator: Bool
    /// The number of its user in the system; `nil`: not known.
    private let user: UInt32?
    private let mayBeTool: Bool
    let limits: ClientLimits
    /// How the daemon's engine was started.
    var settings = ToolSettings()
    private var phase = Phase.greeting
    private var frames: FrameReader
    var outputs = Queue<Output>()
    /// The engine's operations by the client's numbers, and the reverse. Only for lookup, never iterated.
    private var operations: [OperationID: OperationID] = [:]
    private var numbers: [OperationID: OperationID] = [:]
    /// The engine's operations that were not complete when the client left and stayed connected. Only for lookup, never
    /// iterated.
    private var abandoned: Set<OperationID> = []
    /// Its write commands that have not been sent. Only for lookup, never iterated.
    private var writeCommands: Set<OperationID> = []
    /// The client's latest number: each is used once.
    private var lastNumber: UInt64 = 0
    /// The links that the client holds.
    private(set) var links: [LinkID] = []
    /// What it offers to centrals.
    var serving = ToolServing()
    /// Its scans, advertising sets and trains.
    var radio = ToolRadio()
    var outOfBand = ToolOutOfBand()
    /// Its pairings in progress, with its numbers for them.
    private var pairings: [(number: OperationID, link: LinkID)] = []
    /// The open questions of pairings that the client was asked.
    var questions = PairingQuestions()
    /// The devices of the bonds that the client knows because they are its user's; an operator knows all. Only for
    /// lookup, never iterated.
    private var ownBonds: Set<DeviceAddress> = []
    /// Whether it requires something of pairings that holds only for its own.
    var requiresOfOwnPairings = false
    private(set) var lostDiscoveries: UInt32 = 0

    /// - Parameters:
    ///   - user: the number of its user, whose bonds it knows and names; `nil`: it knows none.
    ///   - isOperator: whether the client may replace bonds, which all clients share.
    ///   - mayBeTool: whether the client may use the engine's own operations; otherwise it can only be an app.
    public init(
        client: ClientID, user: UInt32? = nil, isOperator: Bool = false, mayBeTool: Bool = true, limits: ClientLimits
    ) {
        self.client = client
        self.user = user
        self.isOperator = isOperator
        self.mayBeTool = mayBeTool
        self.limits = limits
        frames = FrameReader(limit: limits.messageOctets)
    }

    /// Whether the client has sent its greeting.
    public var hasGreeted: Bool { phase != .greeting }
    /// Whether the session has ended, but the connection has not become another kind of session.
    public var hasEnded: Bool { phase == .ended }
    /// Whether it accepts and sends messages.
    private var isTool: Bool { phase != .ended && phase != .handedOver }
    /// Its requests that have not completed.
    public var requestCount: Int { operations.count }
    /// Whether several of its write commands are still to be sent, so that it does not wait for the end of a single
    /// one.
    var hasManyCommands: Bool { writeCommands.count >= 4 }

    static let notOperator =
        "only root, this daemon's own user and the group of its operators (bled --operators) may do this"

    /// What to do next; `nil` if there is nothing. The session decodes a message only when everything that earlier
    /// messages caused has been done, so that it may refer to their operations.
    public mutating func nextOutput() -> Output? {
        while outputs.isEmpty, isTool, receiveNext() {}
        return outputs.popFirst()
    }

    // MARK: From the client

    /// What the session may still decode, see `TurnLine`.
    public var allowance = Int.max

    /// Whether a message waits to be decoded.
    public var hasMessage: Bool { isTool && frames.hasNext }

    /// Takes octets that were read from the socket; call `nextOutput` afterwards.
    public mutating func receive(_ bytes: RawSpan) {
        if isTool { frames.append(bytes) }
    }

    /// Whether there was a message.
    private mutating func receiveNext() -> Bool {
        do throws(MessageError) {
            guard let message = try frames.nextMessage(&allowance) else { return false }
            try receive(message)
        } catch {
            refuse(error.refusalReason, "\(error)")
        }
        return true
    }

    private mutating func receive(_ message: FromClient) throws(MessageError) {
        switch (message, phase) {
        case (.hello(let greeting), .greeting): greet(greeting)
        case (.request(let request), .open): try receive(request)
        case (.hello, _), (.request, _), (.appRequest, _), (.appReturned, _), (.appMove, _), (.appPairing, _),
            (.appAnswer, _), (.operatorRequest, _):
            throw .unexpected
        }
    }

    private mutating func greet(_ hello: Greeting) {
        guard hello.version == BledProtocol.version else {
            return refuse(
                .version, "version \(hello.version) is not spoken here: this daemon speaks \(BledProtocol.version)")
        }
        switch hello.session {
        case .tool:
            guard mayBeTool else { return refuse(.notAllowed, "this user may only run its installed apps here") }
            phase = .waiting
        case .app:
            phase = .handedOver
            outputs.append(.isApp(hello.app ?? .blank, frames))
        case .operator:
            guard isOperator else { return refuse(.notAllowed, Self.notOperator) }
            phase = .handedOver
            outputs.append(.isOperator(frames))
        case .unspecified: refuse(.protocol, "this daemon has no sessions of that kind")
        }
    }

    private mutating func receive(_ request: ToolRequest) throws(MessageError) {
        guard request.operation.rawValue > lastNumber else { throw .invalidField }
        lastNumber = request.operation.rawValue
        switch request.command {
        case .host(let command): receive(command, request.operation)
        case .servePairing(let options): servePairing(options, request.operation)
        case .capture(let isOn): capture(isOn, request.operation)
        case .leave: outputs.append(.leave(request.operation))
        }
    }

    private mutating func receive(_ command: HostCommand, _ number: OperationID) {
        // What makes room is never refused for want of it; a cancellation ends at once.
        let isCancellation = if case .cancel = command { true } else { false }
        guard operations.count < limits.requests || isCancellation && operations.count < 2 * limits.requests else {
            return complete(number, .failure(.limitReached))
        }
        switch command {
        case .cancel(let target):
            // An operation that has ended or never existed needs no cancelling.
            guard let operation = operations[target] else { return complete(number, .success(.done)) }
            submit(.cancel(operation), number)
        case .radio(let command): receive(command, number)
        case .sendHCICommand(let opcode, let parameters): askController(opcode, parameters, number)
        case .server(let command): receive(command, number)
        case .channel(let command): receive(command, number)
        case .security(.setOutOfBandData(let peer, let data)):
            complete(number, outOfBand.set(data, for: peer).map { .failure($0) } ?? .success(.done))
        // Unlocking after each failure would reveal the passkey, also another client's.
        case .security(.removeBond), .security(.unlockPasskey):
            guard isOperator else { return complete(number, .failure(.invalidRequest(.notPermitted))) }
            submit(command, number)
        // A bond of another user is refused as one that does not exist.
        case .security(.nameBond(let identity, _)):
            guard isOperator || ownBonds.contains(identity.withoutIdentityMark) else {
                return complete(number, .failure(.invalidRequest(.notPermitted)))
            }
            submit(command, number)
        case .link(let link, .procedure):
            guard holds(link) else { return complete(number, .failure(.notConnected)) }
            submit(command, number)
        case .link(let link, .disconnect) where serving.centrals.contains(link) && !links.contains(link):
            // Other clients may serve the central, too.
            guard isOperator else { return complete(number, .failure(.invalidRequest(.notPermitted))) }
            submit(command, number)
        case .link(let link, _):
            guard links.contains(link) else { return complete(number, .failure(.notConnected)) }
            submit(command, number)
        case .security(.pair(let link, var options)):
            guard holds(link) else { return complete(number, .failure(.notConnected)) }
            if !isOperator { options?.replacesBond = false }
            pairings.append((number, link))
            submit(.security(.pair(link, options)), number)
        case .security(.encrypt(let link)):
            guard links.contains(link) else { return complete(number, .failure(.notConnected)) }
            submit(command, number)
        case .security(.answerPairing(let question, let answer)):
            guard let answer = questions.allowed(answer, to: question, isOperator: isOperator) else {
                return complete(number, .success(.accepted(false)))
            }
            submit(.security(.answerPairing(question, answer)), number)
        case .security(.createOutOfBandData):
            allowance -= TurnLine.keyPair
            submit(command, number)
        // The protocol does not carry these: they are the daemon's own.
        case .security(.setSecurity), .security(.restoreBonds), .withholdConfirmations, .stop:
            complete(number, .failure(.invalidRequest(.notAvailableOnSharedController)))
        }
    }

    /// Whether the client uses the link: it holds it, or was told of the central.
    func holds(_ link: LinkID) -> Bool { links.contains(link) || serving.centrals.contains(link) }

    /// The engine's operation with this number of the client, and the reverse; `nil` if it has ended.
    func operation(of number: OperationID) -> OperationID? { operations[number] }
    func number(of operation: OperationID) -> OperationID? { numbers[operation] }

    mutating func submit(_ command: HostCommand, _ number: OperationID) {
        if case .link(_, .gatt(.writeCommand)) = command { writeCommands.insert(number) }
        outputs.append(.submit(command, number: number))
    }

    mutating func complete(_ number: OperationID, _ result: Result<HostResult, HostFailure>) {
        send(.completed(number, result))
    }

    /// The engine has accepted the command with the client's number `number` as its `operation`.
    public mutating func submitted(_ number: OperationID, as operation: OperationID) {
        operations[number] = operation
        numbers[operation] = number
    }

    /// The owner did not submit the command with this number: by default since it would be too much for all clients, or
    /// for those of one user.
    mutating func notSubmitted(_ number: OperationID, _ reason: HostFailure = .limitReached) {
        let failure = Result<HostResult, HostFailure>.failure(reason)
        _ = ended(number, failure)
        complete(number, failure)
    }

    /// Forgets a request that has ended.
    /// - Returns: whether it was a write command.
    private mutating func ended(_ number: OperationID, _ result: Result<HostResult, HostFailure>) -> Bool {
        // Its questions end with the pairing itself: another one may go on, if this was one too many.
        pairings.removeAll { $0.number == number }
        serving.completed(number, result)
        radio.completed(number)
        return writeCommands.remove(number) != nil
    }

    // MARK: From the engine

    /// The controller is ready: a client that has sent its greeting can begin.
    /// - Parameter bonds: all bonds; the client gets those that it may know.
    public mutating func controllerIsReady(_ information: ControllerInformation, bonds: [Bond] = []) {
        switch phase {
        case .waiting:
            phase = .open
            var welcome = Welcome()
            welcome.controller = information
            welcome.limits = limits.ofWelcome
            welcome.isOperator = isOperator
            welcome.bonds = bonds.compactMap { known($0) }
            welcome.revision = BledProtocol.revision
            welcome.acceptsEnhancedBearers = settings.acceptsEnhancedBearers
            welcome.reportsAddressResolution = settings.reportsAddressResolution
            send(.welcome(welcome))
        case .open: pass(.ready(information))
        case .greeting, .ended, .handedOver: break
        }
    }

    /// What the client knows of a bond: an operator of all, others of those of their user, so that a name means the
    /// device that was paired under it.
    private mutating func known(_ bond: Bond) -> Bond? {
        if isOperator { return bond }
        guard let user, bond.user?.number == user else { return nil }
        ownBonds.insert(bond.identity)
        var bond = bond
        // It counts what all users do.
        bond.lastUse = 0
        return bond
    }

    /// Like `controllerIsReady`, but only for a client that has just sent its greeting.
    /// - Returns: whether the client begins.
    public mutating func beginIfWaiting(_ information: ControllerInformation, bonds: [Bond]) -> Bool {
        guard phase == .waiting else { return false }
        controllerIsReady(information, bonds: bonds)
        return true
    }

    /// The controller is gone.
    public mutating func controllerIsLost(_ reason: String) {
        guard phase == .open || phase == .waiting else { return }
        send(.lost(reason))
        close()
    }

    /// Takes an event of the engine and sends the client what concerns it.
    /// - Parameter waiting: octets that the client has not read yet.
    public mutating func hear(_ event: HostEvent, waiting: Int) {
        guard phase == .open else { return }
        switch event {
        case .completed(let operation, let result):
            guard let number = numbers.removeValue(forKey: operation) else { return }
            operations[number] = nil
            let isAbandoned = abandoned.remove(operation) != nil
            if !isAbandoned, case .success(.outOfBandData(let data)) = result { outOfBand.keep(data) }
            // The owner undoes it.
            if ended(number, isAbandoned ? .failure(.cancelled) : result), result == .success(.gatt(.written)) {
                outputs.append(.written(number))
            } else {
                complete(number, result)
            }
        case .discovered(let discovery):
            guard discovery.client == client, let number = numbers[discovery.scan] else { return }
            guard waiting < limits.waitingDiscoveryOctets else {
                lostDiscoveries = lostDiscoveries.addingReportingOverflow(1).partialValue
                return
            }
            var told = discovery
            told.scan = number
            send(.discovered(told, lost: lostDiscoveries))
            lostDiscoveries = 0
        case .connected(let information, client):
            if !links.contains(information.id) { links.append(information.id) }
            pass(event)
        case .disconnected(let link, client, _):
            links.removeAll { $0 == link }
            pass(event)
        case .gatt(let link, .notification(let value)):
            guard links.contains(link), value.clients.contains(client) else { return }
            pass(event)
        // What it may answer comes from `takesPartInPairing`.
        case .pairing(let link, _): if isPairing(link) { pass(event) }
        case .linkReport(let link, _): if holds(link) { pass(event) }
        case .advertisingSet(let operation, client, let event):
            hear(event, of: operation, isSlow: waiting >= limits.waitingDiscoveryOctets)
        case .advertisingRoom(let operation, client, let room): hear(room, of: operation)
        case .train(let operation, client, let event):
            hear(event, of: operation, isSlow: waiting >= limits.waitingDiscoveryOctets)
        case .advertisingChanged(let isAdvertising): controllerAdvertises(isAdvertising)
        case .centralConnected(let information): if serving.connected(information.id) { pass(event) }
        case .centralDisconnected(let link, _): if serving.disconnected(link) { pass(event) }
        case .server(let asked):
            let isSlow = waiting >= limits.waitingDiscoveryOctets
            if serving.hears(asked, client: client, isSlow: isSlow) { pass(event) }
        case .channel(let happened): if serving.hears(happened, client: client) { pass(event) }
        case .bondChanged(let bond): if let bond = known(bond) { pass(.bondChanged(bond)) }
        case .bondRemoved(let identity):
            if ownBonds.remove(identity.withoutIdentityMark) != nil || isOperator { pass(event) }
        case .ready, .recovering: pass(event)
        // The others are about other clients, or not carried by this version of the protocol.
        default: if case .holders(let link) = event.audience, holds(link) { pass(event) }
        }
        if waiting > limits.waitingOctets { refuse(.stuck, "the client does not read what it is sent") }
    }

    /// Whether the client has asked for a pairing on this link.
    public func isPairing(_ link: LinkID) -> Bool { pairings.contains { $0.link == link } }

    mutating func pass(_ event: HostEvent) {
        send(.event(event))
    }

    mutating func send(_ message: FromDaemon) { outputs.append(.send(message)) }

    // MARK: The end

    /// Ends the session and sends the client the reason.
    public mutating func refuse(_ reason: RefusalReason, _ text: String) {
        guard isTool else { return }
        send(.refusal(reason, text))
        close()
    }

    private mutating func close() {
        phase = .ended
        outputs.append(.close)
    }

    /// Whether the client left after it had asked for this, and the session has not heard how it ended: the owner
    /// undoes what comes of it.
    func hasAbandoned(_ operation: OperationID) -> Bool { abandoned.contains(operation) }

    /// What ends when the client leaves.
    /// - Returns: commands for the engine.
    mutating func leaving() -> [HostCommand] {
        outOfBand = ToolOutOfBand()
        abandoned.formUnion(operations.values)
        return serving.left() + operations.values.sorted().map { .cancel($0) } + links.map { .link($0, .disconnect) }
    }

    /// The connection has ended, so all operations and links of the client end.
    /// - Returns: commands for the engine.
    public mutating func left() -> [HostCommand] {
        phase = .ended
        outputs.removeAll()
        let commands = leaving()
        operations = [:]
        numbers = [:]
        abandoned = []
        writeCommands = []
        links = []
        radio = ToolRadio()
        pairings = []
        questions = PairingQuestions()
        return commands
    }
}
