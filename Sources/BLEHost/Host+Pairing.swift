import BLEPackets

/// The Security Manager's channel of each link: between `LinkSecurityMachine`, the bonds and the operations.
extension Host {
    // MARK: Commands

    mutating func pair(_ link: LinkID, _ options: PairingOptions?, operation: OperationID, at now: Instant) {
        guard let link = links[link], !link.isClosing else {
            return effects.complete(operation, .failure(.notConnected))
        }
        let options = options ?? security.pairing
        switch link.security.step(toPairWith: options, bonds, pairings) {
        case .none:
            let summary = PairingSummary(link.security.summary(bonds))
            effects.complete(operation, .success(.paired(summary)))
        case .fail(let failure): effects.complete(operation, .failure(.security(failure)))
        case .encrypt(let key, let properties):
            link.security.heldPairing = options
            link.security.pairOperations.append(operation)
            if !link.security.isChanging {
                link.security.encrypt(with: key, properties, at: now, into: &effects)
            }
        case .pair(let options):
            if let failure = beginPairing(link, options, isCommanded: true, at: now) {
                return effects.complete(operation, .failure(.security(failure)))
            }
            // Pairing may have ended at once.
            guard link.security.isBusy else {
                return effects.complete(operation, .failure(.security(.refusedByUs(.unspecifiedReason))))
            }
            link.security.pairOperations.append(operation)
        }
    }

    /// Ends the pairing that an operation began.
    mutating func cancelPairing(_ operation: OperationID, link: Link, at now: Instant) -> Bool {
        if let index = link.security.encryptOperations.firstIndex(of: operation) {
            link.security.encryptOperations.remove(at: index)
            effects.complete(operation, .failure(.cancelled))
            return true
        }
        guard let index = link.security.pairOperations.firstIndex(of: operation) else { return false }
        link.security.pairOperations.remove(at: index)
        effects.complete(operation, .failure(.cancelled))
        link.security.request = nil
        link.security.heldPairing = nil
        if link.security.isUnsettled { dropClaim(link, .cancelled, at: now) }
        continuePairing(of: link, at: now) { $0.cancel() }
        // Where nothing has begun yet, nothing else would tell those that wait for it.
        if !link.security.isBusy { securityEnded(link, .cancelled, at: now) }
        return true
    }

    /// - Returns: whether the question was still open and the answer is one to it.
    mutating func answerPairing(_ question: PairingQuestionID, _ answer: PairingAnswer, at now: Instant) -> Bool {
        guard let link = links.all.first(where: { $0.security.question?.id == question }) else { return false }
        if case .unsettled(_, let outcome, _, _) = link.security.pairing {
            return answerClaim(link, outcome, answer, at: now)
        }
        let isTaken = link.security.userAnswered(answer, at: now)
        drainPairing(link, at: now)
        return isTaken
    }

    // MARK: Beginning

    /// Begins pairing as the initiator, or asks the central to do so.
    /// - Parameter isCommanded: whether the app asked for this pairing, and no device.
    /// - Returns: why it cannot begin.
    private mutating func beginPairing(
        _ link: Link, _ options: PairingOptions, needsConsent: Bool = false, isCommanded: Bool = false, at now: Instant
    ) -> SecurityFailure? {
        let refusal = link.security.refusal(
            toBegin: options, isClosing: link.isClosing, bonds, pairings, at: now)
        if let refusal { return refusal }
        guard link.role == .central else {
            requestSecurity(link, options, at: now)
            return nil
        }
        begin(.initiator, link, at: now) {
            $0.options = options
            $0.needsConsent = needsConsent
            $0.isCommanded = isCommanded
        }
        continuePairing(of: link, at: now) { $0.start(at: now) }
        return nil
    }

    private mutating func begin(
        _ side: PairingMachine.Role, _ link: Link, at now: Instant,
        _ change: (inout LinkSecurityMachine.Beginning) -> Void
    ) {
        let others = links.count { $0 !== link && $0.role == link.role && $0.security.mayEnterPasskey }
        var beginning = LinkSecurityMachine.Beginning(options: security.pairing, passkeyEntriesUnderWay: others)
        if let key = security.identityResolvingKey, let address = session.information.identityAddress {
            beginning.localIdentity = LocalIdentity(address: address, resolvingKey: key)
        }
        change(&beginning)
        link.security.begin(side, beginning, bonds, &pairings, at: now, into: &effects)
    }

    mutating func requestSecurity(_ link: Link, _ options: PairingOptions, at now: Instant) {
        link.send(link.security.ask(for: options, at: now), into: &effects)
    }

    /// The bond's key has encrypted the link: what was asked for beyond it is paired for now.
    /// - Returns: whether operations wait for a pairing.
    mutating func followHeldPairing(_ link: Link, at now: Instant) -> Bool {
        guard let options = link.security.takeHeldPairing(), !link.isClosing else { return false }
        let waiting = link.security.pairOperations
        link.security.pairOperations = []
        var failure = beginPairing(link, options, isCommanded: true, at: now)
        if failure == nil, !link.security.isBusy { failure = .keyTooWeak }
        if let failure {
            for operation in waiting { effects.complete(operation, .failure(.security(failure))) }
            return false
        }
        link.security.pairOperations = waiting
        return true
    }

    /// The peer refused an operation because the link is not secure enough (SPEC 2.3 automatic pairing).
    mutating func secureOnDemand(_ link: Link, _ error: ATTError, at now: Instant) {
        switch link.security.step(onDemandOf: error, security, bonds) {
        // What is under way may be enough: the operation is tried again at its end.
        case .none: break
        case .fail(let failure): securityEnded(link, failure, at: now)
        case .encrypt(let key, let properties):
            link.security.encrypt(with: key, properties, at: now, into: &effects)
        case .pair(let options):
            if let failure = beginPairing(link, options, needsConsent: options.asksConsent, at: now) {
                securityEnded(link, failure, at: now)
            }
        }
    }

    // MARK: PDUs

    mutating func receiveSecurityPDU(_ pdu: RawSpan, on link: Link, at now: Instant) {
        guard !link.security.isBlocked, !link.isClosing else { return }
        guard let octet = pdu.byte(at: 0) else { return }
        if link.security.isPairing { return pairingReceived(pdu, link, at: now) }
        switch SMPOpcode(rawValue: octet) {
        case .pairingRequest: pairingRequested(pdu, link, at: now)
        case .securityRequest: securityRequested(pdu, link, at: now)
        case .pairingFailed:
            // The central's answer to our Security Request.
            guard link.security.request != nil, let reason = pdu.byte(at: 1) else { return }
            link.security.request = nil
            pairingFailed(link, .refusedByPeer(PairingFailedReason(rawValue: reason)), at: now)
        // What is left of a pairing that has ended. An answer could meet a new one on its way.
        default: effects.counters.strayPackets &+= 1
        }
    }

    private mutating func pairingRequested(_ pdu: RawSpan, _ link: Link, at now: Instant) {
        guard pairings.areAvailable, security.acceptsPairing else {
            return link.send(.pairingFailed(.pairingNotSupported), into: &effects)
        }
        guard link.role == .peripheral else { return link.send(.pairingFailed(.commandNotSupported), into: &effects) }
        guard link.security.wait(pairings, at: now) == nil else {
            return link.send(.pairingFailed(.repeatedAttempts), into: &effects)
        }
        let request = link.security.request
        link.security.request = nil
        let options = request?.options ?? security.pairing
        // AuthReq (Core 5.4, Vol 3, Part H, 3.5.1).
        let wishes = AuthenticationRequirements(rawValue: pdu.byte(at: 3) ?? 0)
        guard !wishes.isBonding || !options.isBonding || bonds.hasRoom(for: link.security.identity) else {
            link.send(.pairingFailed(.pairingNotSupported), into: &effects)
            return pairingFailed(link, .tooManyBonds, at: now)
        }
        begin(.responder, link, at: now) {
            $0.options = options
            $0.needsConsent = options.asksConsent && request == nil
            $0.isCommanded = request != nil && !link.security.pairOperations.isEmpty
            $0.mayBond = wishes.isBonding
        }
        pairingReceived(pdu, link, at: now)
    }

    private mutating func pairingReceived(_ pdu: RawSpan, _ link: Link, at now: Instant) {
        link.security.received(pdu, at: now)
        drainPairing(link, at: now)
    }

    /// The peripheral wants security (Core 5.4, Vol 3, Part H, 2.4.6).
    private mutating func securityRequested(_ pdu: RawSpan, _ link: Link, at now: Instant) {
        guard configuration.hasToolbox else { return link.send(.pairingFailed(.pairingNotSupported), into: &effects) }
        guard link.role == .central else { return link.send(.pairingFailed(.commandNotSupported), into: &effects) }
        guard case .securityRequest(let wanted)? = try? SMPPacket(pdu) else {
            return link.send(.pairingFailed(.invalidParameters), into: &effects)
        }
        switch link.security.step(requestedBy: wanted, security, bonds) {
        case .none: break
        case .fail:
            effects.events.append(.pairing(link.id, .securityRequested))
            link.send(.pairingFailed(.pairingNotSupported), into: &effects)
        case .encrypt(let key, let properties):
            link.security.encrypt(with: key, properties, at: now, into: &effects)
        case .pair(let options): pairAsRequested(link, options, at: now)
        }
    }

    mutating func pairAsRequested(_ link: Link, _ options: PairingOptions, at now: Instant) {
        switch beginPairing(link, options, needsConsent: options.asksConsent, at: now) {
        case nil: break
        case .repeatedAttempts?: link.send(.pairingFailed(.repeatedAttempts), into: &effects)
        case .some: link.send(.pairingFailed(.pairingNotSupported), into: &effects)
        }
    }

    // MARK: Under way

    /// Gives a pairing an input, and takes what it wants done.
    /// - Parameter number: of the machine that is meant; `nil` for any.
    mutating func continuePairing(
        of link: Link, number: UInt32? = nil, at now: Instant, _ input: (inout PairingMachine) -> Void
    ) {
        link.security.continuePairing(number: number, input)
        drainPairing(link, at: now)
    }

    private mutating func drainPairing(_ link: Link, at now: Instant) {
        while let action = link.security.nextPairingAction(&pairings, into: &effects) {
            switch action {
            case .send(let packet): link.send(packet, into: &effects)
            case .encrypt(let key, let properties):
                link.security.encrypt(with: LongTermKey(key: key), properties, at: now, into: &effects)
            case .finished(let outcome): pairingFinished(link, outcome, at: now)
            case .failed(let failure): pairingFailed(link, failure, at: now)
            // The room has done these itself.
            case .ask, .display, .question: break
            }
        }
    }

    /// The toolbox answered a pairing.
    mutating func pairingAnswered(_ result: ToolboxResult, on id: LinkID, machine: UInt32, at now: Instant) {
        guard let link = links[id] else { return }
        continuePairing(of: link, number: machine, at: now) { $0.toolboxAnswered(result, at: now) }
    }

    // MARK: Ends

    private mutating func pairingFinished(_ link: Link, _ outcome: PairingOutcome, at now: Instant) {
        guard let machine = link.security.machine else { return }
        if machine.model == .outOfBand { bonds.outOfBand.set(nil, for: link.security.identity) }
        guard outcome.isBonding, let new = newBond(link, outcome) else {
            return pairingEnded(link, outcome, isBonded: false, at: now)
        }
        if let failure = refusal(of: new, link) { return dropClaim(link, failure, at: now) }
        let isAllowed =
            link.security.isProven || machine.mayReplaceBond || machine.setup.options.replacesBond
        if let claimed = bonds.unprovenClaim(of: new, address: link.security.identity, isAllowed: isAllowed) {
            return link.security.askToReplace(claimed, outcome, &pairings, at: now, into: &effects)
        }
        guard keep(new, link, at: now) else { return dropClaim(link, .tooManyBonds, at: now) }
        pairingEnded(link, outcome, isBonded: true, at: now)
    }

    private mutating func newBond(_ link: Link, _ outcome: PairingOutcome) -> Bond? {
        bonds.bond(
            from: outcome, address: link.security.identity, clientRecord: gattServer.clientRecord(of: link.id))
    }

    private func refusal(of new: Bond, _ link: Link) -> SecurityFailure? {
        bonds.refusal(
            of: new, address: link.security.identity, own: session.information.identityAddress,
            isByWord: link.security.machine?.setup.options.replacesBond ?? false)
    }

    /// - Returns: `false` where there is no room.
    private mutating func keep(_ new: Bond, _ link: Link, at now: Instant) -> Bool {
        guard
            bonds.keep(
                new, inPlaceOf: link.security.identity,
                isAskedFor: link.role == .central || !link.security.pairOperations.isEmpty,
                connected: links.all.map { $0.security.identity }, into: &effects)
        else { return false }
        link.security.bondMade(new.identity)
        openGate(link, restoring: nil, at: now)
        link.security.isRecordDue = false
        return true
    }

    /// The user has said whether a bond may be replaced.
    private mutating func answerClaim(
        _ link: Link, _ outcome: PairingOutcome, _ answer: PairingAnswer, at now: Instant
    ) -> Bool {
        switch answer {
        case .passkey: return false
        case .confirm(false), .cancel: dropClaim(link, .wouldReplaceBond, at: now)
        case .confirm(true):
            if let new = newBond(link, outcome), refusal(of: new, link) == nil, keep(new, link, at: now) {
                pairingEnded(link, outcome, isBonded: true, at: now)
            } else {
                dropClaim(link, .tooManyBonds, at: now)
            }
        }
        return true
    }

    /// The peer is told that its keys are not kept.
    mutating func dropClaim(_ link: Link, _ failure: SecurityFailure, at now: Instant) {
        let reason: PairingFailedReason =
            switch failure {
            case .refusedByUs(let reason): reason
            case .wouldReplaceBond: .keyRejected
            case .refusedByPeer, .timedOut, .keyMissingAtPeer, .encryptionFailed, .keyTooWeak, .noKey, .notAvailable,
                .alreadyPairing, .repeatedAttempts, .passkeyLocked, .tooManyBonds, .linkLost, .cancelled:
                .unspecifiedReason
            }
        link.send(.pairingFailed(reason), into: &effects)
        // Whoever came so far did not guess.
        pairingFailed(link, failure, isTry: false, at: now)
    }

    private mutating func pairingEnded(_ link: Link, _ outcome: PairingOutcome, isBonded: Bool, at now: Instant) {
        let peer = link.peer
        link.security.pairingEnded(outcome, peer: peer, &pairings)
        let identity = link.security.identity
        if isBonded, outcome.identityResolvingKey != nil, peer.isResolvablePrivate {
            link.peer = identity.asIdentity
            identityFound(identity, behind: peer)
        }
        tellServerOfSecurity(link)
        let summary = PairingSummary(
            identity: identity, isSecureConnections: outcome.isSecureConnections,
            isAuthenticated: outcome.isAuthenticated, keySize: outcome.keySize, isBonded: isBonded)
        effects.events.append(.pairing(link.id, .paired(summary)))
        endPairOperations(link, .success(.paired(summary)))
        securityEnded(link, nil, at: now)
        // What waited for the peer's proof goes where the new key is its bond's.
        if !link.security.isChanging { releaseHeld(link, at: now) }
    }

    private mutating func pairingFailed(
        _ link: Link, _ failure: SecurityFailure, isTry: Bool = true, at now: Instant
    ) {
        link.security.pairingEnded(with: failure, isTry: isTry, &pairings, at: now, into: &effects)
        endPairOperations(link, .failure(.security(failure)))
        securityEnded(link, failure, at: now)
    }

    mutating func endPairOperations(_ link: Link, _ result: Result<HostResult, HostFailure>) {
        let waiting = link.security.pairOperations
        link.security.pairOperations = []
        for operation in waiting { effects.complete(operation, result) }
    }
}
