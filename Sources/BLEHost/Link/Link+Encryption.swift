import BLEPackets

/// Encryption: connects the controller, `LinkSecurityMachine`, the bonds and the traffic of the link.
extension Link {
    // MARK: Commands

    /// Encrypts the link with the bond's key.
    func encrypt(operation: OperationID, _ pairings: inout Pairings, into effects: inout Effects) {
        if let key = security.keyInUse {
            let isEnough = key.satisfies(pairings.settings.pairing)
            return effects.complete(operation, isEnough ? .success(.done) : .failure(.security(.keyTooWeak)))
        }
        security.encryptOperations.append(operation)
        if security.isBusy { return }
        if role == .peripheral { return requestSecurity(pairings.settings.pairing, into: &effects) }
        guard let bond = bond(&pairings), let key = bond.peerKey else {
            return securityEnded(.noKey, &pairings, into: &effects)
        }
        security.encrypt(with: key, bond.keyProperties, into: &effects)
    }

    /// A link is up: if its bond calls for encryption, that begins before anything else is sent.
    func secureAtConnection(_ pairings: inout Pairings, into effects: inout Effects) {
        guard Features.pairing else { return }
        guard !security.isBusy, security.keyInUse == nil else { return }
        if role == .central {
            if pairings.settings.encryptsAtConnection { proveBond(&pairings, into: &effects) }
        } else if pairings.settings.requestsSecurity, pairings.attempts.areAvailable {
            requestSecurity(pairings.settings.pairing, into: &effects)
        }
    }

    // MARK: The controller

    /// The central encrypts the link, and the controller asks for the peripheral's key (Core 5.4, Vol 4, Part E,
    /// 7.7.65.5).
    func receive(_ event: LELongTermKeyRequest, _ rooms: inout Rooms, into effects: inout Effects) {
        if let identity = security.adoptIdentity(namedBy: event, rooms.pairings.bonds) {
            peer = identity.asIdentity
            reportSecurityToServer(&rooms)
        }
        if security.answer(event, rooms.pairings.bonds, into: &effects) { return }
        effects.commands.append(
            LELongTermKeyRequestNegativeReply(connectionHandle: id.handle), purpose: .unattendedOnLink(id.handle))
        if !security.isPairing, !isClosing { effects.events.append(.pairing(id, .failed(.noKey))) }
    }

    /// - Parameters:
    ///   - isRefresh: whether the controller reports a new key on a link that was already encrypted.
    ///   - hasBegun: whether the controllers had started at all: after a refused command the old key remains in use.
    func encryptionEnded(
        isOn: Bool, status: HCIStatus, isRefresh: Bool = false, hasBegun: Bool = true, _ rooms: inout Rooms,
        into effects: inout Effects
    ) {
        guard Features.pairing else { return }
        if isRefresh, status.isSuccess, security.lastKey == nil {
            // There was no key to refresh: this says nothing about the key that is being tried.
            effects.counters.unexpectedEvents &+= 1
            return
        }
        let wasPlain = security.lastKey == nil
        guard
            let end = security.encryptionEnded(isOn: isOn, status: status, hasBegun: hasBegun, into: &effects)
        else { return }
        if end.isGood {
            security.judgePostponed(interval: Microseconds(parameters.interval), at: effects.now)
        } else {
            for pdu in security.removeDoubtful() { refuseCleartext(pdu.octets.span.bytes, into: &effects) }
        }
        if end.isInDoubt { forfeit(&rooms, into: &effects) }
        reportSecurityToServer(&rooms)
        effects.events.append(.encryptionChanged(id, security.summary(rooms.pairings.bonds)))
        if end.isGood, !security.awaitsEncryption {
            if role == .central, security.isTooWeak(for: rooms.pairings.settings.pairing) {
                security.proveWeakly()
                refuseGate(.keyTooWeak, into: &effects)
            } else {
                openGate(restoring: clientRecord(&rooms.pairings), &rooms.server, into: &effects)
            }
            recordUseOfBond(&rooms, into: &effects)
        }
        if security.isPairing {
            continuePairing(after: end, wasPlain: wasPlain, into: &effects)
        } else if end.isGood || !hasBegun && security.keyInUse != nil {
            // A controller that refused to refresh the key has said nothing against the one in use.
            if followPostponedPairing(&rooms, into: &effects) {
                return effects.deferred.append((self, .releasePostponed))
            }
            securityEnded(nil, &rooms.pairings, into: &effects)
        } else {
            security.postponedPairing = nil
            bondRefused(end.status, &rooms.pairings, into: &effects)
        }
        if end.isInDoubt { self.end(.authenticationFailure, into: &effects) }
        effects.deferred.append((self, .releasePostponed))
        effects.deferred.append((self, .followSecurityRequest))
    }

    // Apart from their caller, whose frame stays small.

    @inline(never)
    private func clientRecord(_ pairings: inout Pairings) -> GATTClientRecord? { bond(&pairings)?.clientRecord }

    @inline(never)
    private func continuePairing(
        after end: LinkSecurityMachine.EncryptionEnd, wasPlain: Bool, into effects: inout Effects
    ) {
        let (interval, now) = (Microseconds(parameters.interval), effects.now)
        let mayBeLate = wasPlain && effects.expects(.sendsDataBeforeEvents)
        var hasProvenEarlyKey = false
        continuePairing(into: &effects) {
            $0.encryptionChanged(
                to: end.isGood, status: end.status, interval: interval, mayBeLate: mayBeLate, at: now)
            hasProvenEarlyKey = $0.hasProvenEarlyKey
        }
        if hasProvenEarlyKey, effects.adapts { effects.learn(.sendsDataBeforeEvents) }
    }

    /// The bond's key has been tried: pairs now for what the peripheral requested beyond its bond.
    func followSecurityRequest(_ rooms: inout Rooms, into effects: inout Effects) {
        guard Features.pairing else { return }
        let settings = settings(for: claimOfRequest, &rooms.pairings)
        guard !isClosing, let options = security.removePostponedRequest(settings, rooms.pairings.bonds) else { return }
        pairAsRequested(options, &rooms, into: &effects)
    }

    /// A bond's key did not encrypt the link. Nothing else is tried: otherwise a stranger with the peer's address could
    /// make us pair again silently.
    private func bondRefused(_ status: HCIStatus, _ pairings: inout Pairings, into effects: inout Effects) {
        // The key may belong to a pairing that ended when this side decided to end the link.
        guard !isClosing else { return }
        let failure: SecurityFailure = status == .pinOrKeyMissing ? .keyMissingAtPeer : .encryptionFailed(status)
        if failure == .keyMissingAtPeer { security.isBondRefused = true }
        pairings.bonds.resolver.refute(security.identity, behind: security.peerAddress)
        // Clients that wait for the link get it first, and the failure after it.
        refuseGate(failure, into: &effects)
        effects.events.append(.pairing(id, .failed(failure)))
        if security.removeOwedAnswer() {
            effects.events.append(.pairing(id, .securityRequested))
            send(.pairingFailed(.pairingNotSupported), into: &effects)
        }
        securityEnded(failure, &pairings, into: &effects)
    }

    /// What waited for the security of the link continues or fails.
    @inline(never)
    func securityEnded(_ failure: SecurityFailure?, _ pairings: inout Pairings, into effects: inout Effects) {
        guard Features.pairing else { return }
        // The central may have answered our request by encrypting with a bond's key instead of pairing.
        if security.request == nil {
            let summary = PairingSummary(security.summary(pairings.bonds))
            endPairOperations(failure.map { .failure(.security($0)) } ?? .success(.paired(summary)), into: &effects)
        }
        let waiting = security.encryptOperations
        security.encryptOperations = []
        // The key that encrypts the link may be weaker than required.
        let lack = failure ?? (security.isTooWeak(for: pairings.settings.pairing) ? .keyTooWeak : nil)
        for operation in waiting {
            effects.complete(operation, lack.map { .failure(.security($0)) } ?? .success(.done))
        }
        let turn = security.turn
        security.turn = nil
        let isPassed = failure.map { passTurn(from: turn, $0, &pairings, into: &effects) } ?? false
        if !isPassed { secured(failure, into: &effects) }
        proveBondAgain(failure, &pairings, into: &effects)
    }

    // MARK: The link's end

    /// A link ended during pairing, or because a bond's key did not match: some controllers and peers report that by
    /// ending the link.
    func securityLost(_ reason: DisconnectionReason, _ pairings: inout Pairings, into effects: inout Effects) {
        guard Features.pairing else { return }
        for _ in security.removeDoubtful() { security.recordCleartext(into: &effects) }
        if security.isPairing {
            security.pairingLost(isByPeer: reason != .controllerLost, &pairings.attempts, into: &effects)
        } else if security.isChanging, !isClosing, case .controller(let status) = reason {
            pairings.bonds.resolver.refute(security.identity, behind: security.peerAddress)
            let failure = LinkSecurityMachine.failure(ofProofEndedBy: status) ?? .encryptionFailed(status)
            effects.events.append(.pairing(id, .failed(failure)))
        }
    }

    /// What the end of the link says about the proof in progress; `nil` if there was none, or if the link ended for an
    /// ordinary reason.
    func failure(ofProofEndedBy reason: DisconnectionReason) -> SecurityFailure? {
        isClosing ? nil : security.failure(ofProofEndedBy: reason)
    }

    /// The link has lost its encryption: nothing passes until the link ends.
    private func forfeit(_ rooms: inout Rooms, into effects: inout Effects) {
        storeClientRecord(isLast: true, &rooms, into: &effects)
        security.forfeit()
        effects.data.discardWaiting(of: self)
    }

    // MARK: Time

    func advanceSecurity(_ rooms: inout Rooms, into effects: inout Effects) {
        guard let deadline = security.nextDeadline, deadline <= effects.now else { return }
        storeClientRecord(&rooms, into: &effects)
        if let held = security.postponedDisconnect, held.deadline <= effects.now {
            security.disconnectAfterLastPackets(into: &effects)
        }
        guard Features.pairing else { return }
        if case .running(let machine, _, _) = security.pairing, let deadline = machine.deadline, deadline <= effects.now
        {
            let now = effects.now
            continuePairing(into: &effects) { $0.advance(to: now) }
        }
        if case .changing(_, let limit, _) = security.encryption, limit <= effects.now {
            encryptionEnded(isOn: false, status: .connectionTimeout, &rooms, into: &effects)
            end(.authenticationFailure, into: &effects)
        }
        if case .unsettled(_, _, _, let limit) = security.pairing, limit <= effects.now {
            dropClaim(.wouldReplaceBond, &rooms.pairings, into: &effects)
        }
        if let request = security.request, request.deadline <= effects.now {
            security.request = nil
            securityEnded(.timedOut, &rooms.pairings, into: &effects)
        }
    }
}
