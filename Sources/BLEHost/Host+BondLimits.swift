import BLEPackets

/// Room for bonds: whoever is near may begin to pair, and may claim to be somebody new each time.
extension Host {
    /// Whether pairing with the peer of a link can lead to a bond.
    func hasRoomForBond(on link: Link) -> Bool {
        let identity = identity(of: link)
        if bonds.bond(for: identity) != nil || bonds.all.count < configuration.limits.bonds { return true }
        return leastUsedBond(besides: identity) != nil
    }

    /// Makes room for a bond of a pairing that has just ended.
    /// - Parameter bond: is marked as one that nobody asked for, where it is.
    /// - Returns: `false` where every other bond is worth more.
    mutating func makeRoom(for bond: inout Bond, on link: Link) -> Bool {
        let isOurs = link.role == .central || !link.security.pairOperations.isEmpty
        bond.isUnasked = !isOurs && !bond.isAuthenticated
        if let old = bonds.bond(for: bond.identity) {
            // What was asked for once stays so.
            bond.isUnasked = bond.isUnasked && old.isUnasked
            bond.lastUse = old.lastUse
            return true
        }
        let isCrowded =
            bond.isUnasked && bonds.all.count(where: { $0.isUnasked }) >= configuration.limits.unaskedBonds
        guard isCrowded || bonds.all.count >= configuration.limits.bonds else { return true }
        guard let oldest = leastUsedBond(besides: bond.identity) else { return false }
        if bonds.remove(oldest) { effects.events.append(.bondRemoved(oldest)) }
        return true
    }

    /// The bond of a link's peer has encrypted the link.
    mutating func noteUseOfBond(_ link: Link, at now: Instant) {
        let used = bonds.use(identity(of: link))
        keepClientRecord(of: link, at: now)
        // Where the client's record is written down, the use is with it.
        if let used, bond(of: link) == used { effects.events.append(.bondChanged(used)) }
    }

    /// The bond that is missed least: first those that were never used after their pairing, as a stranger's that pairs
    /// under one address after the other, then by their last use. Authenticated ones and those that were asked for are
    /// not dropped at all; those that are connected are the last to go.
    private func leastUsedBond(besides identity: DeviceAddress) -> DeviceAddress? {
        var least: (identity: DeviceAddress, isConnected: Bool, lastUse: UInt64)?
        for bond in bonds.all where bond.isUnasked && bond.identity != identity {
            let isConnected = links.contains { self.identity(of: $0) == bond.identity }
            if let least, (least.isConnected ? 1 : 0, least.lastUse) <= (isConnected ? 1 : 0, bond.lastUse) { continue }
            least = (bond.identity, isConnected, bond.lastUse)
        }
        return least?.identity
    }
}
