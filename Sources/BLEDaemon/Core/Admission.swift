import BLEHost
import BLEPackets
import BLETransport

/// Who may connect.
struct Admission {
    /// When the log last said that a user may not connect, in microseconds. Only for lookup.
    private var refusals: [UInt32: UInt64] = [:]
    /// When the next program must have sent its greeting.
    var deadline: UInt64?

    private static let refusalMicroseconds: UInt64 = 60_000_000
    private static let refusedUsers = 256

    /// Any user can try as often as it likes: one line a minute for each.
    mutating func logsRefusal(of user: UInt32, at now: UInt64) -> Bool {
        if let last = refusals[user], now < last + Self.refusalMicroseconds { return false }
        if refusals.count >= Self.refusedUsers { refusals = [:] }
        refusals[user] = now
        return true
    }
}

extension DaemonCore {
    mutating func connected(_ id: ConnectionID, _ peer: PeerCredentials) {
        let (limits, isOperator, isAllowed) = (rules.limits, isOperator(peer), isAllowed(peer))
        var session = ToolSession(
            client: id.client, user: peer.user, isOperator: isOperator, mayBeTool: isAllowed, limits: limits)
        session.allowance = 0
        session.settings = rules.tools
        let connection = Connection(
            id, peer, isOperator: isOperator, isOfAllowedUser: isAllowed, session,
            greetingDeadline: microseconds + UInt64(limits.greetingMicroseconds), limits: limits)
        if isDebugging { debug("process \(peer.process) of user \(peer.user) connects") }
        let isFull = !makeRoom(for: peer.user, isOperator: isOperator)
        connections.append(connection)
        nameUser(of: connection)
        if !isAllowed, !apps.installed.users.contains(peer.user) {
            if admission.logsRefusal(of: peer.user, at: microseconds) {
                warn(
                    "user \(peer.user) (process \(peer.process)) may not connect; ‘--allow’ or ‘users’ in the configuration lets users in"
                )
            }
            connection.tool?.session.refuse(
                .notAllowed,
                "user \(peer.user) may not use this daemon; its operator lets users in with ‘bled --allow \(peer.user)’, or "
                    + "‘users’ in the configuration")
        } else if isFull {
            connection.tool?.session.refuse(.tooManyClients, "too many programs are connected")
        } else {
            planGreetings()
        }
        look(at: connection)
    }

    /// Whether the program has closed its end, whatever of it is still to be read or carried out.
    func hasDeparted(_ connection: Connection) -> Bool { connection.isClosed || lookups.isPeerGone(connection.id) }

    /// Programs that have closed their ends, and whose last requests wait for their turns, keep others of their user
    /// out only in a crowd, and those of other users never.
    /// - Returns: whether another program of the user may connect.
    private mutating func makeRoom(for user: UInt32, isOperator: Bool) -> Bool {
        let limits = rules.limits
        let ofUser = connections.all.filter { $0.peer.user == user }
        if ofUser.count >= limits.clientsOfUser {
            guard ofUser.count < 3 * limits.clientsOfUser,
                ofUser.count(where: { !hasDeparted($0) }) < limits.clientsOfUser
            else { return false }
        }
        if connections.all.count < limits.clients { return true }
        // Operators must reach the daemon in a crowd of others.
        let others = connections.all.count - ofUser.count
        if isOperator, ofUser.count < Self.operatorPlaces, others > ofUser.count { return true }
        guard let gone = departedBeyondShare else { return false }
        effects.append(.close(gone.id))
        left(gone)
        return connections.all.count < limits.clients
    }

    /// The oldest program that has closed its end, of the users who have more than their number of connections.
    private var departedBeyondShare: Connection? {
        connections.all.first {
            connections.programs[$0.peer.user, default: 0] > rules.limits.clientsOfUser && hasDeparted($0)
        }
    }

    /// Connections that an operator may have while others have all places.
    private static var operatorPlaces: Int { 8 }

    // MARK: Greetings

    mutating func planGreetings() {
        admission.deadline = connections.all.filter { !$0.hasGreeted }.map(\.greetingDeadline).min()
    }

    mutating func endSilentClients() {
        let now = microseconds
        for connection in connections.all where !connection.hasGreeted && connection.greetingDeadline <= now {
            connection.tool?.session.refuse(.silent, "nothing was said in time")
            look(at: connection)
        }
        planGreetings()
    }
}
