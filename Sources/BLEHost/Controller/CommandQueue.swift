import BLEPackets

/// Commands for the controller: one at a time, within the credits that it gives, each with a time limit (Core 5.4, Vol
/// 4, Part E, 4.4).
///
/// One command in flight is enough: the controller answers in microseconds, and no answer can be mistaken for that of
/// another command.
///
/// What links, pairing and the ends of links need comes first: a peer waits for it, and gives up. Then comes what the
/// engine needs of the radio, which is never more than a few commands; a few of them may be sent before an urgent one,
/// in the order in which both came. Last come the commands that clients ask for one by one, in turns (`Rotation`):
/// those of operators before all others. Where nothing is known of the owners of clients, there is one, and they come
/// in order with those of the engine.
///
///     urgent ──▶ ┐
///     engine ──▶ ├──credit──▶ in flight ──answer, or time over──▶ done
///     clients ─▶ ┘
struct CommandQueue {
    /// How long the controller may take to answer.
    static let timeout: Microseconds = .seconds(2)
    /// An urgent command overtakes no fewer than so many.
    private static let leastCrowd = 4

    struct Waiting {
        var opcode: HCIOpcode
        var packet: [UInt8]
        var purpose: CommandPurpose
    }

    /// The clients' commands, by user and client.
    private typealias Turns = Rotation<UInt32, Rotation<ClientID, Queue<Waiting>>>

    struct InFlight {
        var opcode: HCIOpcode
        var purpose: CommandPurpose
        var deadline: Instant
        /// Whether it was waited for longer.
        var isOverdue = false
    }

    private var urgent = Queue<Waiting>()
    private var waiting = Queue<Waiting>()
    private var operators = Turns()
    private var clients = Turns()
    /// For whom each client works.
    var users = ClientUsers()
    private(set) var inFlight: InFlight?
    /// A command that may be answered later than others, while the next ones go on.
    private var overdue: InFlight?
    /// How long a Reset may take; old controllers take some seconds (BTstack's hci.c).
    var resetTimeout = Self.timeout
    static let longResetTimeout: Microseconds = .seconds(6)
    /// How long an overdue command may take in addition.
    static let patience: Microseconds = .seconds(10)
    private var credits = 1
    /// When a command is sent even without a credit, because a credit can get lost.
    private var creditDeadline: Instant?

    var isIdle: Bool { inFlight == nil && overdue == nil && isEmpty }
    private var isEmpty: Bool { urgent.isEmpty && waiting.isEmpty && (!Features.users || areClientsIdle) }
    private var areClientsIdle: Bool { operators.isEmpty && clients.isEmpty }
    var nextDeadline: Instant? { earliest(inFlight?.deadline ?? creditDeadline, overdue?.deadline) }

    mutating func append<Command: HCICommand>(_ command: Command, purpose: CommandPurpose) {
        var writer = PacketWriter(reservingCapacity: 16)
        command.encodePacket(into: &writer)
        add(writer.bytes, opcode: Command.opcode, purpose: purpose)
    }

    /// Adds a command that a client has asked for; `nil`: that the engine needs.
    mutating func append<Command: HCICommand>(_ command: Command, purpose: CommandPurpose, of client: ClientID?) {
        var writer = PacketWriter(reservingCapacity: 16)
        command.encodePacket(into: &writer)
        add(writer.bytes, opcode: Command.opcode, purpose: purpose, of: client)
    }

    /// Apart from `append`, so that it is not compiled for each command again.
    @inline(never)
    private mutating func add(_ packet: [UInt8], opcode: HCIOpcode, purpose: CommandPurpose) {
        let command = Waiting(opcode: opcode, packet: packet, purpose: purpose)
        if purpose.isUrgent, waiting.count >= Self.leastCrowd {
            urgent.append(command)
        } else {
            waiting.append(command)
        }
    }

    @inline(never)
    private mutating func add(_ packet: [UInt8], opcode: HCIOpcode, purpose: CommandPurpose, of client: ClientID?) {
        guard Features.users, !users.isEmpty, let client else { return add(packet, opcode: opcode, purpose: purpose) }
        let command = Waiting(opcode: opcode, packet: packet, purpose: purpose)
        let user = users[client] ?? .common
        if user.isOperator {
            operators.add(to: user.number) { $0.add(to: client) { $0.append(command) } }
        } else {
            clients.add(to: user.number) { $0.add(to: client) { $0.append(command) } }
        }
    }

    /// A client's command that the host does not interpret. The caller has refused parameters of more than 255 octets,
    /// which do not fit.
    mutating func append(
        opcode: HCIOpcode, parameters: [UInt8], purpose: CommandPurpose, of client: ClientID? = nil
    ) {
        var writer = PacketWriter(reservingCapacity: 4 + parameters.count)
        writer.write(H4PacketType.command.rawValue)
        writer.write(opcode.rawValue)
        writer.write(UInt8(truncatingIfNeeded: parameters.count))
        writer.write(bytes: parameters)
        add(writer.bytes, opcode: opcode, purpose: purpose, of: client)
    }

    /// Sends the next command if the controller accepts one.
    mutating func flush(into outbox: inout Outbox, at now: Instant) {
        guard inFlight == nil, !isEmpty else { return }
        guard credits > 0 else {
            if creditDeadline == nil { creditDeadline = now.advanced(by: Self.timeout) }
            return
        }
        guard let next = popFirst() else { return }
        credits -= 1
        let limit = next.purpose == .startup(.reset) ? resetTimeout : Self.timeout
        inFlight = InFlight(opcode: next.opcode, purpose: next.purpose, deadline: now.advanced(by: limit))
        outbox.append { $0.write(bytes: next.packet) }
    }

    private mutating func popFirst() -> Waiting? {
        if let next = urgent.popFirst() ?? waiting.popFirst() { return next }
        return Features.users ? operators.popFirst() ?? clients.popFirst() : nil
    }

    /// The controller answered `opcode` and accepts `newCredits` further commands.
    /// - Returns: why the command was sent; `nil` if this answer was not expected (it is late, or another process sent
    ///   the command).
    mutating func answered(_ opcode: HCIOpcode, credits newCredits: UInt8) -> CommandPurpose? {
        credits = Int(newCredits)
        if credits > 0 { creditDeadline = nil }
        guard let command = inFlight, command.opcode == opcode else {
            guard let late = overdue, late.opcode == opcode else { return nil }
            overdue = nil
            return late.purpose
        }
        inFlight = nil
        return command.purpose
    }

    /// Gives up the command in flight when its time is over. The next may go even without a credit, because a
    /// controller that lost a command does not return its credit either.
    mutating func timeOut(at now: Instant) -> InFlight? {
        if let late = overdue, late.deadline <= now {
            overdue = nil
            return late
        }
        guard let command = inFlight, command.deadline <= now else { return nil }
        inFlight = nil
        credits = max(credits, 1)
        return command
    }

    /// Waits longer for the answer to a command whose time is over, and asks whether the controller answers at all.
    mutating func waitLonger(for command: InFlight, at now: Instant) {
        overdue = InFlight(
            opcode: command.opcode, purpose: command.purpose, deadline: now.advanced(by: Self.patience),
            isOverdue: true)
        append(ReadLocalVersionInformation(), purpose: .probe)
    }

    /// Assumes a credit that the controller has owed for too long.
    /// - Returns: whether it did.
    mutating func restoreCredit(at now: Instant) -> Bool {
        guard let deadline = creditDeadline, deadline <= now else { return false }
        creditDeadline = nil
        credits = 1
        return true
    }

    /// Drops waiting commands for a link that has ended, because the next link may have its handle.
    /// - Returns: their purposes, those first that would have been sent first.
    mutating func removeWaiting(on handle: ConnectionHandle) -> [CommandPurpose] {
        removeWaiting { $0.handle == handle }
    }

    /// Drops a command that waits for its turn and that one operation is all about.
    /// - Returns: whether there was one.
    mutating func cancel(_ operation: OperationID) -> Bool {
        let before = waiting.count
        waiting.retain { $0.purpose != .client(operation) }
        if waiting.count < before { return true }
        return !removeOfClients { $0.operation == operation }.isEmpty
    }

    private mutating func removeWaiting(where isMeant: (CommandPurpose) -> Bool) -> [CommandPurpose] {
        var purposes: [CommandPurpose] = []
        func isKept(_ command: Waiting) -> Bool {
            guard isMeant(command.purpose) else { return true }
            purposes.append(command.purpose)
            return false
        }
        urgent.retain(where: isKept)
        waiting.retain(where: isKept)
        return purposes + removeOfClients(where: isMeant)
    }

    private mutating func removeOfClients(where isMeant: (CommandPurpose) -> Bool) -> [CommandPurpose] {
        guard Features.users, !areClientsIdle else { return [] }
        var purposes: [CommandPurpose] = []
        func isKept(_ command: Waiting) -> Bool {
            guard isMeant(command.purpose) else { return true }
            purposes.append(command.purpose)
            return false
        }
        operators.retain(where: isKept)
        clients.retain(where: isKept)
        return purposes
    }

    /// How many of the engine's commands with this purpose wait.
    func count(of purpose: CommandPurpose) -> Int { waiting.count { $0.purpose == purpose } }

    /// Forgets everything: the controller was reset or is gone.
    /// - Returns: the purposes of the unanswered commands, in the order in which they would have been sent.
    mutating func removeAll() -> [CommandPurpose] {
        var purposes: [CommandPurpose] = []
        if let inFlight { purposes.append(inFlight.purpose) }
        if let overdue { purposes.append(overdue.purpose) }
        (inFlight, overdue) = (nil, nil)
        while let next = popFirst() { purposes.append(next.purpose) }
        credits = 1
        creditDeadline = nil
        return purposes
    }
}
