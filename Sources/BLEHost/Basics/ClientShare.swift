/// Whose a client is. Clients take turns at what all of them share, and those of one owner have the turns of one.
public struct ClientShare: Hashable, Sendable {
    /// A number of the owner, such as a user of the system.
    public var owner: UInt32
    /// Whether the owner's requests come before those of owners who are not preferred.
    public var isPreferred: Bool

    public init(owner: UInt32, isPreferred: Bool = false) {
        self.owner = owner
        self.isPreferred = isPreferred
    }

    /// That of every client of which the engine was told nothing: they take turns with each other as clients of one
    /// owner.
    public static let common = ClientShare(owner: 0)
}

#if !hasFeature(Embedded) && !JELLING_WITHOUT_CODING
extension ClientShare: Codable {}
#endif

/// The shares that clients have. Finding one takes logarithmic time.
struct ClientShares {
    /// In the order of the clients; those that have the common share are left out.
    private var entries: [(client: ClientID, share: ClientShare)] = []

    subscript(client: ClientID) -> ClientShare {
        get {
            let place = place(of: client)
            return place < entries.count && entries[place].client == client ? entries[place].share : .common
        }
        set {
            let place = place(of: client)
            let isKnown = place < entries.count && entries[place].client == client
            switch (isKnown, newValue == .common) {
            case (true, true): entries.remove(at: place)
            case (true, false): entries[place].share = newValue
            case (false, true): break
            case (false, false): entries.insert((client, newValue), at: place)
            }
        }
    }

    /// The place of the first client that is not before this one.
    private func place(of client: ClientID) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].client < client { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
