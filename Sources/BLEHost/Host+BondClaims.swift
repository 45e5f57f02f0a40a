import BLEPackets

/// Whose bond a pairing may touch: anybody can come under a device's address, or say in pairing that it is that device.
/// A bond is replaced over a link that it has encrypted, or by the operator's word; nothing else ends it.
extension Host {
    /// How long the user may take to say whether a bond is replaced, when the keys are there already.
    private static let claimPatience: Microseconds = .seconds(30)

    /// Whether the peer has shown that it is the device of its bond, and the link is encrypted since.
    func isProven(_ slot: Int) -> Bool {
        links[slot].security.isBondProven && links[slot].security.keyInUse != nil
    }

    // MARK: Before pairing

    /// A central that is asked to pair with a bonded device has the bond encrypt the link first: the device is who it was
    /// then, and pairing is needed where more is asked for than the bond gives.
    /// - Returns: whether the operation has ended, or goes on without a pairing for now.
    mutating func pairOverBond(
        _ slot: Int, _ options: PairingOptions, operation: OperationID, at now: Instant
    ) -> Bool {
        guard isPairingAvailable, let bond = bond(of: slot) else { return false }
        if isProven(slot) {
            guard let key = links[slot].security.keyInUse, key.isOfBond, key.satisfies(options),
                links[slot].security.machine == nil
            else { return false }
            complete(operation, .success(.paired(PairingSummary(linkSecurity(of: slot)))))
            return true
        }
        guard links[slot].role == .central, links[slot].security.machine == nil else { return false }
        guard !links[slot].security.isBondRefused else {
            complete(operation, .failure(.security(.keyMissingAtPeer)))
            return true
        }
        guard let key = bond.peerKey else {
            complete(operation, .failure(.security(.wouldReplaceBond)))
            return true
        }
        links[slot].security.heldPairing = options
        links[slot].security.pairOperations.append(operation)
        if !links[slot].security.isChanging { encrypt(slot, with: key, bond.keyProperties, at: now) }
        return true
    }

    /// The bond's key has encrypted the link: what was asked for beyond it is paired for now.
    /// - Returns: whether operations wait for a pairing.
    mutating func followHeldPairing(_ slot: Int, at now: Instant) -> Bool {
        guard let options = links[slot].security.heldPairing else { return false }
        links[slot].security.heldPairing = nil
        guard let key = links[slot].security.keyInUse, !key.satisfies(options), !links[slot].isClosing else {
            return false
        }
        let waiting = links[slot].security.pairOperations
        links[slot].security.pairOperations = []
        if let failure = beginPairing(slot, options, needsConsent: false, isCommanded: true, at: now) {
            for operation in waiting { complete(operation, .failure(.security(failure))) }
            return false
        }
        guard links[slot].security.isBusy else {
            for operation in waiting { complete(operation, .failure(.security(.keyTooWeak))) }
            return false
        }
        links[slot].security.pairOperations = waiting
        return true
    }

    // MARK: After pairing

    /// `nil` for a peer that would not be known again: it gave no keys, or came under a private address and did not say
    /// who it is.
    mutating func newBond(_ slot: Int, _ outcome: PairingOutcome) -> Bond? {
        guard outcome.localKey != nil || outcome.peerKey != nil else { return nil }
        let address = identity(of: slot)
        switch outcome.identity == nil ? address.randomKind : nil {
        case .resolvablePrivate?, .nonResolvablePrivate?, .reserved?: return nil
        case .static?, nil: break
        }
        var bond = outcome.bond(address: address)
        bond.clientRecord = gattServer.clientRecord(of: links[slot].id)
        bond.name = (bonds.bond(for: bond.identity) ?? bonds.bond(for: address))?.name
        return bond
    }

    /// Why a new bond is not kept, whatever anybody says. Several devices may have one resolving key: it proves nothing,
    /// and is no reason.
    func refusal(of new: Bond, _ slot: Int) -> SecurityFailure? {
        guard new.identity == identity(of: slot) || new.identity != information.identityAddress?.withoutIdentityMark
        else {
            return .refusedByUs(.keyRejected)
        }
        let isByWord = links[slot].security.machine?.setup.options.replacesBond ?? false
        guard let old = bonds.bond(for: new.identity), !(isByWord && new.identity == identity(of: slot)) else {
            return nil
        }
        return old.refusal(
            secureConnections: new.isSecureConnections, authenticated: new.isAuthenticated, keySize: new.keySize
        ).map { .refusedByUs($0) }
    }

    /// The bonded device that a new bond would put an end to, and that the peer has not proven to be.
    func unprovenClaim(of new: Bond, _ slot: Int) -> DeviceAddress? {
        let address = identity(of: slot)
        let machine = links[slot].security.machine
        let isAllowed =
            isProven(slot) || machine?.mayReplaceBond ?? false || machine?.setup.options.replacesBond ?? false
        // What was proven or said is about the device of the link, not about one that it names.
        if new.identity != address, bonds.bond(for: new.identity) != nil { return new.identity }
        return isAllowed ? nil : bonds.bond(for: address)?.identity
    }

    /// The user is asked; the keys wait.
    mutating func askToReplace(_ identity: DeviceAddress, _ slot: Int, _ outcome: PairingOutcome, at now: Instant) {
        links[slot].security.unsettled = .init(outcome: outcome, deadline: now.advanced(by: Self.claimPatience))
        ask(.replaceBond(identity), slot)
    }

    mutating func answerClaim(_ slot: Int, _ answer: PairingAnswer, at now: Instant) -> Bool {
        switch answer {
        case .passkey: return false
        case .confirm(false), .cancel: dropClaim(slot, .wouldReplaceBond, at: now)
        case .confirm(true):
            guard let outcome = links[slot].security.unsettled?.outcome, let new = newBond(slot, outcome),
                refusal(of: new, slot) == nil, keep(new, slot, at: now)
            else {
                dropClaim(slot, .tooManyBonds, at: now)
                return true
            }
            pairingEnded(slot, outcome, isBonded: true, at: now)
        }
        return true
    }

    /// The peer is told that its keys are not kept.
    mutating func dropClaim(_ slot: Int, _ failure: SecurityFailure, at now: Instant) {
        let reason: PairingFailedReason =
            switch failure {
            case .refusedByUs(let reason): reason
            case .wouldReplaceBond: .keyRejected
            default: .unspecifiedReason
            }
        refuse(slot, reason, at: now)
        // Whoever came so far did not guess.
        links[slot].security.machine = nil
        pairingFailed(slot, failure, at: now)
    }

    /// - Returns: `false` where there is no room.
    mutating func keep(_ new: Bond, _ slot: Int, at now: Instant) -> Bool {
        var new = new
        guard makeRoom(for: &new, on: slot) else { return false }
        let address = identity(of: slot)
        // The device of the link's bond has come to be known by another identity.
        if address != new.identity, bonds.remove(address) { events.append(.bondRemoved(address)) }
        links[slot].security.identity = new.identity
        if case .on(var key) = links[slot].security.encryption {
            key.isOfBond = true
            links[slot].security.encryption = .on(key)
        }
        update(new)
        // A gate that a weak key has left closed opens as well.
        if links[slot].security.isGated { links[slot].security.isBondProven = false }
        openGate(slot, restoring: nil, at: now)
        links[slot].security.isRecordDue = false
        return true
    }
}
