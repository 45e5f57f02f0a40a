import BLEPackets

/// Clients' operations that the link layer carries out. At most one with the same command runs at a time; the others
/// wait.
struct LinkOperations {
    struct Operation {
        var id: OperationID
        var client: ClientID
        var procedure: LinkProcedure
        /// Set when the command is sent.
        var deadline: Instant?
        /// Its client has gone; it keeps its place, because otherwise its result would count as that of the next
        /// operation.
        var isCancelled = false
    }

    /// The link layer ends a procedure that the peer does not answer, and the link with it, after 40 s (Core 5.4, Vol
    /// 6, Part B, 5.2). A controller that fails to report this gets no more time than this.
    static let timeout: Microseconds = .seconds(41)

    private var operations: [Operation] = []

    var isEmpty: Bool { operations.isEmpty }

    /// - Returns: whether the operation may start now.
    mutating func append(_ operation: Operation, at now: Instant) -> Bool {
        let isBusy = operations.contains { $0.procedure.opcode == operation.procedure.opcode }
        var operation = operation
        if !isBusy { operation.deadline = now.advanced(by: Self.timeout) }
        operations.append(operation)
        return !isBusy
    }

    /// Reserves the place of an operation for a procedure of the engine's own, or of the peer.
    /// - Returns: whether it may start; `false` while another with its command runs.
    mutating func appendOwn(_ procedure: LinkProcedure, at now: Instant) -> Bool {
        guard !operations.contains(where: { $0.procedure.opcode == procedure.opcode }) else { return false }
        operations.append(
            Operation(
                id: OperationID(rawValue: 0), client: .local, procedure: procedure,
                deadline: now.advanced(by: Self.timeout),
                isCancelled: true))
        return true
    }

    /// The procedure with this command has ended.
    /// - Returns: the operation that ended, if a client asked for it, and the operation that may start now.
    mutating func finish(_ opcode: HCIOpcode, at now: Instant) -> (finished: Operation?, next: Operation?) {
        guard
            let index = operations.firstIndex(where: { $0.procedure.opcode == opcode && $0.deadline != nil })
        else { return (nil, nil) }
        let operation = operations.remove(at: index)
        let finished = operation.isCancelled ? nil : operation
        guard let next = operations.firstIndex(where: { $0.procedure.opcode == opcode }) else {
            return (finished, nil)
        }
        operations[next].deadline = now.advanced(by: Self.timeout)
        return (finished, operations[next])
    }

    /// - Returns: the operation, if it has not ended yet.
    mutating func cancel(_ id: OperationID) -> Operation? {
        guard let index = operations.firstIndex(where: { $0.id == id && !$0.isCancelled }) else { return nil }
        guard operations[index].deadline != nil else { return operations.remove(at: index) }
        operations[index].isCancelled = true
        return operations[index]
    }

    /// Cancels all operations of a client.
    mutating func cancelAll(of client: ClientID) -> [Operation] {
        let ids = operations.filter { $0.client == client }.map { $0.id }
        return ids.compactMap { cancel($0) }
    }

    mutating func removeAll() -> [Operation] {
        defer { operations.removeAll() }
        return operations.filter { !$0.isCancelled }
    }

    @inline(__always)
    var nextDeadline: Instant? { operations.isEmpty ? nil : firstDeadline }

    @inline(never)
    private var firstDeadline: Instant? {
        var deadline: Instant?
        for operation in operations { deadline = earliest(deadline, operation.deadline) }
        return deadline
    }

    /// The command of a procedure that has timed out.
    func expired(at now: Instant) -> HCIOpcode? {
        operations.first { $0.deadline.map { $0 <= now } ?? false }?.procedure.opcode
    }
}
