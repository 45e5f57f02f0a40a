import BLEAppLifecycle
import BLEHost
import BLETransport

/// A connected program: a tool until it says that it is an app or an operator.
final class Connection {
    let stream: ByteStream
    let peer: PeerCredentials
    /// Whether the program's user is an operator.
    var isOperator: Bool
    /// Whether its user may run any program; another user may only run apps that are installed.
    var isOfAllowedUser: Bool
    var tool: ToolSession
    var app: AppSession?
    /// Its session as an operator.
    var operating: OperatorSession?
    /// Whether the life of apps counts it as a process.
    var isLaunched = false
    /// Whether it gets what crosses HCI.
    var isCapturing = false
    /// Packets that it has not been sent, as frames, and those that found no room.
    var traffic: [UInt8] = []
    var lostPackets: UInt32 = 0
    /// Whether messages for it are being collected: what it is told meanwhile comes behind them.
    var isCollecting = false
    /// Discoveries, and ends of write commands, that wait for others, as frames.
    var held: [UInt8] = []
    /// How many ends of write commands are among them.
    var heldEnds = 0
    /// Whether it is in the daemon's list of connections for which something may wait.
    var isHolding = false
    /// When such frames were last sent to it, in microseconds.
    var heldSentAt: UInt64 = 0
    /// The device name that it has set.
    var deviceName: String?
    /// The client's request to leave, and the operations whose ends it waits for.
    var leaving: (number: OperationID, pending: Set<OperationID>)?
    /// The operation whose end its session as an operator waits for.
    var awaited: OperationID?
    /// Whether its session as an operator hears of alerts.
    var followsAlerts = false
    /// How it pairs, as far as it has said.
    var pairing: PairingOptions?
    /// Whether a person answers the questions of its pairings, if `pairing` is set.
    var asksInPairing = true
    /// The time by which it must send its greeting.
    let greetingDeadline: UInt64
    /// How many octets may wait for a program that is heard.
    private let heardOctets: Int
    /// Whether it is in the daemon's list of pending connections.
    var isPending = false
    /// Whether it waits for its turn.
    var isInLine = false
    var share = TurnShare()
    private var unread = UnreadShare()
    /// Whether the program has closed its end while requests of it wait for their turn.
    var isClosed = false

    init(
        _ stream: ByteStream, _ peer: PeerCredentials, isOperator: Bool, isOfAllowedUser: Bool,
        _ tool: ToolSession, greetingDeadline: UInt64, limits: ClientLimits
    ) {
        heardOctets = limits.heardOctets
        self.stream = stream
        self.peer = peer
        self.isOperator = isOperator
        self.isOfAllowedUser = isOfAllowedUser
        self.tool = tool
        self.greetingDeadline = greetingDeadline
    }

    func receive(_ bytes: RawSpan) {
        if app != nil {
            app?.receive(bytes)
        } else if operating != nil {
            operating?.receive(bytes)
        } else {
            tool.receive(bytes)
        }
    }

    /// Whether a request waits that can be carried out.
    var hasRequest: Bool { awaited == nil && hasMessage && isHeard }

    /// Whether it reads what it is told, or has asked for little meanwhile.
    private var isHeard: Bool {
        let refused = stream.refusedByteCount
        return refused <= heardOctets && unread.isHeard(taken: stream.takenByteCount, refused: refused)
    }

    /// Its requests have been carried out, see `TurnShare`.
    func hasAsked(_ cost: Int, of programs: Int, _ users: Int, at now: UInt64) {
        share.spend(cost, of: programs, users, at: now)
        unread.spend(cost, taken: stream.takenByteCount, refused: stream.refusedByteCount)
    }

    private var hasMessage: Bool { app?.hasMessage ?? operating?.hasMessage ?? tool.hasMessage }

    /// What its session may still decode, see `TurnLine`.
    var allowance: Int {
        get { app?.allowance ?? operating?.allowance ?? tool.allowance }
        set {
            if app != nil {
                app?.allowance = newValue
            } else if operating != nil {
                operating?.allowance = newValue
            } else {
                tool.allowance = newValue
            }
        }
    }

    /// While messages wait in the session, more of them wait in the kernel.
    func readIfEmpty() { stream.isReading = !hasMessage }

    /// Whether the program has closed its end, whatever of it is still to be read or carried out.
    var hasDeparted: Bool { isClosed || stream.isPeerGone }

    /// Whether it is a tool, as far as it has said.
    var isTool: Bool { app == nil && operating == nil }

    /// The app that it is.
    var appID: AppID? { isLaunched ? app?.app : nil }
}
