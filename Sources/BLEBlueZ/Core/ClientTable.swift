/// The clients on the bus, as far as they have calls that wait or want something that ends with them, and their users: one
/// with many connections has no more than its share.
struct ClientTable {
    /// What a client or a user has.
    private struct Share {
        /// Calls that wait for a reply.
        var calls = 0
        /// What ends when the client leaves.
        var wishes = 0

        var isEmpty: Bool { calls == 0 && wishes == 0 }
    }

    private struct Client {
        var user: UInt32
        var share = Share()
    }

    let settings: BlueZSettings
    /// By unique name. Only for lookup.
    private var clients: [String: Client] = [:]
    /// Only for lookup.
    private var users: [UInt32: Share] = [:]

    init(_ settings: BlueZSettings) { self.settings = settings }

    /// Whether no client has a call under way or a registration.
    var isEmpty: Bool { clients.isEmpty && users.isEmpty }

    /// A client calls.
    /// - Returns: whether it may: not if too many calls wait.
    mutating func began(_ call: BusCall) -> Bool {
        guard clients[call.sender]?.share.calls ?? 0 < settings.callsOfClient,
            isTrusted(user: call.user) || users[call.user]?.calls ?? 0 < settings.callsOfUser
        else { return false }
        if clients[call.sender] == nil { clients[call.sender] = Client(user: call.user) }
        change(call.sender) { $0.calls += 1 }
        return true
    }

    mutating func ended(_ call: BusCall) { change(call.sender) { $0.calls = max(0, $0.calls - 1) } }

    /// Whether a client may want another thing that ends with it.
    func mayWish(_ client: String) -> Bool {
        guard let known = clients[client] else { return false }
        return known.share.wishes < settings.wishesOfClient
            && (isTrusted(user: known.user) || users[known.user]?.wishes ?? 0 < settings.wishesOfUser)
    }

    /// A client wants something that ends with it.
    /// - Returns: whether it wanted nothing before.
    mutating func wishes(_ client: String) -> Bool {
        change(client) { $0.wishes += 1 }
        return clients[client]?.share.wishes == 1
    }

    /// A client no longer wants something.
    /// - Returns: whether it wants nothing else.
    mutating func wishesNoMore(_ client: String) -> Bool {
        guard let wishes = clients[client]?.share.wishes, wishes > 0 else { return false }
        change(client) { $0.wishes -= 1 }
        return wishes == 1
    }

    mutating func left(_ client: String) {
        change(client) { $0 = Share() }
    }

    // MARK: Users

    /// Whether two clients, of which both want something, are of one user.
    func areOfOneUser(_ a: String, _ b: String) -> Bool { clients[a]?.user == clients[b]?.user }

    /// Whether a client's user could take everything anyhow.
    func isTrusted(_ client: String) -> Bool { clients[client].map { isTrusted(user: $0.user) } ?? false }

    func isTrusted(user: UInt32) -> Bool { settings.trustedUsers.contains(user) }

    private mutating func change(_ client: String, _ body: (inout Share) -> Void) {
        guard var known = clients[client] else { return }
        var user = users[known.user] ?? Share()
        let before = known.share
        body(&known.share)
        user.calls += known.share.calls - before.calls
        user.wishes += known.share.wishes - before.wishes
        clients[client] = known.share.isEmpty ? nil : known
        users[known.user] = user.isEmpty ? nil : user
    }
}
