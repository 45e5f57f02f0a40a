import BLEPackets

/// How many bonds there may be, and which one makes room for another: any device in range may begin to pair, and may
/// claim to be a different device each time, and so may any user's program.
///
/// Where users are known, each ordinary one has a share, whose oldest bond makes room for its next one; what all of
/// them have leaves a reserve for operators. Bonds without a user, and those of operators, are dropped as if there
/// were no users: only if no client asked for them.
extension Bonds {
    /// Whether pairing with a device can lead to a bond.
    /// - Parameter user: whose bond it would be.
    func hasRoom(for identity: DeviceAddress, of user: ClientUser? = nil) -> Bool {
        hasBond(with: identity) || crowd(isUnasked: false, user) == .none
            || leastMissed(in: crowd(isUnasked: false, user), besides: identity, user, connected: []) != nil
    }

    /// Keeps the bond of a pairing that has just ended, and drops the bond that it replaces.
    /// - Parameters:
    ///   - address: the peer's identity as known before the pairing.
    ///   - isAskedFor: whether this side wanted the pairing.
    ///   - user: whose bond it is.
    ///   - connected: the identities of all connected peers.
    /// - Returns: `false` if no other bond may be dropped for it.
    mutating func store(
        _ new: Bond, inPlaceOf address: DeviceAddress, isAskedFor: Bool, of user: ClientUser? = nil,
        connected: [DeviceAddress], into effects: inout Effects
    ) -> Bool {
        var new = new
        new.isUnasked = !isAskedFor && !new.isAuthenticated
        new.user = user
        guard makeRoom(for: &new, connected: connected, into: &effects) else { return false }
        // The device of the link's bond now has another identity.
        if address != new.identity { _ = remove(address, into: &effects) }
        update(new, into: &effects)
        return true
    }

    private mutating func makeRoom(
        for bond: inout Bond, connected: [DeviceAddress], into effects: inout Effects
    ) -> Bool {
        if let old = self.bond(for: bond.identity) {
            // A bond that was asked for once stays so, and it stays its first user's.
            bond.isUnasked = bond.isUnasked && old.isUnasked
            bond.lastUse = old.lastUse
            bond.user = old.user ?? bond.user
            return true
        }
        let crowd = crowd(isUnasked: bond.isUnasked, bond.user)
        guard crowd != .none else { return true }
        guard let oldest = leastMissed(in: crowd, besides: bond.identity, bond.user, connected: connected) else {
            return false
        }
        _ = remove(oldest, into: &effects)
        return true
    }

    // MARK: Crowds

    /// What there is too much of for one more bond.
    private enum Crowd {
        case none
        /// Bonds that no client asked for.
        case unasked
        /// Those of the new bond's user.
        case ofUser
        /// Those of ordinary users.
        case ofUsers
        /// All of them.
        case all
    }

    private func crowd(isUnasked: Bool, _ user: ClientUser?) -> Crowd {
        if isUnasked, count(where: { $0.isUnasked }) >= limits.unaskedBonds { return .unasked }
        if Features.users, let user, !user.isOperator {
            if count(where: { $0.user?.number == user.number }) >= limits.bondsOfUser { return .ofUser }
            if table.all.count + limits.reservedBonds >= limits.bonds { return .ofUsers }
        }
        return table.all.count >= limits.bonds ? .all : .none
    }

    private func count(where isCounted: (borrowing Bond) -> Bool) -> Int {
        var count = 0
        for place in table.all.indices where isCounted(table.all[place]) { count += 1 }
        return count
    }

    /// The bond that makes room.
    private func leastMissed(
        in crowd: Crowd, besides identity: DeviceAddress, _ user: ClientUser?, connected: [DeviceAddress]
    ) -> DeviceAddress? {
        guard Features.users else { return leastUsed(besides: identity, connected) { $0.isUnasked } }
        switch crowd {
        case .none: return nil
        case .ofUser: return leastUsed(besides: identity, connected) { $0.user?.number == user?.number }
        case .unasked:
            // Those of the user who has most of them.
            let crowding = crowdingUser(user) { $0.isUnasked }
            return leastUsed(besides: identity, connected) { $0.isUnasked && $0.user?.number == crowding }
        case .ofUsers, .all:
            if let crowding = crowdingUser(user, { $0.isOfOrdinaryUser }) {
                return leastUsed(besides: identity, connected) {
                    $0.isOfOrdinaryUser && $0.user?.number == crowding
                }
            }
            return crowd == .all ? leastUsed(besides: identity, connected) { $0.isUnasked } : nil
        }
    }

    /// The user who has most of some bonds; of those who have as many, the new bond's user.
    private func crowdingUser(_ user: ClientUser?, _ isCounted: (borrowing Bond) -> Bool) -> UInt32? {
        var counts: [(user: UInt32?, count: Int)] = []
        for place in table.all.indices where isCounted(table.all[place]) {
            let number = table.all[place].user?.number
            if let index = counts.firstIndex(where: { $0.user == number }) {
                counts[index].count += 1
            } else {
                counts.append((number, 1))
            }
        }
        var most: (user: UInt32?, count: Int)?
        for var next in counts {
            // With the new one.
            if next.user == user?.number { next.count += 1 }
            let least = most?.count ?? 0
            if next.count > least || next.count == least && next.user == user?.number { most = next }
        }
        return most?.user
    }

    /// The bond to evict: first those that were never used after their pairing, such as those of a stranger
    /// that pairs under many addresses, then by last use; those of connected devices are the last to go.
    private func leastUsed(
        besides identity: DeviceAddress, _ connected: [DeviceAddress], among isCandidate: (borrowing Bond) -> Bool
    ) -> DeviceAddress? {
        var least: (identity: DeviceAddress, isConnected: Bool, lastUse: UInt64)?
        // By place: a bond is too large to be copied for each look at it.
        for place in table.all.indices where isCandidate(table.all[place]) && table.all[place].identity != identity {
            let candidate = table.all[place].identity
            let isConnected = connected.contains(candidate)
            let lastUse = table.all[place].lastUse
            if let least, (least.isConnected ? 1 : 0, least.lastUse) <= (isConnected ? 1 : 0, lastUse) { continue }
            least = (candidate, isConnected, lastUse)
        }
        return least?.identity
    }
}

extension Bond {
    /// Whether it is one of those that have to leave room for operators'.
    var isOfOrdinaryUser: Bool { user.map { !$0.isOperator } ?? false }
}
