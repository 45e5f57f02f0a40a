import BLEPackets

/// Room for bonds: whoever is near may begin to pair, and may claim to be somebody new each time.
extension Host {
    /// Whether pairing with the peer of a link can lead to a bond.
    func hasRoomForBond(on slot: Int) -> Bool {
        let identity = identity(of: slot)
        if bonds.bond(for: identity) != nil || bonds.all.count < configuration.limits.bonds { return true }
        return oldestUnaskedBond(besides: identity) != nil
    }

    /// Makes room for a bond of a pairing that has just ended.
    /// - Parameter bond: is marked as one that nobody asked for, where it is.
    /// - Returns: `false` where every other bond is worth more.
    mutating func makeRoom(for bond: inout Bond, on slot: Int) -> Bool {
        let isOurs = links[slot].role == .central || !links[slot].security.pairOperations.isEmpty
        bond.isUnasked = !isOurs && !bond.isAuthenticated
        if let old = bonds.bond(for: bond.identity) {
            // What was asked for once stays so.
            bond.isUnasked = bond.isUnasked && old.isUnasked
            return true
        }
        let isCrowded =
            bond.isUnasked && bonds.all.count(where: { $0.isUnasked }) >= configuration.limits.unaskedBonds
        guard isCrowded || bonds.all.count >= configuration.limits.bonds else { return true }
        guard let oldest = oldestUnaskedBond(besides: bond.identity) else { return false }
        if bonds.remove(oldest) { events.append(.bondRemoved(oldest)) }
        return true
    }

    /// Those that are connected are the last to go.
    private func oldestUnaskedBond(besides identity: DeviceAddress) -> DeviceAddress? {
        let candidates = bonds.all.lazy.filter { $0.isUnasked && $0.identity != identity }.map { $0.identity }
        let idle = candidates.first { candidate in
            !links.slotRange.contains { links.isOccupied($0) && self.identity(of: $0) == candidate }
        }
        return idle ?? candidates.first
    }
}
