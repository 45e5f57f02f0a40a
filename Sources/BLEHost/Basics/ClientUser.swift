/// The user of the system for whom a client works, where one engine serves several of them.
///
/// What users share is divided by user, so that one who has many clients gets no more than the others: the room of the
/// advertisement, bonds, and turns at the controller and on a link. Clients for which no user was named
/// (`Host.setUser`) count as those of one user.
public struct ClientUser: Hashable, Sendable {
    /// The number of the user in the system.
    public var number: UInt32
    /// Whether the user may undo what others do: the shares of ordinary users leave something for operators.
    public var isOperator: Bool

    /// The user of clients for which none was named; the system has no user of this number.
    public static let common = ClientUser(.max)

    /// A user of the system.
    public init(_ number: UInt32, isOperator: Bool = false) {
        self.number = number
        self.isOperator = isOperator
    }
}

/// The users of the clients, as the owner of the engine named them.
struct ClientUsers {
    /// In ascending order of the clients.
    private var entries: [(client: ClientID, user: ClientUser)] = []

    /// Whether no client's user is known.
    var isEmpty: Bool { entries.isEmpty }

    subscript(client: ClientID) -> ClientUser? {
        guard Features.users else { return nil }
        let place = place(of: client)
        return place < entries.count && entries[place].client == client ? entries[place].user : nil
    }

    /// The number of the client's user.
    func number(of client: ClientID) -> UInt32 { self[client]?.number ?? ClientUser.common.number }

    /// - Parameter user: `nil`: the client has gone.
    mutating func set(_ user: ClientUser?, of client: ClientID) {
        let place = place(of: client)
        if place < entries.count, entries[place].client == client { entries.remove(at: place) }
        if let user { entries.insert((client, user), at: place) }
    }

    private func place(of client: ClientID) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].client < client { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
