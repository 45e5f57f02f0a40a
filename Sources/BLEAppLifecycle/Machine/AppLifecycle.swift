import BLEHost
import BLEPackets

/// The life of apps on one engine: who runs, who hears of what and when, and what goes on for those that do not run
/// (SPEC 1.5 to 1.9, 5).
///
/// A value machine like `Host`: everything that is not computed comes in as an input, in order: what becomes of processes,
/// requests of managers, events of the engine, time, entropy. What is to be done is fetched with `nextOutput` after each
/// input. The same inputs give the same outputs, in every process.
///
///     request ──▶ manager ──▶ command ──▶ engine ──event──▶ manager ──▶ delivered │ queued, app woken │ app relaunched
///
/// Each manager is a client of the engine; its standing (foreground, background, preserved) decides what the one arbiter
/// there scans and advertises for it. Nothing of that is decided twice.
public struct AppLifecycle: ~Copyable {
    /// Whose operations are the system's own.
    static let system = ClientID(rawValue: .max)

    /// Whether the controller can be used.
    enum ControllerState: Equatable { case starting, resetting, failed, ready }

    let settings: LifecycleSettings
    var controller = ControllerState.starting
    var isPowered = true
    var isAdvertising = false
    /// Index is identity: apps are never forgotten.
    var apps: [App] = []
    /// In the order in which they were made.
    var managers: [Manager] = []
    var links: [SharedLink] = []
    var identities: IdentityMap
    /// Looked up only.
    var bonded: Set<DeviceAddress> = []
    /// Identifiers that the journal has yet to be told, and to be told to forget.
    var unwritten: [IdentityMap.Alias] = []
    var forgotten: [IdentityMap.Alias] = []
    var writingDeadline: Instant?
    /// How many were written down at once, and until when they count.
    var promptWriting = (until: Instant.zero, count: 0)
    var entropy: EntropySource
    var alerts: [Alert] = []

    /// Looked up only.
    var commands: [CommandToken: Command] = [:]
    /// Looked up only.
    private var tokens: [OperationID: CommandToken] = [:]
    private var lastToken: UInt64 = 0
    private var lastClient: UInt32 = 0
    private var lastAlert: UInt32 = 0
    var lastChannel: UInt32 = 0
    private var lastForeground: UInt64 = 0
    var lastSequence: UInt64 = 0
    /// Whether an app has a preserved manager that may have changed.
    var needsJournal = false

    private var outputs: [LifecycleOutput] = []
    private var taken = 0

    /// - Parameters:
    ///   - seed: 32 octets of entropy, different at each start: identifiers are made of them.
    ///   - state: what the journal of an earlier process says: its managers go on as soon as the controller is ready.
    public init(
        settings: LifecycleSettings = LifecycleSettings(), seed: [UInt8], restoring state: PreservedState = .init()
    ) {
        self.settings = settings
        identities = IdentityMap(limit: settings.rememberedDevices)
        entropy = EntropySource(seed: seed)
        restore(state)
    }

    // MARK: Outputs

    /// What is to be done next; to be called until `nil` after every input.
    public mutating func nextOutput() -> LifecycleOutput? {
        guard taken < outputs.count else {
            outputs.removeAll(keepingCapacity: true)
            taken = 0
            return nil
        }
        taken += 1
        return outputs[taken - 1]
    }

    mutating func emit(_ output: LifecycleOutput) { outputs.append(output) }

    /// Before all that has not been fetched: what an app hears of has been written down by then.
    mutating func emitFirst(_ output: LifecycleOutput) { outputs.insert(output, at: taken) }

    mutating func log(_ message: LogMessage, _ app: Int) { emit(.log(message, apps[app].id)) }

    // MARK: Commands

    /// Gives the engine a command.
    @discardableResult
    mutating func submit(_ command: HostCommand, from client: ClientID, for purpose: Purpose = .none) -> CommandToken {
        lastToken += 1
        let token = CommandToken(rawValue: lastToken)
        commands[token] = Command(purpose: purpose)
        emit(.submit(command, from: client, token))
        return token
    }

    /// Ends a command; nobody hears of it any more.
    mutating func cancel(_ token: CommandToken) {
        guard commands[token] != nil else { return }
        commands[token]?.purpose = .none
        if let operation = commands[token]?.operation {
            submit(.cancel(operation), from: Self.system)
        } else {
            commands[token]?.isCancelled = true
        }
    }

    /// The engine has taken a command; to be told at once, before any of its events.
    public mutating func submitted(_ token: CommandToken, as operation: OperationID) {
        guard let command = commands[token] else { return }
        commands[token]?.operation = operation
        tokens[operation] = token
        if command.isCancelled { submit(.cancel(operation), from: Self.system) }
        switch command.purpose {
        // What changed since the command was given could not be told to the engine before.
        case .scan(let client), .advertise(let client):
            if let index = index(of: client) { convergeRadio(index) }
        default: break
        }
    }

    /// The operation of a command, once the engine has named it.
    func operation(of token: CommandToken) -> OperationID? { commands[token]?.operation }

    /// Whether an operation is one of the machine's own.
    func knows(_ operation: OperationID) -> Bool { tokens[operation] != nil }

    /// The end of an operation: what it was for.
    mutating func take(_ operation: OperationID) -> (CommandToken, Purpose)? {
        guard let token = tokens.removeValue(forKey: operation), let command = commands.removeValue(forKey: token)
        else { return nil }
        return (token, command.purpose)
    }

    /// Nobody waits for these any more; the engine ends them by itself.
    mutating func forgetTasks(of client: ClientID, on peer: PeerIdentifier? = nil) {
        for (token, command) in commands {
            // Each is changed by itself: the order of the walk has no effect.
            guard command.purpose.client == client else { continue }
            if let peer {
                guard case .peripheral(_, peer, _) = command.purpose else { continue }
            }
            commands[token]?.purpose = .none
        }
    }

    // MARK: Time

    /// When `advance` is due.
    public var nextDeadline: Instant? {
        var deadline = writingDeadline
        for app in apps { deadline = earlier(deadline, self.deadline(of: app)) }
        for manager in managers {
            for session in manager.central.peripherals {
                if case .connecting(nil, let notBefore?) = session.state { deadline = earlier(deadline, notBefore) }
            }
        }
        return deadline
    }

    /// Time has passed.
    public mutating func advance(to now: Instant) {
        advanceApps(to: now)
        planWriting(at: now)
        for index in managers.indices {
            let isDue = managers[index].central.peripherals.contains { session in
                if case .connecting(nil, let notBefore?) = session.state { notBefore <= now } else { false }
            }
            if isDue { converge(index, at: now) }
        }
        finish()
    }

    /// The end of each input.
    mutating func finish() {
        holdIndications()
        if needsJournal { writeJournal() }
    }

    // MARK: Finding

    func app(_ id: AppID) -> Int? { apps.firstIndex { $0.id == id } }

    func index(of client: ClientID) -> Int? { managers.firstIndex { $0.client == client } }

    func index(of manager: ManagerID, _ app: Int) -> Int? {
        managers.firstIndex { $0.id == manager && $0.app == app }
    }

    mutating func nextClient() -> ClientID {
        lastClient += 1
        return ClientID(rawValue: lastClient)
    }

    mutating func nextAlert() -> AlertID {
        lastAlert += 1
        return AlertID(rawValue: lastAlert)
    }

    mutating func nextForeground() -> UInt64 {
        lastForeground += 1
        return lastForeground
    }

    mutating func nextSequence() -> UInt64 {
        lastSequence += 1
        return lastSequence
    }
}

func earlier(_ a: Instant?, _ b: Instant?) -> Instant? {
    guard let a, let b else { return a ?? b }
    return min(a, b)
}
