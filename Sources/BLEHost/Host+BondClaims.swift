import BLEPackets

/// Pairing with a device that is bonded, or says so.
extension Host {
    /// How long the user may take to say whether a bond is replaced, when the keys are there already.
    private static let claimPatience: Microseconds = .seconds(30)

    /// Whether the peer has shown that it is the device of its bond, and the link is encrypted since.
    func isProven(_ link: Link) -> Bool {
        link.security.isBondProven && link.security.keyInUse != nil
    }

    // MARK: Before pairing

    /// A central that is asked to pair with a bonded device has the bond encrypt the link first: the device is who it was
    /// then, and pairing is needed where more is asked for than the bond gives.
    /// - Returns: whether the operation has ended, or goes on without a pairing for now.
    mutating func pairOverBond(
        _ link: Link, _ options: PairingOptions, operation: OperationID, at now: Instant
    ) -> Bool {
        guard isPairingAvailable, let bond = bond(of: link) else { return false }
        if isProven(link) {
            guard let key = link.security.keyInUse, key.isOfBond, key.satisfies(options),
                link.security.machine == nil
            else { return false }
            effects.complete(operation, .success(.paired(PairingSummary(linkSecurity(of: link)))))
            return true
        }
        guard link.role == .central, link.security.machine == nil else { return false }
        guard !link.security.isBondRefused else {
            effects.complete(operation, .failure(.security(.keyMissingAtPeer)))
            return true
        }
        guard let key = bond.peerKey else {
            effects.complete(operation, .failure(.security(.wouldReplaceBond)))
            return true
        }
        link.security.heldPairing = options
        link.security.pairOperations.append(operation)
        if !link.security.isChanging { encrypt(link, with: key, bond.keyProperties, at: now) }
        return true
    }

    /// The bond's key has encrypted the link: what was asked for beyond it is paired for now.
    /// - Returns: whether operations wait for a pairing.
    mutating func followHeldPairing(_ link: Link, at now: Instant) -> Bool {
        guard let options = link.security.heldPairing else { return false }
        link.security.heldPairing = nil
        guard let key = link.security.keyInUse, !key.satisfies(options), !link.isClosing else {
            return false
        }
        let waiting = link.security.pairOperations
        link.security.pairOperations = []
        if let failure = beginPairing(link, options, needsConsent: false, isCommanded: true, at: now) {
            for operation in waiting { effects.complete(operation, .failure(.security(failure))) }
            return false
        }
        guard link.security.isBusy else {
            for operation in waiting { effects.complete(operation, .failure(.security(.keyTooWeak))) }
            return false
        }
        link.security.pairOperations = waiting
        return true
    }

    // MARK: After pairing

    mutating func newBond(_ link: Link, _ outcome: PairingOutcome) -> Bond? {
        bonds.bond(
            from: outcome, address: identity(of: link), clientRecord: gattServer.clientRecord(of: link.id))
    }

    func refusal(of new: Bond, _ link: Link) -> SecurityFailure? {
        bonds.refusal(
            of: new, address: identity(of: link), own: session.information.identityAddress,
            isByWord: link.security.machine?.setup.options.replacesBond ?? false)
    }

    func unprovenClaim(of new: Bond, _ link: Link) -> DeviceAddress? {
        let machine = link.security.machine
        return bonds.unprovenClaim(
            of: new, address: identity(of: link),
            isAllowed: isProven(link) || machine?.mayReplaceBond ?? false
                || machine?.setup.options.replacesBond ?? false)
    }

    /// The user is asked; the keys wait.
    mutating func askToReplace(_ identity: DeviceAddress, _ link: Link, _ outcome: PairingOutcome, at now: Instant) {
        link.security.unsettled = .init(outcome: outcome, deadline: now.advanced(by: Self.claimPatience))
        ask(.replaceBond(identity), link)
    }

    mutating func answerClaim(_ link: Link, _ answer: PairingAnswer, at now: Instant) -> Bool {
        switch answer {
        case .passkey: return false
        case .confirm(false), .cancel: dropClaim(link, .wouldReplaceBond, at: now)
        case .confirm(true):
            guard let outcome = link.security.unsettled?.outcome, let new = newBond(link, outcome),
                refusal(of: new, link) == nil, keep(new, link, at: now)
            else {
                dropClaim(link, .tooManyBonds, at: now)
                return true
            }
            pairingEnded(link, outcome, isBonded: true, at: now)
        }
        return true
    }

    /// The peer is told that its keys are not kept.
    mutating func dropClaim(_ link: Link, _ failure: SecurityFailure, at now: Instant) {
        let reason: PairingFailedReason =
            switch failure {
            case .refusedByUs(let reason): reason
            case .wouldReplaceBond: .keyRejected
            default: .unspecifiedReason
            }
        refuse(link, reason, at: now)
        // Whoever came so far did not guess.
        link.security.machine = nil
        pairingFailed(link, failure, at: now)
    }

    /// - Returns: `false` where there is no room.
    mutating func keep(_ new: Bond, _ link: Link, at now: Instant) -> Bool {
        let connected = links.all.map { identity(of: $0) }
        guard
            bonds.keep(
                new, inPlaceOf: identity(of: link),
                isAskedFor: link.role == .central || !link.security.pairOperations.isEmpty, connected: connected,
                into: &effects)
        else { return false }
        link.security.identity = new.identity
        if case .on(var key) = link.security.encryption {
            key.isOfBond = true
            link.security.encryption = .on(key)
        }
        // A gate that a weak key has left closed opens as well.
        if link.security.isGated { link.security.isBondProven = false }
        openGate(link, restoring: nil, at: now)
        link.security.isRecordDue = false
        return true
    }
}
