import BLEPackets

/// Whose bond a pairing may touch: any device can use another's address, or claim in pairing to be it.
/// A bond is replaced over a link that it has encrypted, or by the operator's word; nothing else ends it.
extension Bonds {
    /// What a pairing leaves.
    /// - Parameter address: who the link's peer is, as far as that is known.
    /// - Returns: `nil` for a peer that would not be known again: it gave no keys, or came under a private address and
    ///   did not say who it is.
    func bond(from outcome: PairingOutcome, address: DeviceAddress) -> Bond? {
        guard outcome.localKey != nil || outcome.peerKey != nil else { return nil }
        switch outcome.identity == nil ? address.randomKind : nil {
        case .resolvablePrivate?, .nonResolvablePrivate?, .reserved?: return nil
        case .static?, nil: break
        }
        var bond = outcome.bond(address: address)
        bond.name = (self.bond(for: bond.identity) ?? self.bond(for: address))?.name
        return bond
    }

    /// Why a new bond is not kept, even with the user's consent. Several devices may have one resolving key: it proves
    /// nothing, and is no reason.
    /// - Parameters:
    ///   - own: the identity of this device.
    ///   - isByWord: whether the operator said that the bond of `address` may be replaced.
    func refusal(
        of new: Bond, address: DeviceAddress, own: DeviceAddress?, isByWord: Bool
    ) -> SecurityFailure? {
        guard new.identity == address || new.identity != own?.withoutIdentityMark else {
            return .refusedByUs(.keyRejected)
        }
        guard let old = bond(for: new.identity), !(isByWord && new.identity == address) else { return nil }
        return old.refusal(
            secureConnections: new.isSecureConnections, authenticated: new.isAuthenticated, keySize: new.keySize
        ).map { .refusedByUs($0) }
    }

    /// The bonded device that a new bond would put an end to, and that the peer has not proven to be.
    /// - Parameter isAllowed: whether the peer has proven to be the device of `address`, or the user said that its bond
    ///   may be replaced.
    func unprovenClaim(of new: Bond, address: DeviceAddress, isAllowed: Bool) -> DeviceAddress? {
        // What was proven or said is about the device of the link, not about one that it names.
        if new.identity != address, bond(for: new.identity) != nil { return new.identity }
        return isAllowed ? nil : bond(for: address)?.identity
    }
}
