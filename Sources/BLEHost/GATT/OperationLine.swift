/// The operations that wait for a bearer, in the order in which they start.
///
/// Users take turns, and so do the clients of each, so that one who starts as many operations as it can, with however
/// many clients, delays another user by one operation for each of the other's, and not by everything that it has
/// started. Each client's operations keep their order.
///
/// Every operation has the number of a round, and a round has one operation of each user, in the order in which they
/// came. Which of the user's operations that is, the user's own rounds say, which have one operation of each of its
/// clients. Clients for which no user was named count as those of one user.
struct OperationLine {
    /// A client that has had its turn in the present round of its user.
    private struct Served {
        let user: UInt32
        let client: ClientID
    }

    /// The part of the places that no other user can take from a user.
    private static let guaranteedPart = 16

    private(set) var operations: [GATTClient.Waiting] = []
    /// The round of the operations that start now, and the users that have had theirs, the common one apart.
    private var round: UInt64 = 0
    private var servedUsers: [UInt32] = []
    private var isCommonServed = false
    /// The same within each user that has started an operation.
    private var ownRounds: [(user: UInt32, round: UInt64)] = []
    private var commonRound: UInt64 = 0
    private var servedClients: [Served] = []

    var isEmpty: Bool { operations.isEmpty }

    /// Whether an operation of a client may wait. Clients that have the common user count one by one.
    /// - Parameter limit: how many operations may wait if no user has less than its part.
    func hasRoom(for client: ClientID, _ user: UInt32, limit: Int) -> Bool {
        if operations.count < limit { return true }
        let own = operations.count { isCommon(user) ? $0.client == client : $0.user == user }
        return own < limit / Self.guaranteedPart
    }

    mutating func append(_ operation: GATTClient.Waiting) {
        var next = operation
        let (user, client) = (next.user, next.client)
        let ownRound = ownRound(of: user)
        let isServed = servedClients.contains { $0.client == client && $0.user == user }
        next.ownRound = isServed ? ownRound + 1 : ownRound
        next.round = hasHadTurn(user) ? round + 1 : round
        // An operation of the same client stays before this one, and the user has one more turn, its last.
        let last = operations.lastIndex { $0.client == client } ?? -1
        if last >= 0 { next.ownRound = max(next.ownRound, operations[last].ownRound + 1) }
        if let turn = operations.lastIndex(where: { $0.user == user }) {
            next.round = max(next.round, operations[turn].round + 1)
        }
        var place = (operations.lastIndex { $0.round <= next.round } ?? -1) + 1
        operations.insert(next, at: place)
        // The user's turns go to its operations in the order of its own rounds.
        var index = place - 1
        while index > last {
            if operations[index].user == user, operations[index].id != nil {
                guard operations[index].ownRound > next.ownRound else { break }
                exchange(index, place)
                place = index
            }
            index -= 1
        }
    }

    @inline(__always)
    private func isCommon(_ user: UInt32) -> Bool { !BuiltIn.users || user == ClientUser.common.number }

    private func ownRound(of user: UInt32) -> UInt64 {
        if isCommon(user) { return commonRound }
        return ownRounds.first { $0.user == user }?.round ?? 0
    }

    private func hasHadTurn(_ user: UInt32) -> Bool {
        isCommon(user) ? isCommonServed : servedUsers.contains(user)
    }

    /// Two operations of a user exchange their turns.
    private mutating func exchange(_ one: Int, _ other: Int) {
        operations.swapAt(one, other)
        let turn = operations[one].round
        operations[one].round = operations[other].round
        operations[other].round = turn
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
        let user = operations[index].user
        var place = index
        // One that overtakes others of its user, because they are held up, has the first turn of these.
        if index > 0, operations[index].id != nil {
            for earlier in (0..<index).reversed()
            where operations[earlier].user == user && operations[earlier].id != nil {
                exchange(earlier, place)
                place = earlier
            }
        }
        let next = operations.remove(at: place)
        if next.round > round {
            round = next.round
            servedUsers.removeAll(keepingCapacity: true)
            isCommonServed = false
        }
        if isCommon(user) {
            isCommonServed = true
        } else if !servedUsers.contains(user) {
            servedUsers.append(user)
        }
        noteTurn(of: next.client, user, next.ownRound)
        return next
    }

    private mutating func noteTurn(of client: ClientID, _ user: UInt32, _ ownRound: UInt64) {
        if ownRound > self.ownRound(of: user) {
            servedClients.removeAll { $0.user == user }
            if isCommon(user) {
                commonRound = ownRound
            } else {
                ownRounds.removeAll { $0.user == user }
                ownRounds.append((user, ownRound))
            }
        }
        if !servedClients.contains(where: { $0.client == client }) {
            servedClients.append(Served(user: user, client: client))
        }
    }

    /// - Returns: whether the operation was waiting.
    mutating func remove(_ id: OperationID) -> Bool {
        guard let index = operations.firstIndex(where: { $0.id == id }) else { return false }
        operations.remove(at: index)
        return true
    }

    /// Removes all operations that a client waits for, because it has left.
    /// - Returns: their identifiers, in order.
    mutating func removeAll(of client: ClientID) -> [OperationID] {
        let removed = operations.compactMap { $0.client == client ? $0.id : nil }
        operations.removeAll { $0.client == client && $0.id != nil }
        forget(client)
        return removed
    }

    /// A client that has left is not remembered, nor is its user without another one.
    private mutating func forget(_ client: ClientID) {
        guard let place = servedClients.firstIndex(where: { $0.client == client }) else { return }
        let user = servedClients.remove(at: place).user
        if servedClients.contains(where: { $0.user == user }) || operations.contains(where: { $0.user == user }) {
            return
        }
        ownRounds.removeAll { $0.user == user }
    }

    /// Removes all operations.
    /// - Returns: the identifiers of those that clients wait for, in order.
    mutating func removeAll() -> [OperationID] {
        let removed = operations.compactMap { $0.id }
        operations.removeAll()
        return removed
    }
}
