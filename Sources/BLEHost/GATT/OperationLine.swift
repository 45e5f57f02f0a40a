import BLEPackets

/// The operations that wait for a bearer, in the order in which they start: users take turns, and so do the clients of
/// each (`Rotation`). Each client's operations keep their order. Clients for which no user was named count as those of
/// one user.
struct OperationLine {
    /// The part of the places that no other user can take from a user.
    private static let guaranteedPart = 16

    /// Those that have had their turn, and start again before all others.
    private var returned = Queue<GATTClient.Waiting>()
    private var turns = Rotation<UInt32, Rotation<ClientID, Queue<GATTClient.Waiting>>>()

    var count: Int { returned.count + turns.count }
    var isEmpty: Bool { count == 0 }

    /// Whether an operation of a client may wait: one that has none waiting always may start one. Clients that have the
    /// common user count one by one.
    /// - Parameter limit: how many operations may wait if no user has less than its part.
    func hasRoom(for client: ClientID, _ user: UInt32, limit: Int) -> Bool {
        if count < limit { return true }
        let ofUser = turns.line(of: user)
        let own = ofUser?.count(of: client) ?? 0
        return own == 0 || (isCommon(user) ? own : ofUser?.count ?? 0) < limit / Self.guaranteedPart
    }

    private func isCommon(_ user: UInt32) -> Bool { !Features.users || user == ClientUser.common.number }

    mutating func append(_ operation: GATTClient.Waiting) {
        turns.add(to: operation.user) { $0.add(to: operation.client) { $0.append(operation) } }
    }

    /// Puts an operation that has started before all others, whatever its turn: it has had that.
    mutating func putBack(_ operation: GATTClient.Waiting) { returned.prepend(operation) }

    /// The operation that starts after so many others, if nothing has to wait.
    /// - Parameter index: less than `count`; anything else traps.
    func operation(at index: Int) -> GATTClient.Waiting {
        index < returned.count ? returned[index] : turns.element(at: index - returned.count)
    }

    /// Removes an operation that starts now. One that overtakes others of its user has the first turn of these.
    /// - Parameter index: less than `count`; anything else traps.
    mutating func start(at index: Int) -> GATTClient.Waiting {
        index < returned.count ? returned.remove(at: index) : turns.remove(at: index - returned.count)
    }

    /// - Returns: whether the operation was waiting.
    mutating func remove(_ id: OperationID) -> Bool { !remove { $0.id == id }.isEmpty }

    /// Removes all operations that a client waits for, because it has left.
    /// - Returns: their identifiers, in order.
    mutating func removeAll(of client: ClientID) -> [OperationID] { remove { $0.client == client && $0.id != nil } }

    private mutating func remove(where isMeant: (GATTClient.Waiting) -> Bool) -> [OperationID] {
        var removed: [OperationID] = []
        func isKept(_ operation: GATTClient.Waiting) -> Bool {
            guard isMeant(operation) else { return true }
            if let id = operation.id { removed.append(id) }
            return false
        }
        returned.retain(where: isKept)
        turns.retain(where: isKept)
        return removed
    }

    /// Removes all operations.
    /// - Returns: the identifiers of those that clients wait for, in order.
    mutating func removeAll() -> [OperationID] {
        var removed: [OperationID] = []
        while !isEmpty {
            if let id = start(at: 0).id { removed.append(id) }
        }
        return removed
    }
}
