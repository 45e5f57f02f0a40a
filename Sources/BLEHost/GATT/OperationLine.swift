/// The operations that wait for a bearer, in the order in which they start.
///
/// Clients take turns, so that one that starts as many operations as it can delays another by one operation for each of
/// the other's, and not by everything that it has started. Each client's operations keep their order. Every operation
/// has the number of a round, and a round has one operation of each client, in the order in which they came.
struct OperationLine {
    /// The part of the places that no other client can take from a client.
    private static let guaranteedPart = 16

    private(set) var operations: [GATTClient.Waiting] = []
    /// The round of the operations that start now, and the clients that have had theirs.
    private var round: UInt64 = 0
    private var served: [ClientID] = []

    var isEmpty: Bool { operations.isEmpty }

    /// Whether an operation of a client may wait.
    /// - Parameter limit: how many operations may wait if no client has less than its part.
    func hasRoom(for client: ClientID, limit: Int) -> Bool {
        operations.count < limit || operations.count { $0.client == client } < limit / Self.guaranteedPart
    }

    mutating func append(_ operation: GATTClient.Waiting) {
        var next = operation
        next.round = served.contains(next.client) ? round + 1 : round
        if let last = operations.last(where: { $0.client == next.client }) {
            next.round = max(next.round, last.round + 1)
        }
        let place = operations.lastIndex { $0.round <= next.round }
        operations.insert(next, at: place.map { $0 + 1 } ?? 0)
    }

    /// Adds an operation for which no client waits.
    mutating func appendLast(_ operation: GATTClient.Waiting) {
        var next = operation
        next.round = operations.last?.round ?? round
        operations.append(next)
    }

    /// Puts an operation that has started before all others, whatever its turn: it has had that.
    mutating func putBack(_ operation: GATTClient.Waiting) { operations.insert(operation, at: 0) }

    /// Removes an operation that starts now.
    mutating func start(at index: Int) -> GATTClient.Waiting {
        let next = operations.remove(at: index)
        if next.round > round {
            round = next.round
            served.removeAll(keepingCapacity: true)
        }
        if !served.contains(next.client) { served.append(next.client) }
        return next
    }

    /// - Returns: whether the operation was waiting.
    mutating func remove(_ id: OperationID) -> Bool {
        guard let index = operations.firstIndex(where: { $0.id == id }) else { return false }
        operations.remove(at: index)
        return true
    }

    /// Removes all operations that a client waits for.
    /// - Returns: their identifiers, in order.
    mutating func removeAll(of client: ClientID) -> [OperationID] {
        let removed = operations.compactMap { $0.client == client ? $0.id : nil }
        operations.removeAll { $0.client == client && $0.id != nil }
        return removed
    }

    /// Removes all operations.
    /// - Returns: the identifiers of those that clients wait for, in order.
    mutating func removeAll() -> [OperationID] {
        let removed = operations.compactMap { $0.id }
        operations.removeAll()
        return removed
    }
}
