import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLETransport

/// A connected program. A class that only the core refers to, so that it is changed in place.
final class Connection {
    /// What the program is.
    enum Session {
        /// It has not sent its greeting: a tool until it says that it is something else.
        case greeting(ToolClient)
        case tool(ToolClient)
        /// It has greeted as an installed app, and its process is being identified.
        case identifying(AppGreeting, FrameReader, allowance: Int)
        case app(AppClient)
        case `operator`(OperatorClient)
        /// It is no longer connected.
        case ended
    }

    let id: ConnectionID
    let peer: PeerCredentials
    var session: Session
    /// Whether the program's user is an operator.
    var isOperator: Bool
    /// Whether its user may run any program; another user may only run apps that are installed.
    var isOfAllowedUser: Bool
    /// How it pairs, as far as it has said.
    var pairing: PairingOptions?
    /// Whether a person answers the questions of its pairings, if `pairing` is set.
    var asksInPairing = true
    var capture = CapturedPackets()
    var outbox = Outbox()
    /// The time by which it must send its greeting.
    let greetingDeadline: UInt64
    /// How many octets may wait for a program that is served.
    private let heardOctets: Int
    /// Whether it is in the core's list of pending connections.
    var isPending = false
    /// Whether it waits for its turn.
    var isInLine = false
    var meter = BusyMeter()
    private var unread = UnreadCredit()
    /// Whether the program has closed its end while requests of it wait for their turn.
    var isClosed = false
    /// Whether what it sends is read.
    var isReading = true

    init(
        _ id: ConnectionID, _ peer: PeerCredentials, isOperator: Bool, isOfAllowedUser: Bool, _ tool: ToolSession,
        greetingDeadline: UInt64, limits: ClientLimits
    ) {
        self.id = id
        heardOctets = limits.heardOctets
        self.peer = peer
        self.isOperator = isOperator
        self.isOfAllowedUser = isOfAllowedUser
        session = .greeting(ToolClient(tool))
        self.greetingDeadline = greetingDeadline
    }

    func receive(_ bytes: RawSpan) {
        switch session {
        case .greeting(let tool), .tool(let tool): tool.session.receive(bytes)
        case .identifying(let greeting, var frames, let allowance):
            frames.append(bytes)
            session = .identifying(greeting, frames, allowance: allowance)
        case .app(let app): app.session.receive(bytes)
        case .operator(let person): person.session.receive(bytes)
        case .ended: break
        }
    }

    /// Its session as a tool, also before it has said what it is.
    var tool: ToolClient? {
        switch session {
        case .greeting(let tool), .tool(let tool): tool
        case .identifying, .app, .operator, .ended: nil
        }
    }

    var app: AppClient? { if case .app(let app) = session { app } else { nil } }
    var person: OperatorClient? { if case .operator(let person) = session { person } else { nil } }

    /// The app that it is.
    var appID: AppID? { app.flatMap { $0.isLaunched ? $0.session.app : nil } }

    var hasGreeted: Bool { if case .greeting(let tool) = session { tool.session.hasGreeted } else { true } }

    /// Whether a request waits that can be carried out.
    var hasRequest: Bool { person?.awaited == nil && hasMessage && isServed }

    /// Whether it reads what it is sent, or has asked for little meanwhile.
    private var isServed: Bool {
        outbox.refused <= heardOctets && unread.isHeard(taken: outbox.taken, refused: outbox.refused)
    }

    /// Its requests have been carried out, see `BusyMeter`.
    func hasAsked(_ cost: Int, of programs: Int, _ users: Int, at now: UInt64) {
        meter.spend(cost, of: programs, users, at: now)
        unread.spend(cost, taken: outbox.taken, refused: outbox.refused)
    }

    /// While messages wait in the session, more of them wait in the kernel.
    var hasMessage: Bool {
        switch session {
        case .greeting(let tool), .tool(let tool): tool.session.hasMessage
        case .app(let app): app.session.hasMessage
        case .operator(let person): person.session.hasMessage
        case .identifying, .ended: false
        }
    }

    /// What its session may still decode, see `TurnLine`.
    var allowance: Int {
        get {
            switch session {
            case .greeting(let tool), .tool(let tool): tool.session.allowance
            case .identifying(_, _, let allowance): allowance
            case .app(let app): app.session.allowance
            case .operator(let person): person.session.allowance
            case .ended: 0
            }
        }
        set {
            switch session {
            case .greeting(let tool), .tool(let tool): tool.session.allowance = newValue
            case .identifying(let greeting, let frames, _):
                session = .identifying(greeting, frames, allowance: newValue)
            case .app(let app): app.session.allowance = newValue
            case .operator(let person): person.session.allowance = newValue
            case .ended: break
            }
        }
    }
}

/// A tool, and what it has of the daemon besides its session.
final class ToolClient {
    var session: ToolSession
    /// The device name that it has set.
    var deviceName: String?
    /// The client's request to leave, and the operations whose ends it waits for.
    var leaving: (number: OperationID, pending: Set<OperationID>)?

    init(_ session: ToolSession) { self.session = session }
}

/// An app.
final class AppClient {
    var session: AppSession
    /// Whether the life of apps counts it as a process.
    var isLaunched = false

    init(_ session: AppSession) { self.session = session }
}

/// An operator.
final class OperatorClient {
    /// What an operator waits for.
    enum Awaited: Equatable {
        /// The end of an operation of the engine.
        case operation(OperationID)
        /// The start of an app, which is then in the foreground or stays where it is.
        case launch(AppID, isForeground: Bool)
        /// What becomes of files.
        case files
    }

    var session: OperatorSession
    var awaited: Awaited?
    /// Whether it gets alerts.
    var followsAlerts = false

    init(_ session: OperatorSession) { self.session = session }
}

/// What crosses HCI, for one program.
struct CapturedPackets {
    /// Whether the program gets it.
    var isOn = false
    /// What it has not been sent, as frames.
    var frames: [UInt8] = []
    /// Those that found no room.
    var lost: UInt32 = 0
}

/// What is sent to a program.
struct Outbox {
    /// Discoveries, and ends of write commands, that wait for others, as frames.
    var held: [UInt8] = []
    /// How many ends of write commands are among them.
    var heldEnds = 0
    /// Whether the connection is in the list of those for which something may wait.
    var isListed = false
    /// When such frames were last sent to it, in microseconds.
    var heldSentAt: UInt64 = 0
    /// Whether messages for it are being collected: what it is sent meanwhile comes behind them.
    var isCollecting = false
    /// Octets that the kernel has not taken yet.
    var waiting = 0
    /// Octets that the kernel has taken since the program connected, and that it did not take.
    private(set) var taken: UInt64 = 0
    private(set) var refused = 0

    mutating func wrote(taken: UInt64, refused: Int, waiting: Int) {
        (self.taken, self.refused, self.waiting) = (taken, refused, waiting)
    }
}

/// The connections, in the order in which they came.
struct Connections {
    private(set) var all: [Connection] = [] {
        didSet { programs = all.reduce(into: [:]) { $0[$1.peer.user, default: 0] += 1 } }
    }
    /// How many connections each user has. Only for lookup.
    private(set) var programs: [UInt32: Int] = [:]
    /// By their client numbers as tools. Only for lookup.
    private var byClient: [ClientID: Connection] = [:]
    /// Those that may have something to do or to send.
    private var pending: [Connection] = []

    subscript(id: ConnectionID) -> Connection? { byClient[id.client] }
    subscript(client: ClientID) -> Connection? { byClient[client] }
    /// The tool with this number.
    func tool(_ client: ClientID) -> ToolClient? { byClient[client]?.tool }

    mutating func append(_ connection: Connection) {
        all.append(connection)
        byClient[connection.id.client] = connection
    }

    /// - Returns: whether it was there.
    @discardableResult mutating func remove(_ connection: Connection) -> Bool {
        guard let place = all.firstIndex(where: { $0 === connection }) else { return false }
        all.remove(at: place)
        byClient[connection.id.client] = nil
        return true
    }

    mutating func removeAll() {
        all = []
        byClient = [:]
    }

    /// Notes that this program may have something to do or to send.
    mutating func look(at connection: Connection) {
        guard !connection.isPending else { return }
        connection.isPending = true
        pending.append(connection)
    }

    var hasPending: Bool { !pending.isEmpty }

    mutating func takePending() -> [Connection] {
        defer { pending = [] }
        return pending
    }
}
