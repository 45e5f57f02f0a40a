import BLEHost

/// The octets in the requests of tools that the engine has not completed, for each tool and for each user. They count
/// from the moment at which the engine gets a request until it has ended, also when its tool has left meanwhile.
struct WaitingOctets {
    private struct Request {
        let client: ClientID
        let user: UInt32
        let octets: Int
    }

    // Only for lookup, never iterated. None of them has a place for what takes no octets.
    private var requests: [OperationID: Request] = [:]
    private var clients: [ClientID: Int] = [:]
    private var users: [UInt32: Int] = [:]

    /// The octets of a tool, or of all tools of a user.
    func of(_ client: ClientID) -> Int { clients[client] ?? 0 }
    func of(user: UInt32) -> Int { users[user] ?? 0 }

    mutating func began(_ operation: OperationID, from client: ClientID, of user: UInt32, octets: Int) {
        guard octets > 0 else { return }
        requests[operation] = Request(client: client, user: user, octets: octets)
        clients[client, default: 0] += octets
        users[user, default: 0] += octets
    }

    mutating func ended(_ operation: OperationID) {
        guard !requests.isEmpty, let request = requests.removeValue(forKey: operation) else { return }
        let ofClient = of(request.client) - request.octets
        let ofUser = of(user: request.user) - request.octets
        clients[request.client] = ofClient > 0 ? ofClient : nil
        users[request.user] = ofUser > 0 ? ofUser : nil
    }
}
