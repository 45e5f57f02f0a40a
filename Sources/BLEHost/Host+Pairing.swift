import BLEPackets

/// The Security Manager's channel of each link.
extension Host {
    /// Whether anybody does the cryptography that pairing needs.
    var isPairingAvailable: Bool { configuration.hasToolbox && configuration.ownership == .exclusive }

    // MARK: Commands

    mutating func pair(_ link: LinkID, _ options: PairingOptions?, operation: OperationID, at now: Instant) {
        guard let slot = links.slot(of: link), !links[slot].isClosing else {
            return complete(operation, .failure(.notConnected))
        }
        let options = options ?? security.pairing
        if !options.replacesBond, pairOverBond(slot, options, operation: operation, at: now) { return }
        if let failure = beginPairing(slot, options, needsConsent: false, isCommanded: true, at: now) {
            return complete(operation, .failure(.security(failure)))
        }
        // Pairing may have ended at once.
        guard links[slot].security.isBusy else {
            return complete(operation, .failure(.security(.refusedByUs(.unspecifiedReason))))
        }
        links[slot].security.pairOperations.append(operation)
    }

    /// Ends the pairing that an operation began.
    mutating func cancelPairing(_ operation: OperationID, slot: Int, at now: Instant) -> Bool {
        if let index = links[slot].security.encryptOperations.firstIndex(of: operation) {
            links[slot].security.encryptOperations.remove(at: index)
            complete(operation, .failure(.cancelled))
            return true
        }
        guard let index = links[slot].security.pairOperations.firstIndex(of: operation) else { return false }
        links[slot].security.pairOperations.remove(at: index)
        complete(operation, .failure(.cancelled))
        links[slot].security.requestDeadline = nil
        links[slot].security.heldPairing = nil
        if links[slot].security.unsettled != nil { dropClaim(slot, .cancelled, at: now) }
        links[slot].security.machine?.cancel()
        drainPairing(slot, at: now)
        // With nothing begun yet nobody else would tell those that wait for it.
        if !links[slot].security.isBusy { securityEnded(slot, .cancelled, at: now) }
        return true
    }

    /// - Returns: whether the question was still open and the answer is one to it.
    mutating func answerPairing(_ question: PairingQuestionID, _ answer: PairingAnswer, at now: Instant) -> Bool {
        for slot in links.slotRange where links.isOccupied(slot) && links[slot].security.question?.id == question {
            if links[slot].security.unsettled != nil { return answerClaim(slot, answer, at: now) }
            let isTaken = links[slot].security.machine?.userAnswered(answer, at: now) ?? false
            if isTaken { links[slot].security.question = nil }
            drainPairing(slot, at: now)
            return isTaken
        }
        return false
    }

    // MARK: Beginning

    /// Begins pairing as the initiator, or asks the central to do so.
    /// - Parameter isCommanded: whether the app asked for this pairing, and no device.
    /// - Returns: why it cannot begin.
    mutating func beginPairing(
        _ slot: Int, _ options: PairingOptions, needsConsent: Bool, isCommanded: Bool = false, at now: Instant
    ) -> SecurityFailure? {
        guard isPairingAvailable else { return .notAvailable }
        guard !links[slot].isClosing else { return .linkLost }
        guard !links[slot].security.isBlocked else { return .timedOut }
        guard !links[slot].security.isBusy else { return .alreadyPairing }
        if let wait = pairingGuard.wait(of: guarded(slot), at: now) { return .repeatedAttempts(retryAfter: wait) }
        guard !options.isBonding || hasRoomForBond(on: slot) else { return .tooManyBonds }
        if links[slot].role == .peripheral {
            requestSecurity(slot, options, at: now)
            return nil
        }
        makeMachine(.initiator, options, slot, needsConsent: needsConsent, isCommanded: isCommanded, at: now)
        links[slot].security.machine?.start(at: now)
        drainPairing(slot, at: now)
        return nil
    }

    mutating func requestSecurity(_ slot: Int, _ options: PairingOptions, at now: Instant) {
        links[slot].security.requestedOptions = options
        links[slot].security.requestDeadline = now.advanced(by: Self.securityRequestPatience)
        send(
            SMPPacket.securityRequest(options.authentication).encoded(), on: .securityManager, slot: slot, at: now)
    }

    private mutating func makeMachine(
        _ role: PairingMachine.Role, _ options: PairingOptions, _ slot: Int, needsConsent: Bool, isCommanded: Bool,
        mayBond: Bool = true, at now: Instant
    ) {
        var options = options
        // Where anybody may pair without it, a passkey that stays the same protects nothing, and is only given away.
        if !isCommanded, !options.requiresAuthentication { options.passkey = nil }
        let state = links[slot].security
        let peer = identity(of: slot)
        var identity: LocalIdentity?
        if let key = security.identityResolvingKey, let address = information.identityAddress {
            identity = LocalIdentity(address: address, resolvingKey: key)
        }
        let isUnproven = mayBond && options.isBonding && !options.replacesBond && !isProven(slot)
        lastMachine &+= 1
        links[slot].security.machineNumber = lastMachine
        links[slot].security.machine = PairingMachine(
            PairingMachine.Setup(
                role: role, options: options,
                initiatorAddress: role == .initiator ? state.localAddress : state.peerAddress,
                responderAddress: role == .initiator ? state.peerAddress : state.localAddress,
                localIdentity: identity, outOfBand: outOfBand.first { $0.peer == peer }?.data,
                // The operator's word holds for a weaker bond as well.
                bond: options.replacesBond ? nil : bond(of: slot), needsConsent: needsConsent,
                unprovenIdentity: isUnproven ? bond(of: slot)?.identity : nil,
                passkeyRefusal: passkeyRefusal(slot, options, isCommanded: isCommanded, at: now)))
        events.append(.pairing(links[slot].id, .started))
    }

    /// The peer of a link as failures count for it.
    private func guarded(_ slot: Int) -> PairingGuard.Peer {
        PairingGuard.Peer(address: identity(of: slot), isProven: isProven(slot))
    }

    /// Why passkey entry is out of the question for a pairing that begins now.
    private func passkeyRefusal(
        _ slot: Int, _ options: PairingOptions, isCommanded: Bool, at now: Instant
    ) -> SecurityFailure? {
        let role = links[slot].role
        // Neither what the operator of a central asked for nor a device that has proven an authenticated bond waits
        // because strangers failed.
        let isTrusted = isProven(slot) && links[slot].security.keyInUse?.isAuthenticated == true
        let others = links.slotRange.filter {
            $0 != slot && links.isOccupied($0) && links[$0].role == role
                && links[$0].security.machine?.mayEnterPasskey == true
        }
        return pairingGuard.refusal(
            of: PairingGuard.PasskeyEntry(
                role: role, fixed: options.passkey,
                waitsForOthers: !isTrusted && !(isCommanded && role == .central), underWay: others.count),
            at: now)
    }

    // MARK: PDUs

    mutating func receiveSecurityPDU(_ pdu: RawSpan, on slot: Int, at now: Instant) {
        guard !links[slot].security.isBlocked, !links[slot].isClosing else { return }
        guard let octet = pdu.byte(at: 0) else { return }
        let opcode = SMPOpcode(rawValue: octet)
        if links[slot].security.machine != nil {
            links[slot].security.machine?.receive(pdu, at: now)
            return drainPairing(slot, at: now)
        }
        switch opcode {
        case .pairingRequest: pairingRequested(pdu, slot, at: now)
        case .securityRequest: securityRequested(pdu, slot, at: now)
        case .pairingFailed:
            // The central's answer to our Security Request.
            guard links[slot].security.requestDeadline != nil, let reason = pdu.byte(at: 1) else { return }
            links[slot].security.requestDeadline = nil
            pairingFailed(slot, .refusedByPeer(PairingFailedReason(rawValue: reason)), at: now)
        // What is left of a pairing that has ended. An answer could meet a new one on its way.
        default: counters.strayPackets &+= 1
        }
    }

    mutating func refuse(_ slot: Int, _ reason: PairingFailedReason, at now: Instant) {
        send(SMPPacket.pairingFailed(reason).encoded(), on: .securityManager, slot: slot, at: now)
    }

    private mutating func pairingRequested(_ pdu: RawSpan, _ slot: Int, at now: Instant) {
        guard isPairingAvailable, security.acceptsPairing else { return refuse(slot, .pairingNotSupported, at: now) }
        guard links[slot].role == .peripheral else { return refuse(slot, .commandNotSupported, at: now) }
        guard pairingGuard.wait(of: guarded(slot), at: now) == nil else {
            return refuse(slot, .repeatedAttempts, at: now)
        }
        let isWanted = links[slot].security.requestDeadline != nil
        links[slot].security.requestDeadline = nil
        let options = (isWanted ? links[slot].security.requestedOptions : nil) ?? security.pairing
        // AuthReq (Core 5.4, Vol 3, Part H, 3.5.1).
        let wishes = AuthenticationRequirements(rawValue: pdu.byte(at: 3) ?? 0)
        guard !wishes.isBonding || !options.isBonding || hasRoomForBond(on: slot) else {
            refuse(slot, .pairingNotSupported, at: now)
            return pairingFailed(slot, .tooManyBonds, at: now)
        }
        makeMachine(
            .responder, options, slot, needsConsent: options.asksConsent && !isWanted,
            isCommanded: isWanted && !links[slot].security.pairOperations.isEmpty, mayBond: wishes.isBonding, at: now)
        links[slot].security.machine?.receive(pdu, at: now)
        drainPairing(slot, at: now)
    }

    /// The peripheral wants security (Core 5.4, Vol 3, Part H, 2.4.6).
    private mutating func securityRequested(_ pdu: RawSpan, _ slot: Int, at now: Instant) {
        guard configuration.hasToolbox else { return refuse(slot, .pairingNotSupported, at: now) }
        guard links[slot].role == .central else { return refuse(slot, .commandNotSupported, at: now) }
        guard case .securityRequest(let wanted)? = try? SMPPacket(pdu) else {
            return refuse(slot, .invalidParameters, at: now)
        }
        guard !links[slot].isClosing else { return }
        if links[slot].security.isBusy {
            if links[slot].security.machine == nil { holdRequest(wanted, slot) }
            links[slot].security.owesRequestAnswer = links[slot].security.isChanging
            return
        }
        if let key = links[slot].security.keyInUse, key.satisfies(wanted) { return }
        guard security.followsSecurityRequests, !links[slot].security.isBondRefused else {
            events.append(.pairing(links[slot].id, .securityRequested))
            return refuse(slot, .pairingNotSupported, at: now)
        }
        if let bond = bondToProve(slot) {
            guard let key = bond.peerKey else {
                events.append(.pairing(links[slot].id, .securityRequested))
                return refuse(slot, .pairingNotSupported, at: now)
            }
            holdRequest(wanted, slot)
            links[slot].security.owesRequestAnswer = true
            return encrypt(slot, with: key, bond.keyProperties, at: now)
        }
        pairAsRequested(slot, wanted, at: now)
    }

    private mutating func pairAsRequested(_ slot: Int, _ wanted: AuthenticationRequirements, at now: Instant) {
        var options = security.pairing
        if wanted.contains(.mitm), options.ioCapability != .noInputNoOutput { options.requiresAuthentication = true }
        switch beginPairing(slot, options, needsConsent: options.asksConsent, at: now) {
        case nil: break
        case .repeatedAttempts?: refuse(slot, .repeatedAttempts, at: now)
        default: refuse(slot, .pairingNotSupported, at: now)
        }
    }

    /// The bond whose key has to encrypt the link before pairing may begin by itself: until then a stranger may stand
    /// behind the peer's address, and would have its place (Core 5.4, Vol 3, Part H, 2.4.6).
    private func bondToProve(_ slot: Int) -> Bond? {
        isProven(slot) ? nil : bond(of: slot)
    }

    /// Keeps a peripheral's wish for more than its bond gives, where a new pairing could give it.
    private mutating func holdRequest(_ wanted: AuthenticationRequirements, _ slot: Int) {
        guard security.followsSecurityRequests, security.pairing.ioCapability != .noInputNoOutput,
            let bond = bond(of: slot), !bond.keyProperties.satisfies(wanted)
        else { return }
        links[slot].security.heldRequest = wanted
    }

    /// The bond's key has encrypted the link, or has not.
    mutating func followHeldRequest(_ slot: Int, at now: Instant) {
        guard let wanted = links[slot].security.heldRequest else { return }
        links[slot].security.heldRequest = nil
        guard links[slot].role == .central, !links[slot].security.isBusy, !links[slot].isClosing,
            bondToProve(slot) == nil
        else { return }
        pairAsRequested(slot, wanted, at: now)
    }

    // MARK: The machine

    /// Takes what a pairing wants done.
    mutating func drainPairing(_ slot: Int, at now: Instant) {
        let id = links[slot].id
        while let action = links[slot].security.machine?.nextAction() {
            switch action {
            case .send(let packet):
                send(packet.encoded(), on: .securityManager, slot: slot, at: now)
            case .ask(let request):
                desk.ask(request, for: .pairing(id, links[slot].security.machineNumber))
            case .display(let number): events.append(.pairing(id, .displayPasskey(number)))
            case .question(let kind): ask(kind, slot)
            case .encrypt(let key):
                guard let properties = links[slot].security.machine?.outcome.keyProperties else { continue }
                encrypt(slot, with: LongTermKey(key: key), properties, at: now)
            case .finished(let outcome): pairingFinished(slot, outcome, at: now)
            case .failed(let failure): pairingFailed(slot, failure, at: now)
            }
        }
    }

    mutating func ask(_ kind: PairingQuestion.Kind, _ slot: Int) {
        lastPairingQuestion &+= 1
        let question = PairingQuestion(id: PairingQuestionID(rawValue: lastPairingQuestion), kind: kind)
        links[slot].security.question = question
        events.append(.pairing(links[slot].id, .question(question)))
    }

    /// The toolbox answered a pairing.
    mutating func pairingAnswered(_ result: ToolboxResult, on id: LinkID, machine: UInt32, at now: Instant) {
        guard let slot = links.slot(of: id), links[slot].security.machineNumber == machine else { return }
        links[slot].security.machine?.toolboxAnswered(result, at: now)
        drainPairing(slot, at: now)
    }

    private mutating func pairingFinished(_ slot: Int, _ outcome: PairingOutcome, at now: Instant) {
        if links[slot].security.machine?.model == .outOfBand {
            let peer = identity(of: slot)
            outOfBand.removeAll { $0.peer == peer }
        }
        var isBonded = false
        if outcome.isBonding, let new = newBond(slot, outcome) {
            if let failure = refusal(of: new, slot) { return dropClaim(slot, failure, at: now) }
            if let claimed = unprovenClaim(of: new, slot) {
                return askToReplace(claimed, slot, outcome, at: now)
            }
            guard keep(new, slot, at: now) else { return dropClaim(slot, .tooManyBonds, at: now) }
            isBonded = true
        }
        pairingEnded(slot, outcome, isBonded: isBonded, at: now)
    }

    mutating func pairingEnded(_ slot: Int, _ outcome: PairingOutcome, isBonded: Bool, at now: Instant) {
        links[slot].security.machine = nil
        links[slot].security.question = nil
        links[slot].security.unsettled = nil
        links[slot].security.isBondRefused = false
        // Without a question anybody succeeds.
        if outcome.isAuthenticated {
            pairingGuard.succeeded(links[slot].peer.withoutIdentityMark)
            pairingGuard.succeeded(identity(of: slot))
        }
        let peer = links[slot].peer
        if isBonded, outcome.identityResolvingKey != nil, peer.isResolvablePrivate {
            links[slot].peer = identity(of: slot).asIdentity
            identityFound(identity(of: slot), behind: peer)
        }
        tellServerOfSecurity(slot)
        let summary = PairingSummary(
            identity: identity(of: slot), isSecureConnections: outcome.isSecureConnections,
            isAuthenticated: outcome.isAuthenticated, keySize: outcome.keySize, isBonded: isBonded)
        links[slot].security.hasGivenKeys = true
        events.append(.pairing(links[slot].id, .paired(summary)))
        endPairOperations(slot, .success(.paired(summary)))
        let link = links[slot].id
        securityEnded(slot, nil, at: now)
        // What waited for the peer's proof goes where the new key is its bond's.
        if links.slot(of: link) != nil, !links[slot].security.isChanging { releaseHeld(slot, at: now) }
    }

    mutating func pairingFailed(_ slot: Int, _ failure: SecurityFailure, at now: Instant) {
        if failure == .timedOut { links[slot].security.isBlocked = true }
        noteTry(slot, failure, at: now)
        links[slot].security.machine = nil
        links[slot].security.question = nil
        links[slot].security.unsettled = nil
        events.append(.pairing(links[slot].id, .failed(failure)))
        endPairOperations(slot, .failure(.security(failure)))
        securityEnded(slot, failure, at: now)
    }

    /// Pairing ends with its link, or with the wish to end that; what waits for it ends with the link.
    mutating func pairingLost(_ slot: Int, at now: Instant) {
        guard links[slot].security.machine != nil else { return }
        noteTry(slot, .linkLost, at: now)
        links[slot].security.machine = nil
        links[slot].security.question = nil
        links[slot].security.unsettled = nil
        events.append(.pairing(links[slot].id, .failed(.linkLost)))
    }

    /// Makes the peer wait where it may know more of the passkey than before. Who breaks off, goes away or says nothing
    /// after our value, which tells one bit of a passkey that stays the same, would have the rest of it in as many tries
    /// (Core 5.4, Vol 3, Part H, 2.3.6).
    private mutating func noteTry(_ slot: Int, _ failure: SecurityFailure, at now: Instant) {
        let machine = links[slot].security.machine
        guard failure.isSuspicious || machine?.hasShownValue ?? false else { return }
        var entry: PairingGuard.FailedEntry?
        if let machine, machine.model.isPasskey {
            entry = PairingGuard.FailedEntry(
                role: links[slot].role, fixed: machine.setup.options.passkey,
                isDisclosed: machine.hasDisclosedPasskey)
        }
        guard pairingGuard.failed(guarded(slot), entry, at: now) else { return }
        events.append(.pairing(links[slot].id, .passkeyLocked))
    }

    /// An operator says that pairing may go on.
    mutating func unlockPasskey() { pairingGuard.reset() }

    mutating func endPairOperations(_ slot: Int, _ result: Result<HostResult, HostFailure>) {
        let waiting = links[slot].security.pairOperations
        links[slot].security.pairOperations = []
        for operation in waiting { complete(operation, result) }
    }

    // MARK: On demand

    /// The peer refused an operation for want of security (SPEC 2.3 automatic pairing).
    mutating func secureOnDemand(_ slot: Int, _ error: ATTError, at now: Instant) {
        let state = links[slot].security
        // What is under way may be enough: the operation is tried again at its end.
        if state.isBusy { return }
        guard security.pairsOnDemand, !state.isBondRefused else {
            return securityEnded(slot, state.isBondRefused ? .keyMissingAtPeer : .noKey, at: now)
        }
        if links[slot].role == .central, let bond = bondToProve(slot) {
            guard let key = bond.peerKey else { return securityEnded(slot, .noKey, at: now) }
            return encrypt(slot, with: key, bond.keyProperties, at: now)
        }
        var options = security.pairing
        if let key = state.keyInUse {
            switch error {
            case .insufficientEncryptionKeySize where key.size < options.maximumKeySize: break
            case .insufficientAuthentication where !key.isAuthenticated && options.ioCapability != .noInputNoOutput:
                options.requiresAuthentication = true
            // What is wanted may be LE Secure Connections.
            case .insufficientAuthentication where !key.isSecureConnections && options.requiresSecureConnections: break
            // A new key would be no better than the one in use.
            default: return securityEnded(slot, .noKey, at: now)
            }
        }
        if let failure = beginPairing(slot, options, needsConsent: options.asksConsent, at: now) {
            securityEnded(slot, failure, at: now)
        }
    }
}

extension DeviceAddress {
    /// Whether it says nothing of who it is by itself.
    fileprivate var isPrivate: Bool { randomKind == .resolvablePrivate || randomKind == .nonResolvablePrivate }
}

extension LinkSecurityState.Key {
    /// Whether the key is what a peripheral asks for.
    func satisfies(_ wanted: AuthenticationRequirements) -> Bool {
        isAuthenticated || !wanted.contains(.mitm)
    }
}
