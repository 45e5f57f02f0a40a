import BLEPackets

/// The Security Manager's channel: connects `LinkSecurityMachine`, the bonds and the operations.
extension Link {
    // MARK: Commands

    func pair(
        _ options: PairingOptions?, operation: OperationID, client: ClientID, _ rooms: inout Rooms,
        into effects: inout Effects
    ) {
        guard Features.pairing else { return effects.complete(operation, .failure(.security(.notAvailable))) }
        var claim = PairingClaim(owner: client, stated: options, isCommanded: true)
        let options = terms(for: claim, &rooms.pairings).options
        claim.stated = options
        if !security.isBusy { security.turn = client }
        switch security.step(toPairWith: options, rooms.pairings.bonds, rooms.pairings.attempts) {
        case .none:
            let summary = PairingSummary(security.summary(rooms.pairings.bonds))
            effects.complete(operation, .success(.paired(summary)))
        case .fail(let failure): effects.complete(operation, .failure(.security(failure)))
        // The options of one client are not for another to change.
        case .encrypt where security.postponedPairing != nil && security.postponedClaim.owner != client:
            effects.complete(operation, .failure(.security(.alreadyPairing)))
        case .encrypt(let key, let properties):
            security.postponedPairing = options
            security.postponedClaim = claim
            security.pairOperations.append(operation)
            if !security.isChanging {
                security.encrypt(with: key, properties, into: &effects)
            }
        case .pair:
            if let failure = beginPairing(options, claim, &rooms, into: &effects) {
                return effects.complete(operation, .failure(.security(failure)))
            }
            security.pairOperations.append(operation)
        }
    }

    /// Cancels the pairing that an operation began.
    func cancelPairing(_ operation: OperationID, _ pairings: inout Pairings, into effects: inout Effects) -> Bool {
        guard Features.pairing else { return false }
        if let index = security.encryptOperations.firstIndex(of: operation) {
            security.encryptOperations.remove(at: index)
            effects.complete(operation, .failure(.cancelled))
            return true
        }
        guard let index = security.pairOperations.firstIndex(of: operation) else { return false }
        security.pairOperations.remove(at: index)
        effects.complete(operation, .failure(.cancelled))
        security.request = nil
        security.postponedPairing = nil
        breakOffPairing(&pairings, into: &effects)
        // If nothing has begun yet, the waiting operations must end here.
        if !security.isBusy { securityEnded(.cancelled, &pairings, into: &effects) }
        return true
    }

    /// This side ends the pairing in progress.
    func breakOffPairing(_ pairings: inout Pairings, into effects: inout Effects) {
        if security.isUnsettled { dropClaim(.cancelled, &pairings, into: &effects) }
        continuePairing(into: &effects) { $0.cancel() }
    }

    /// Passes on the user's answer to the question that is open on this link.
    /// - Returns: whether it answers that question.
    func answerPairing(_ answer: PairingAnswer, _ rooms: inout Rooms, into effects: inout Effects) -> Bool {
        guard Features.pairing else { return false }
        if case .unsettled(_, let outcome, _, _) = security.pairing {
            return answerClaim(outcome, answer, &rooms, into: &effects)
        }
        let isTaken = security.userAnswered(answer, at: effects.now)
        wantsPairingContinued(into: &effects)
        return isTaken
    }

    // MARK: Whose bond it becomes

    /// The client that makes the next pairing necessary; `nil`: none does.
    private func recordOwner(_ client: ClientID?, _ pairings: borrowing Pairings) {
        guard Features.users, !security.isBusy else { return }
        if let client { security.causingUser = pairings.users[client] } else { security.causingUser = nil }
    }

    /// The number of the user for whom a failure of the next pairing counts: of the one who causes it. A central
    /// chooses its peers, but any stranger may pair with a peripheral.
    private func countedUser(isCommanded: Bool) -> UInt32? {
        guard Features.users, role == .central || isCommanded else { return nil }
        return security.causingUser?.number
    }

    /// Whose bond the pairing makes: of the user whose operation caused it; if the peer began, of the one who serves
    /// it, or who has connected to it.
    private func bondUser(_ pairings: borrowing Pairings, _ server: borrowing GATTServer) -> ClientUser? {
        guard Features.users else { return nil }
        if let user = security.causingUser { return user }
        if role == .peripheral, Features.server {
            for service in server.database.services.reversed() {
                if let user = pairings.users[service.owner] { return user }
            }
        }
        for client in holders {
            if let user = pairings.users[client] { return user }
        }
        return nil
    }

    // MARK: Beginning

    /// Begins pairing as the initiator, or asks the central to begin.
    /// - Parameter claim: whose pairing it is.
    /// - Returns: why pairing cannot begin.
    private func beginPairing(
        _ options: PairingOptions, _ claim: PairingClaim, _ rooms: inout Rooms, into effects: inout Effects
    ) -> SecurityFailure? {
        recordOwner(claim.owner, rooms.pairings)
        let refusal = security.refusal(
            toBegin: options, isClosing: isClosing, rooms.pairings.bonds, rooms.pairings.attempts,
            of: security.causingUser,
            isOfPeer: claim.isOfPeer, countedUser: countedUser(isCommanded: claim.isCommanded), at: effects.now)
        if let refusal { return refusal }
        if let wait = pause(of: claim.owner, &rooms.pairings, at: effects.now) {
            return .repeatedAttempts(retryAfter: wait)
        }
        guard role == .central else {
            requestSecurity(options, claim, into: &effects)
            return nil
        }
        let terms = terms(for: claim, &rooms.pairings)
        begin(.initiator, &rooms, into: &effects) {
            $0.options = options
            $0.needsConsent = terms.needsConsent
            $0.isCommanded = claim.isCommanded
            $0.isOfPeer = claim.isOfPeer
            $0.parties = terms.parties
        }
        let now = effects.now
        continuePairing(into: &effects) { $0.start(at: now) }
        return nil
    }

    /// Apart from its callers, whose frames stay small.
    @inline(never)
    private func begin(
        _ side: PairingMachine.Role, _ rooms: inout Rooms, into effects: inout Effects,
        _ change: (inout LinkSecurityMachine.Beginning) -> Void
    ) {
        var beginning = LinkSecurityMachine.Beginning(
            options: rooms.pairings.settings.pairing, passkeyEntriesUnderWay: 0)
        beginning.localIdentity = rooms.pairings.localIdentity
        change(&beginning)
        let user = countedUser(isCommanded: beginning.isCommanded)
        beginning.countedUser = user
        beginning.passkeyEntriesUnderWay = rooms.links.count {
            $0 !== self && $0.role == role && $0.security.mayEnterPasskey
                && ($0.security.countedUser == nil || $0.security.countedUser == user)
        }
        security.turn = beginning.parties?.owner
        security.begin(side, beginning, rooms.pairings.bonds, &rooms.pairings.attempts, into: &effects)
    }

    func requestSecurity(
        _ options: PairingOptions, _ claim: PairingClaim = PairingClaim(), into effects: inout Effects
    ) {
        guard Features.pairing else { return }
        send(security.ask(for: options, claim, at: effects.now), into: &effects)
    }

    /// The bond's key has encrypted the link: pairs now for what was requested beyond it.
    /// - Returns: whether operations wait for a pairing.
    func followPostponedPairing(_ rooms: inout Rooms, into effects: inout Effects) -> Bool {
        guard Features.pairing, let options = security.removePostponedPairing(), !isClosing else { return false }
        let claim = security.postponedClaim
        guard let failure = beginPairing(options, claim, &rooms, into: &effects) else {
            return true
        }
        endPairOperations(.failure(.security(failure)), into: &effects)
        return false
    }

    /// The peer refused an operation because the link is not secure enough (SPEC 2.3 automatic pairing).
    func secureOnDemand(_ error: ATTError, for client: ClientID, _ rooms: inout Rooms, into effects: inout Effects) {
        guard Features.pairing else { return }
        if !security.isBusy { security.turn = client }
        let claim = PairingClaim(owner: client)
        let settings = settings(for: claim, &rooms.pairings)
        switch security.step(onDemandOf: error, for: client, settings, rooms.pairings.bonds) {
        // The procedure in progress may be enough: the operation is repeated when it ends.
        case .none: break
        case .fail(let failure): securityEnded(failure, &rooms.pairings, into: &effects)
        case .encrypt(let key, let properties):
            security.encrypt(with: key, properties, into: &effects)
        case .pair(let options):
            let failure = beginPairing(options, claim, &rooms, into: &effects)
            if let failure {
                securityEnded(failure, &rooms.pairings, into: &effects)
            }
        }
    }

    // MARK: PDUs

    func receiveSecurityPDU(_ pdu: RawSpan, _ rooms: inout Rooms, into effects: inout Effects) {
        guard !security.isBlocked, !isClosing else { return }
        guard let octet = pdu.byte(at: 0) else { return }
        guard Features.pairing else {
            let code = SMPOpcode(rawValue: octet)
            guard code == .pairingRequest || code == .securityRequest else { return }
            return send(.pairingFailed(.pairingNotSupported), into: &effects)
        }
        if security.isPairing { return pairingReceived(pdu, into: &effects) }
        switch SMPOpcode(rawValue: octet) {
        case .pairingRequest: pairingRequested(pdu, &rooms, into: &effects)
        case .securityRequest: securityRequested(pdu, &rooms, into: &effects)
        case .pairingFailed:
            // The central's answer to our Security Request.
            guard security.request != nil, let reason = pdu.byte(at: 1) else { return }
            security.request = nil
            pairingFailed(.refusedByPeer(PairingFailedReason(rawValue: reason)), &rooms.pairings, into: &effects)
        // A remnant of a pairing that has ended. A reply could reach a new pairing.
        default: effects.counters.strayPackets &+= 1
        }
    }

    private func pairingRequested(_ pdu: RawSpan, _ rooms: inout Rooms, into effects: inout Effects) {
        guard rooms.pairings.attempts.areAvailable, rooms.pairings.settings.acceptsPairing else {
            return send(.pairingFailed(.pairingNotSupported), into: &effects)
        }
        guard role == .peripheral else { return send(.pairingFailed(.commandNotSupported), into: &effects) }
        let request = security.request
        let isCommanded = request != nil && !security.pairOperations.isEmpty
        let user = isCommanded ? request?.claim.owner.flatMap { rooms.pairings.users[$0]?.number } : nil
        guard security.wait(of: user, isOfPeer: !isCommanded, rooms.pairings.attempts, at: effects.now) == nil else {
            return send(.pairingFailed(.repeatedAttempts), into: &effects)
        }
        security.request = nil
        var terms = PairingTerms(
            options: request?.options ?? rooms.pairings.settings.pairing,
            needsConsent: request == nil && rooms.pairings.settings.pairing.asksConsent)
        if rooms.pairings.clients != nil { terms = self.terms(requested: request, &rooms.pairings) }
        recordOwner(terms.parties?.owner ?? request?.claim.owner, rooms.pairings)
        let options = terms.options
        // AuthReq (Core 5.4, Vol 3, Part H, 3.5.1).
        let wishes = AuthenticationRequirements(rawValue: pdu.byte(at: 3) ?? 0)
        guard
            !wishes.isBonding || !options.isBonding
                || rooms.pairings.bonds.hasRoom(for: security.identity, of: security.causingUser)
        else {
            send(.pairingFailed(.pairingNotSupported), into: &effects)
            return pairingFailed(.tooManyBonds, &rooms.pairings, into: &effects)
        }
        begin(.responder, &rooms, into: &effects) {
            $0.options = options
            $0.needsConsent = terms.needsConsent
            $0.isCommanded = isCommanded
            $0.isOfPeer = !isCommanded
            $0.parties = terms.parties
            $0.mayBond = wishes.isBonding
        }
        pairingReceived(pdu, into: &effects)
    }

    private func pairingReceived(_ pdu: RawSpan, into effects: inout Effects) {
        security.received(pdu, interval: Microseconds(parameters.interval), at: effects.now)
        wantsPairingContinued(into: &effects)
    }

    /// The peripheral wants security (Core 5.4, Vol 3, Part H, 2.4.6).
    private func securityRequested(_ pdu: RawSpan, _ rooms: inout Rooms, into effects: inout Effects) {
        guard rooms.pairings.bonds.hasCryptoProvider else {
            return send(.pairingFailed(.pairingNotSupported), into: &effects)
        }
        guard role == .central else { return send(.pairingFailed(.commandNotSupported), into: &effects) }
        guard case .securityRequest(let wanted)? = try? SMPPacket(pdu) else {
            return send(.pairingFailed(.invalidParameters), into: &effects)
        }
        let settings = settings(for: claimOfRequest, &rooms.pairings)
        switch security.step(requestedBy: wanted, settings, rooms.pairings.bonds) {
        case .none: break
        case .fail:
            effects.events.append(.pairing(id, .securityRequested))
            send(.pairingFailed(.pairingNotSupported), into: &effects)
        case .encrypt(let key, let properties):
            security.encrypt(with: key, properties, into: &effects)
        case .pair(let options): pairAsRequested(options, &rooms, into: &effects)
        }
    }

    func pairAsRequested(_ options: PairingOptions, _ rooms: inout Rooms, into effects: inout Effects) {
        guard Features.pairing else { return }
        var claim = claimOfRequest
        claim.isOfPeer = true
        switch beginPairing(options, claim, &rooms, into: &effects) {
        case nil: break
        case .repeatedAttempts?: send(.pairingFailed(.repeatedAttempts), into: &effects)
        case .some: send(.pairingFailed(.pairingNotSupported), into: &effects)
        }
    }

    // MARK: In progress

    /// Gives an input to a pairing; its actions are carried out at the end of the engine's input.
    /// - Parameter number: of the pairing machine that is meant; `nil` for any.
    func continuePairing(number: UInt32? = nil, into effects: inout Effects, _ input: (inout PairingMachine) -> Void) {
        security.continuePairing(number: number, input)
        wantsPairingContinued(into: &effects)
    }

    private func wantsPairingContinued(into effects: inout Effects) {
        effects.deferred.append((self, .continuePairing))
    }

    /// Carries out the actions of the pairing.
    func carryOutPairing(_ rooms: inout Rooms, into effects: inout Effects) {
        guard Features.pairing else { return }
        while let task = security.nextPairingTask(&rooms.pairings.attempts, into: &effects) {
            switch task {
            case .send(let packet): send(packet, into: &effects)
            case .encrypt(let key, let properties):
                security.encrypt(with: LongTermKey(key: key), properties, into: &effects)
            case .finish(let outcome):
                pairingFinished(outcome, &rooms, into: &effects)
            case .fail(let failure): pairingFailed(failure, &rooms.pairings, into: &effects)
            }
        }
    }

    // MARK: Ends

    private func pairingFinished(_ outcome: PairingOutcome, _ rooms: inout Rooms, into effects: inout Effects) {
        guard security.isPairing else { return }
        if security.machine?.model == .outOfBand { rooms.pairings.attempts.outOfBand.set(nil, for: security.identity) }
        guard outcome.isBonding, let new = newBond(outcome, &rooms) else {
            return pairingEnded(outcome, isBonded: false, &rooms, into: &effects)
        }
        if let failure = refusal(of: new, &rooms.pairings) {
            return dropClaim(failure, &rooms.pairings, into: &effects)
        }
        let isAllowed = mayReplaceBond(&rooms.pairings)
        if let claimed = rooms.pairings.bonds.unprovenClaim(of: new, address: security.identity, isAllowed: isAllowed) {
            return security.askToReplace(claimed, outcome, &rooms.pairings.attempts, into: &effects)
        }
        guard store(new, &rooms, into: &effects) else {
            return dropClaim(.tooManyBonds, &rooms.pairings, into: &effects)
        }
        pairingEnded(outcome, isBonded: true, &rooms, into: &effects)
    }

    /// Whether the new bond may take the place of an earlier one without a question. Apart from its caller, whose frame
    /// stays small.
    @inline(never)
    private func mayReplaceBond(_ pairings: inout Pairings) -> Bool {
        security.isProven || security.machine?.mayReplaceBond ?? false
            || security.machine?.setup.options.replacesBond ?? false || security.hasIdleBond(pairings.bonds)
    }

    private func newBond(_ outcome: PairingOutcome, _ rooms: inout Rooms) -> Bond? {
        rooms.pairings.bonds.bond(
            from: outcome, address: security.identity, clientRecord: rooms.server.clientRecord(of: id))
    }

    private func refusal(of new: Bond, _ pairings: inout Pairings) -> SecurityFailure? {
        pairings.bonds.refusal(
            of: new, address: security.identity, own: pairings.ownIdentity,
            isByWord: security.machine?.setup.options.replacesBond ?? false)
    }

    /// - Returns: `false` if there is no room.
    private func store(_ new: Bond, _ rooms: inout Rooms, into effects: inout Effects) -> Bool {
        guard
            rooms.pairings.bonds.store(
                new, inPlaceOf: security.identity,
                isAskedFor: role == .central || !security.pairOperations.isEmpty,
                of: bondUser(rooms.pairings, rooms.server), connected: rooms.links.identities, into: &effects)
        else { return false }
        security.bondMade(new.identity)
        openGate(restoring: nil, &rooms.server, into: &effects)
        security.isRecordDue = false
        return true
    }

    /// The user has decided whether a bond may be replaced.
    private func answerClaim(
        _ outcome: PairingOutcome, _ answer: PairingAnswer, _ rooms: inout Rooms, into effects: inout Effects
    ) -> Bool {
        switch answer {
        case .passkey: return false
        case .confirm(false), .cancel: dropClaim(.wouldReplaceBond, &rooms.pairings, into: &effects)
        case .confirm(true):
            if let new = newBond(outcome, &rooms), refusal(of: new, &rooms.pairings) == nil,
                store(new, &rooms, into: &effects)
            {
                pairingEnded(outcome, isBonded: true, &rooms, into: &effects)
            } else {
                dropClaim(.tooManyBonds, &rooms.pairings, into: &effects)
            }
        }
        return true
    }

    /// Reports to the peer that its keys are not stored.
    func dropClaim(_ failure: SecurityFailure, _ pairings: inout Pairings, into effects: inout Effects) {
        guard Features.pairing else { return }
        let reason: PairingFailedReason =
            switch failure {
            case .refusedByUs(let reason): reason
            case .wouldReplaceBond: .keyRejected
            case .refusedByPeer, .timedOut, .keyMissingAtPeer, .encryptionFailed, .keyTooWeak, .noKey, .notAvailable,
                .alreadyPairing, .repeatedAttempts, .passkeyLocked, .tooManyBonds, .linkLost, .cancelled:
                .unspecifiedReason
            }
        send(.pairingFailed(reason), into: &effects)
        // A peer that got this far did not guess.
        pairingFailed(failure, isTry: false, &pairings, into: &effects)
    }

    @inline(never)
    private func pairingEnded(
        _ outcome: PairingOutcome, isBonded: Bool, _ rooms: inout Rooms, into effects: inout Effects
    ) {
        let address = peer
        security.pairingEnded(outcome, peer: address, &rooms.pairings.attempts)
        let identity = security.identity
        if isBonded, outcome.identityResolvingKey != nil, address.isResolvablePrivate {
            peer = identity.asIdentity
            effects.events.append(.identityFound(identity, behind: address.withoutIdentityMark))
            effects.deferred.append((self, .adoptWaiting(for: address.withoutIdentityMark)))
        }
        reportSecurityToServer(&rooms)
        let summary = PairingSummary(
            identity: identity, isSecureConnections: outcome.isSecureConnections,
            isAuthenticated: outcome.isAuthenticated, keySize: outcome.keySize, isBonded: isBonded)
        effects.events.append(.pairing(id, .paired(summary)))
        endPairOperations(.success(.paired(summary)), into: &effects)
        securityEnded(nil, &rooms.pairings, into: &effects)
        // If the new key belongs to the bond, what waited for the peer's proof is sent now.
        if !security.isChanging { releasePostponed(into: &effects) }
    }

    private func pairingFailed(
        _ failure: SecurityFailure, isTry: Bool = true, _ pairings: inout Pairings, into effects: inout Effects
    ) {
        // These functions are never inlined, so that their temporaries do not share one stack frame.
        pauseOwner(&pairings, at: effects.now)
        let isTry = isTry && security.machine?.wasGivenUp != true
        security.pairingEnded(with: failure, isTry: isTry, &pairings.attempts, into: &effects)
        endPairOperations(.failure(.security(failure)), into: &effects)
        securityEnded(failure, &pairings, into: &effects)
    }

    // Not inlined: its results would be on the stack together with what ends the pairing.
    @inline(never)
    func endPairOperations(_ result: Result<HostResult, HostFailure>, into effects: inout Effects) {
        let waiting = security.pairOperations
        security.pairOperations = []
        for operation in waiting { effects.complete(operation, result) }
    }
}
