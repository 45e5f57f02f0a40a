import BLEPackets

/// Write commands that the controller does not have yet, up to a limit (SPEC 2.3 canSendWriteWithoutResponse).
struct WriteCommandQueue {
    struct Command: Equatable {
        let id: OperationID
        let client: ClientID
        /// The number of the client's user.
        let user: UInt32
        /// Whether its operation ended before the PDU was sent.
        var isAbandoned = false
    }

    private let limit: Int
    private(set) var commands = Queue<Command>()
    /// Whether a client knows that the queue is full, but not yet that there is room.
    private var isBlocked = false

    init(limit: Int) { self.limit = max(1, limit) }

    var isFull: Bool { commands.count >= limit }

    /// Whether a client may add a command: one whose user has none in the queue may whatever the others have. Clients
    /// that have the common user count one by one, as long as those that have come and gone have not left too many.
    func hasRoom(for client: ClientID, _ user: UInt32) -> Bool {
        if !isFull { return true }
        let isCommon = !Features.users || user == ClientUser.common.number
        return commands.count < Self.most && !commands.contains { isCommon ? $0.client == client : $0.user == user }
    }

    private static let most = 256

    /// Adds a command; true if it fills the queue.
    mutating func append(_ id: OperationID, _ client: ClientID, _ user: UInt32) -> Bool {
        commands.append(Command(id: id, client: client, user: user))
        guard isFull, !isBlocked else { return false }
        isBlocked = true
        return true
    }

    /// A command was sent; `nil` if it is not in the queue.
    mutating func remove(_ id: OperationID) -> Command? {
        // The controller gets them in their order.
        if commands.first?.id == id { return commands.popFirst() }
        var removed: Command?
        commands.retain {
            if $0.id == id { removed = $0 }
            return $0.id != id
        }
        return removed
    }

    /// Whether to report room again: at half the limit, so that writers are not woken for each packet.
    mutating func consumeReadiness() -> Bool {
        guard isBlocked, commands.count <= limit / 2 else { return false }
        isBlocked = false
        return true
    }

    /// Ends the operation of a command whose PDU cannot be recalled; false if there is none.
    mutating func abandon(_ id: OperationID) -> Bool {
        !abandon { $0.id == id }.isEmpty
    }

    /// Ends the operations of a client; returns their identifiers.
    mutating func abandonAll(of client: ClientID) -> [OperationID] {
        abandon { $0.client == client }
    }

    private mutating func abandon(where isMeant: (Command) -> Bool) -> [OperationID] {
        var ended: [OperationID] = []
        for index in commands.indices where isMeant(commands[index]) && !commands[index].isAbandoned {
            commands[index].isAbandoned = true
            ended.append(commands[index].id)
        }
        return ended
    }

    mutating func removeAll() { commands.removeAll() }
}
