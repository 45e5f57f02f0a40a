import BLEPackets

/// Which bond a pairing may change: any device can use another's address, or claim another's identity in pairing. A
/// bond is only replaced over a link that it has encrypted, or with the operator's permission.
extension Bonds {
    /// The bond that results from a pairing.
    /// - Parameters:
    ///   - address: the identity of the link's peer, as far as it is known.
    ///   - clientRecord: what the server knows about the peer as a client.
    /// - Returns: `nil` for a peer that could not be recognised again: it distributed no keys, or used a private
    ///   address and distributed no identity.
    func bond(from outcome: PairingOutcome, address: DeviceAddress, clientRecord: GATTClientRecord?) -> Bond? {
        guard outcome.localKey != nil || outcome.peerKey != nil else { return nil }
        switch outcome.identity == nil ? address.randomKind : nil {
        case .resolvablePrivate?, .nonResolvablePrivate?, .reserved?: return nil
        case .static?, nil: break
        }
        var bond = outcome.bond(address: address)
        bond.clientRecord = clientRecord
        bond.name = hasBond(with: bond.identity) ? table.name(for: bond.identity) : table.name(for: address)
        return bond
    }

    /// Why a new bond is not stored, even with the user's consent. Several devices may have the same resolving key:
    /// that proves nothing, and is no reason for refusal.
    /// - Parameters:
    ///   - own: the identity of this device.
    ///   - isByWord: whether the operator has allowed the bond of `address` to be replaced.
    func refusal(of new: Bond, address: DeviceAddress, own: DeviceAddress?, isByWord: Bool) -> SecurityFailure? {
        guard new.identity == address || new.identity != own?.withoutIdentityMark else {
            return .refusedByUs(.keyRejected)
        }
        guard let old = bond(for: new.identity), !(isByWord && new.identity == address) else { return nil }
        return old.refusal(
            secureConnections: new.isSecureConnections, authenticated: new.isAuthenticated, keySize: new.keySize
        ).map { .refusedByUs($0) }
    }

    /// The bonded device whose bond a new bond would replace, and that the peer has not proved to be.
    /// - Parameter isAllowed: whether the peer has proved to be the device of `address`, or the user has allowed its
    ///   bond to be replaced.
    func unprovenClaim(of new: Bond, address: DeviceAddress, isAllowed: Bool) -> DeviceAddress? {
        // The proof or permission concerns the device of the link, not a different identity that it claims.
        if new.identity != address, hasBond(with: new.identity) { return new.identity }
        return isAllowed || !hasBond(with: address) ? nil : address.withoutIdentityMark
    }
}
