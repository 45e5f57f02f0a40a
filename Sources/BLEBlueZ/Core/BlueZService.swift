import BLEHost
import BLEPackets

/// BlueZ's interface on D-Bus as a value: calls of clients and events of the daemon go in, replies, signals and commands
/// for the daemon come out.
///
/// It has no I/O, no clock and no threads. After each input, carry out `nextEffect()` until there is none, and come back
/// with `advance(to:)` at `nextDeadline`.
public struct BlueZService {
    let settings: BlueZSettings
    var now = Instant(microseconds: 0)
    var tree = ObjectTree()
    private var effects = Queue<BlueZEffect>()

    var clients: ClientTable
    /// By number. Walks are over sorted keys.
    var adapters: [Int: AdapterRoom] = [:]
    /// What was set of adapters whose daemon has gone, by their addresses. Only for lookup.
    var lostSettings: [DeviceAddress: AdapterRoom.Settings] = [:]
    /// By path. Walks are over sorted keys.
    var devices: [String: DeviceRoom] = [:]
    var agents = AgentDesk()
    /// How many failures of pairings were noted in the minute that began then.
    private var noted = (count: 0, since: Instant(microseconds: 0))
    /// Commands that have not ended. Only for lookup.
    var works: [Ticket: Work] = [:]
    /// Calls of clients' methods that have not ended. Only for lookup.
    var questions: [QuestionID: OpenQuestion] = [:]
    /// Only for lookup.
    var sockets: [SocketID: SocketUse] = [:]
    /// In the order in which they were registered.
    var applications: [Application] = []
    var advertisements: [Advertisement] = []
    var monitors: [MonitorApplication] = []
    /// Only for lookup.
    var servedWrites: [GATTRequestID: ServedWrite] = [:]
    /// Commands that were not submitted for want of a place.
    private var refused = Queue<(Int, Ticket)>()
    /// The last number of tickets, questions and sockets.
    private var lastNumber: UInt64 = 0

    public init(_ settings: BlueZSettings) {
        self.settings = settings
        clients = ClientTable(settings)
        tree.addSilently("/", [ObjectTree.Interface(name: InterfaceName.objectManager)])
        tree.addSilently(ObjectPaths.root, [ObjectTree.Interface(name: InterfaceName.agentManager)])
    }

    // MARK: Inputs

    /// Handles an input.
    public mutating func handle(_ input: BlueZInput, at now: Instant) {
        self.now = max(now, self.now)
        switch input {
        case .called(let call): receive(call)
        case .answered(let question, let answer): receive(answer, to: question)
        case .clientLeft(let client): clientLeft(client)
        case .signalled(let client, let signal): receive(signal, from: client)
        case .adapterReady(let adapter): adapterReady(adapter)
        case .adapterLost(let number): adapterLost(number)
        case .event(let number, let event): receive(event, from: number)
        case .advertisingSet(let ticket, let event): receive(event, of: ticket)
        case .completed(let number, let ticket, let result): completed(ticket, result, at: number)
        case .socketReceived(let socket, let octets): socketReceived(octets, on: socket)
        case .socketClosed(let socket): socketClosed(socket)
        }
        endRefused()
        flushSignals()
    }

    /// Does what is due.
    public mutating func advance(to now: Instant) {
        self.now = max(now, self.now)
        endConnectionsThatTookTooLong()
        tryAgainToConnect()
        tryAgainToPair()
        removeDevicesOutOfSight()
        endQuestionsThatTookTooLong()
        endTimesOfAdapters()
        endAdvertisementsInTime()
        endTurnsOfAdvertisements()
        saveWhatIsDue()
        loseMonitoredDevices()
        endRefused()
        flushSignals()
    }

    /// When to call `advance(to:)`; `nil`: nothing is waited for.
    public var nextDeadline: Instant? {
        var next: Instant?
        for question in questions.values { next = earliest(next, question.deadline) }
        for adapter in adapters.values {
            next = earliest(next, earliest(adapter.sweep, earliest(adapter.discoverableEnd, adapter.pairableEnd)))
            next = earliest(next, earliest(adapter.turnEnd, adapter.saveDue))
            for attempt in adapter.attempts.values { next = earliest(next, attempt) }
            for retry in adapter.retries.values { next = earliest(next, retry) }
            for follow in adapter.follows.values { next = earliest(next, follow) }
        }
        for advertisement in advertisements { next = earliest(next, advertisement.end) }
        return earliest(next, monitorDeadline)
    }

    // MARK: Effects

    /// The next thing to do; `nil` if there is none.
    public mutating func nextEffect() -> BlueZEffect? { effects.popFirst() }

    /// What has changed is reported before what follows from it.
    mutating func emit(_ effect: BlueZEffect) {
        flushSignals()
        effects.append(effect)
    }

    private mutating func flushSignals() {
        guard !tree.isQuiet else { return }
        for signal in tree.takeSignals() { effects.append(.signal(signal)) }
    }

    /// Notes why a pairing failed. Strangers can have pairings fail as often as they want to.
    mutating func note(_ failure: SecurityFailure, of device: DeviceRoom) {
        if now >= noted.since.advanced(by: .seconds(60)) { noted = (0, now) }
        noted.count += 1
        guard noted.count <= Self.notesOfMinute else { return }
        emit(.note(.pairingFailed(device.address, failure)))
        if noted.count == Self.notesOfMinute { emit(.note(.manyPairingsFailed)) }
    }

    private static let notesOfMinute = 10

    /// Answers a call, once.
    mutating func reply(to call: BusCall, _ values: [BusValue] = []) {
        clients.ended(call)
        emit(.reply(call.id, values))
    }

    /// Answers a call with an error, once.
    mutating func refuse(_ call: BusCall, _ error: BusError) {
        clients.ended(call)
        emit(.refuse(call.id, error))
    }

    mutating func answer(_ call: BusCall, _ result: Result<[BusValue], BusError>) {
        switch result {
        case .success(let values): reply(to: call, values)
        case .failure(let error): refuse(call, error)
        }
    }

    mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Submits a command; what follows from its end is in `work`.
    /// - Parameter user: who wanted it, if it takes a place of the user's.
    @discardableResult
    mutating func submit(_ command: HostCommand, to adapter: Int, _ work: Work, for user: UInt32? = nil) -> Ticket {
        let ticket = Ticket(rawValue: nextNumber())
        works[ticket] = work
        if case .link(_, .gatt(let operation)) = command, !operation.alwaysPasses,
            adapters[adapter]?.openCommands ?? 0 >= settings.requestsOfAll
        {
            refused.append((adapter, ticket))
        } else {
            if let user { adapters[adapter]?.requests.take(ticket, for: user) }
            emit(.submit(adapter, ticket, command))
        }
        adapters[adapter]?.openCommands += 1
        return ticket
    }

    /// Commands without a place end as if the daemon had refused them.
    private mutating func endRefused() {
        while let (adapter, ticket) = refused.popFirst() { completed(ticket, .failure(.limitReached), at: adapter) }
    }

    /// Whether an operation for a call may begin; refuses the call if not.
    mutating func mayRequest(_ call: BusCall, at adapter: Int) -> Bool {
        let isTrusted = clients.isTrusted(user: call.user)
        let hasRoom = adapters[adapter]?.requests.hasRoom(for: call.user, isTrusted: isTrusted) == true
        if !hasRoom { refuse(call, .tooManyRequests) }
        return hasRoom
    }

    /// Calls a method of a client; what follows from its answer is in `purpose`.
    @discardableResult
    mutating func ask(_ request: BusRequest, _ purpose: OpenQuestion.Purpose) -> QuestionID {
        let question = QuestionID(rawValue: nextNumber())
        questions[question] = OpenQuestion(
            client: request.destination, purpose: purpose, deadline: now.advanced(by: settings.questionLimit))
        emit(.ask(question, request))
        return question
    }
}

extension GATTOperation {
    /// Whether it makes room, or somebody waits for it who is not here.
    fileprivate var alwaysPasses: Bool {
        if case .confirm = self { true } else { false }
    }
}
