import BLEPackets

/// The Security Manager's channel of each link.
extension Host {
    /// Whether anybody does the cryptography that pairing needs.
    var isPairingAvailable: Bool { configuration.hasToolbox && configuration.ownership == .exclusive }

    // MARK: Commands

    mutating func pair(_ link: LinkID, _ options: PairingOptions?, operation: OperationID, at now: Instant) {
        guard let link = links[link], !link.isClosing else {
            return effects.complete(operation, .failure(.notConnected))
        }
        let options = options ?? security.pairing
        if !options.replacesBond, pairOverBond(link, options, operation: operation, at: now) { return }
        if let failure = beginPairing(link, options, needsConsent: false, isCommanded: true, at: now) {
            return effects.complete(operation, .failure(.security(failure)))
        }
        // Pairing may have ended at once.
        guard link.security.isBusy else {
            return effects.complete(operation, .failure(.security(.refusedByUs(.unspecifiedReason))))
        }
        link.security.pairOperations.append(operation)
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
        link.security.requestDeadline = nil
        link.security.heldPairing = nil
        if link.security.unsettled != nil { dropClaim(link, .cancelled, at: now) }
        link.security.machine?.cancel()
        drainPairing(link, at: now)
        // With nothing begun yet nobody else would tell those that wait for it.
        if !link.security.isBusy { securityEnded(link, .cancelled, at: now) }
        return true
    }

    /// - Returns: whether the question was still open and the answer is one to it.
    mutating func answerPairing(_ question: PairingQuestionID, _ answer: PairingAnswer, at now: Instant) -> Bool {
        for link in links.all where link.security.question?.id == question {
            if link.security.unsettled != nil { return answerClaim(link, answer, at: now) }
            let isTaken = link.security.machine?.userAnswered(answer, at: now) ?? false
            if isTaken { link.security.question = nil }
            drainPairing(link, at: now)
            return isTaken
        }
        return false
    }

    // MARK: Beginning

    /// Begins pairing as the initiator, or asks the central to do so.
    /// - Parameter isCommanded: whether the app asked for this pairing, and no device.
    /// - Returns: why it cannot begin.
    mutating func beginPairing(
        _ link: Link, _ options: PairingOptions, needsConsent: Bool, isCommanded: Bool = false, at now: Instant
    ) -> SecurityFailure? {
        guard isPairingAvailable else { return .notAvailable }
        guard !link.isClosing else { return .linkLost }
        guard !link.security.isBlocked else { return .timedOut }
        guard !link.security.isBusy else { return .alreadyPairing }
        if let wait = pairingGuard.wait(of: guarded(link), at: now) { return .repeatedAttempts(retryAfter: wait) }
        guard !options.isBonding || bonds.hasRoom(for: identity(of: link)) else { return .tooManyBonds }
        if link.role == .peripheral {
            requestSecurity(link, options, at: now)
            return nil
        }
        makeMachine(.initiator, options, link, needsConsent: needsConsent, isCommanded: isCommanded, at: now)
        link.security.machine?.start(at: now)
        drainPairing(link, at: now)
        return nil
    }

    mutating func requestSecurity(_ link: Link, _ options: PairingOptions, at now: Instant) {
        link.security.requestedOptions = options
        link.security.requestDeadline = now.advanced(by: Self.securityRequestPatience)
        send(
            SMPPacket.securityRequest(options.authentication).encoded(), on: .securityManager, link: link, at: now)
    }

    private mutating func makeMachine(
        _ role: PairingMachine.Role, _ options: PairingOptions, _ link: Link, needsConsent: Bool, isCommanded: Bool,
        mayBond: Bool = true, at now: Instant
    ) {
        var options = options
        // Where anybody may pair without it, a passkey that stays the same protects nothing, and is only given away.
        if !isCommanded, !options.requiresAuthentication { options.passkey = nil }
        let state = link.security
        let peer = identity(of: link)
        var identity: LocalIdentity?
        if let key = security.identityResolvingKey, let address = information.identityAddress {
            identity = LocalIdentity(address: address, resolvingKey: key)
        }
        let isUnproven = mayBond && options.isBonding && !options.replacesBond && !isProven(link)
        lastMachine &+= 1
        link.security.machineNumber = lastMachine
        link.security.machine = PairingMachine(
            PairingMachine.Setup(
                role: role, options: options,
                initiatorAddress: role == .initiator ? state.localAddress : state.peerAddress,
                responderAddress: role == .initiator ? state.peerAddress : state.localAddress,
                localIdentity: identity, outOfBand: bonds.outOfBand.data(for: peer),
                // The operator's word holds for a weaker bond as well.
                bond: options.replacesBond ? nil : bond(of: link), needsConsent: needsConsent,
                unprovenIdentity: isUnproven ? bond(of: link)?.identity : nil,
                passkeyRefusal: passkeyRefusal(link, options, isCommanded: isCommanded, at: now)))
        effects.events.append(.pairing(link.id, .started))
    }

    /// The peer of a link as failures count for it.
    private func guarded(_ link: Link) -> PairingGuard.Peer {
        PairingGuard.Peer(address: identity(of: link), isProven: isProven(link))
    }

    /// Why passkey entry is out of the question for a pairing that begins now.
    private func passkeyRefusal(
        _ link: Link, _ options: PairingOptions, isCommanded: Bool, at now: Instant
    ) -> SecurityFailure? {
        let role = link.role
        // Neither what the operator of a central asked for nor a device that has proven an authenticated bond waits
        // because strangers failed.
        let isTrusted = isProven(link) && link.security.keyInUse?.isAuthenticated == true
        let others = links.count {
            $0 !== link && $0.role == role && $0.security.machine?.mayEnterPasskey == true
        }
        return pairingGuard.refusal(
            of: PairingGuard.PasskeyEntry(
                role: role, fixed: options.passkey,
                waitsForOthers: !isTrusted && !(isCommanded && role == .central), underWay: others),
            at: now)
    }

    // MARK: PDUs

    mutating func receiveSecurityPDU(_ pdu: RawSpan, on link: Link, at now: Instant) {
        guard !link.security.isBlocked, !link.isClosing else { return }
        guard let octet = pdu.byte(at: 0) else { return }
        let opcode = SMPOpcode(rawValue: octet)
        if link.security.machine != nil {
            link.security.machine?.receive(pdu, at: now)
            return drainPairing(link, at: now)
        }
        switch opcode {
        case .pairingRequest: pairingRequested(pdu, link, at: now)
        case .securityRequest: securityRequested(pdu, link, at: now)
        case .pairingFailed:
            // The central's answer to our Security Request.
            guard link.security.requestDeadline != nil, let reason = pdu.byte(at: 1) else { return }
            link.security.requestDeadline = nil
            pairingFailed(link, .refusedByPeer(PairingFailedReason(rawValue: reason)), at: now)
        // What is left of a pairing that has ended. An answer could meet a new one on its way.
        default: effects.counters.strayPackets &+= 1
        }
    }

    mutating func refuse(_ link: Link, _ reason: PairingFailedReason, at now: Instant) {
        send(SMPPacket.pairingFailed(reason).encoded(), on: .securityManager, link: link, at: now)
    }

    private mutating func pairingRequested(_ pdu: RawSpan, _ link: Link, at now: Instant) {
        guard isPairingAvailable, security.acceptsPairing else { return refuse(link, .pairingNotSupported, at: now) }
        guard link.role == .peripheral else { return refuse(link, .commandNotSupported, at: now) }
        guard pairingGuard.wait(of: guarded(link), at: now) == nil else {
            return refuse(link, .repeatedAttempts, at: now)
        }
        let isWanted = link.security.requestDeadline != nil
        link.security.requestDeadline = nil
        let options = (isWanted ? link.security.requestedOptions : nil) ?? security.pairing
        // AuthReq (Core 5.4, Vol 3, Part H, 3.5.1).
        let wishes = AuthenticationRequirements(rawValue: pdu.byte(at: 3) ?? 0)
        guard !wishes.isBonding || !options.isBonding || bonds.hasRoom(for: identity(of: link)) else {
            refuse(link, .pairingNotSupported, at: now)
            return pairingFailed(link, .tooManyBonds, at: now)
        }
        makeMachine(
            .responder, options, link, needsConsent: options.asksConsent && !isWanted,
            isCommanded: isWanted && !link.security.pairOperations.isEmpty, mayBond: wishes.isBonding, at: now)
        link.security.machine?.receive(pdu, at: now)
        drainPairing(link, at: now)
    }

    /// The peripheral wants security (Core 5.4, Vol 3, Part H, 2.4.6).
    private mutating func securityRequested(_ pdu: RawSpan, _ link: Link, at now: Instant) {
        guard configuration.hasToolbox else { return refuse(link, .pairingNotSupported, at: now) }
        guard link.role == .central else { return refuse(link, .commandNotSupported, at: now) }
        guard case .securityRequest(let wanted)? = try? SMPPacket(pdu) else {
            return refuse(link, .invalidParameters, at: now)
        }
        guard !link.isClosing else { return }
        if link.security.isBusy {
            if link.security.machine == nil { holdRequest(wanted, link) }
            link.security.owesRequestAnswer = link.security.isChanging
            return
        }
        if let key = link.security.keyInUse, key.satisfies(wanted) { return }
        guard security.followsSecurityRequests, !link.security.isBondRefused else {
            effects.events.append(.pairing(link.id, .securityRequested))
            return refuse(link, .pairingNotSupported, at: now)
        }
        if let bond = bondToProve(link) {
            guard let key = bond.peerKey else {
                effects.events.append(.pairing(link.id, .securityRequested))
                return refuse(link, .pairingNotSupported, at: now)
            }
            holdRequest(wanted, link)
            link.security.owesRequestAnswer = true
            return encrypt(link, with: key, bond.keyProperties, at: now)
        }
        pairAsRequested(link, wanted, at: now)
    }

    private mutating func pairAsRequested(_ link: Link, _ wanted: AuthenticationRequirements, at now: Instant) {
        var options = security.pairing
        if wanted.contains(.mitm), options.ioCapability != .noInputNoOutput { options.requiresAuthentication = true }
        switch beginPairing(link, options, needsConsent: options.asksConsent, at: now) {
        case nil: break
        case .repeatedAttempts?: refuse(link, .repeatedAttempts, at: now)
        default: refuse(link, .pairingNotSupported, at: now)
        }
    }

    /// The bond whose key has to encrypt the link before pairing may begin by itself: until then a stranger may stand
    /// behind the peer's address, and would have its place (Core 5.4, Vol 3, Part H, 2.4.6).
    private func bondToProve(_ link: Link) -> Bond? {
        isProven(link) ? nil : bond(of: link)
    }

    /// Keeps a peripheral's wish for more than its bond gives, where a new pairing could give it.
    private mutating func holdRequest(_ wanted: AuthenticationRequirements, _ link: Link) {
        guard security.followsSecurityRequests, security.pairing.ioCapability != .noInputNoOutput,
            let bond = bond(of: link), !bond.keyProperties.satisfies(wanted)
        else { return }
        link.security.heldRequest = wanted
    }

    /// The bond's key has encrypted the link, or has not.
    mutating func followHeldRequest(_ link: Link, at now: Instant) {
        guard let wanted = link.security.heldRequest else { return }
        link.security.heldRequest = nil
        guard link.role == .central, !link.security.isBusy, !link.isClosing,
            bondToProve(link) == nil
        else { return }
        pairAsRequested(link, wanted, at: now)
    }

    // MARK: The machine

    /// Takes what a pairing wants done.
    mutating func drainPairing(_ link: Link, at now: Instant) {
        let id = link.id
        while let action = link.security.machine?.nextAction() {
            switch action {
            case .send(let packet):
                send(packet.encoded(), on: .securityManager, link: link, at: now)
            case .ask(let request):
                effects.desk.ask(request, for: .pairing(id, link.security.machineNumber))
            case .display(let number): effects.events.append(.pairing(id, .displayPasskey(number)))
            case .question(let kind): ask(kind, link)
            case .encrypt(let key, let properties):
                encrypt(link, with: LongTermKey(key: key), properties, at: now)
            case .finished(let outcome): pairingFinished(link, outcome, at: now)
            case .failed(let failure): pairingFailed(link, failure, at: now)
            }
        }
    }

    mutating func ask(_ kind: PairingQuestion.Kind, _ link: Link) {
        lastPairingQuestion &+= 1
        let question = PairingQuestion(id: PairingQuestionID(rawValue: lastPairingQuestion), kind: kind)
        link.security.question = question
        effects.events.append(.pairing(link.id, .question(question)))
    }

    /// The toolbox answered a pairing.
    mutating func pairingAnswered(_ result: ToolboxResult, on id: LinkID, machine: UInt32, at now: Instant) {
        guard let link = links[id], link.security.machineNumber == machine else { return }
        link.security.machine?.toolboxAnswered(result, at: now)
        drainPairing(link, at: now)
    }

    private mutating func pairingFinished(_ link: Link, _ outcome: PairingOutcome, at now: Instant) {
        if link.security.machine?.model == .outOfBand {
            bonds.outOfBand.set(nil, for: identity(of: link))
        }
        var isBonded = false
        if outcome.isBonding, let new = newBond(link, outcome) {
            if let failure = refusal(of: new, link) { return dropClaim(link, failure, at: now) }
            if let claimed = unprovenClaim(of: new, link) {
                return askToReplace(claimed, link, outcome, at: now)
            }
            guard keep(new, link, at: now) else { return dropClaim(link, .tooManyBonds, at: now) }
            isBonded = true
        }
        pairingEnded(link, outcome, isBonded: isBonded, at: now)
    }

    mutating func pairingEnded(_ link: Link, _ outcome: PairingOutcome, isBonded: Bool, at now: Instant) {
        link.security.machine = nil
        link.security.question = nil
        link.security.unsettled = nil
        link.security.isBondRefused = false
        // Without a question anybody succeeds.
        if outcome.isAuthenticated {
            pairingGuard.succeeded(link.peer.withoutIdentityMark)
            pairingGuard.succeeded(identity(of: link))
        }
        let peer = link.peer
        if isBonded, outcome.identityResolvingKey != nil, peer.isResolvablePrivate {
            link.peer = identity(of: link).asIdentity
            identityFound(identity(of: link), behind: peer)
        }
        tellServerOfSecurity(link)
        let summary = PairingSummary(
            identity: identity(of: link), isSecureConnections: outcome.isSecureConnections,
            isAuthenticated: outcome.isAuthenticated, keySize: outcome.keySize, isBonded: isBonded)
        link.security.hasGivenKeys = true
        effects.events.append(.pairing(link.id, .paired(summary)))
        endPairOperations(link, .success(.paired(summary)))
        securityEnded(link, nil, at: now)
        // What waited for the peer's proof goes where the new key is its bond's.
        if !link.security.isChanging { releaseHeld(link, at: now) }
    }

    mutating func pairingFailed(_ link: Link, _ failure: SecurityFailure, at now: Instant) {
        if failure == .timedOut { link.security.isBlocked = true }
        noteTry(link, failure, at: now)
        link.security.machine = nil
        link.security.question = nil
        link.security.unsettled = nil
        effects.events.append(.pairing(link.id, .failed(failure)))
        endPairOperations(link, .failure(.security(failure)))
        securityEnded(link, failure, at: now)
    }

    /// Pairing ends with its link, or with the wish to end that; what waits for it ends with the link.
    mutating func pairingLost(_ link: Link, at now: Instant) {
        guard link.security.machine != nil else { return }
        noteTry(link, .linkLost, at: now)
        link.security.machine = nil
        link.security.question = nil
        link.security.unsettled = nil
        effects.events.append(.pairing(link.id, .failed(.linkLost)))
    }

    /// Makes the peer wait where it may know more of the passkey than before. Who breaks off, goes away or says nothing
    /// after our value, which tells one bit of a passkey that stays the same, would have the rest of it in as many tries
    /// (Core 5.4, Vol 3, Part H, 2.3.6).
    private mutating func noteTry(_ link: Link, _ failure: SecurityFailure, at now: Instant) {
        let machine = link.security.machine
        guard failure.isSuspicious || machine?.hasShownValue ?? false else { return }
        var entry: PairingGuard.FailedEntry?
        if let machine, machine.model?.isPasskey == true {
            entry = PairingGuard.FailedEntry(
                role: link.role, fixed: machine.setup.options.passkey,
                isDisclosed: machine.hasDisclosedPasskey)
        }
        guard pairingGuard.failed(guarded(link), entry, at: now) else { return }
        effects.events.append(.pairing(link.id, .passkeyLocked))
    }

    mutating func endPairOperations(_ link: Link, _ result: Result<HostResult, HostFailure>) {
        let waiting = link.security.pairOperations
        link.security.pairOperations = []
        for operation in waiting { effects.complete(operation, result) }
    }

    // MARK: On demand

    /// The peer refused an operation for want of security (SPEC 2.3 automatic pairing).
    mutating func secureOnDemand(_ link: Link, _ error: ATTError, at now: Instant) {
        let state = link.security
        // What is under way may be enough: the operation is tried again at its end.
        if state.isBusy { return }
        guard security.pairsOnDemand, !state.isBondRefused else {
            return securityEnded(link, state.isBondRefused ? .keyMissingAtPeer : .noKey, at: now)
        }
        if link.role == .central, let bond = bondToProve(link) {
            guard let key = bond.peerKey else { return securityEnded(link, .noKey, at: now) }
            return encrypt(link, with: key, bond.keyProperties, at: now)
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
            default: return securityEnded(link, .noKey, at: now)
            }
        }
        if let failure = beginPairing(link, options, needsConsent: options.asksConsent, at: now) {
            securityEnded(link, failure, at: now)
        }
    }
}
