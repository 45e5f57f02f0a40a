import BLEPackets

/// Encryption: between the controller, `LinkSecurityMachine`, the bonds, and what the link carries.
extension Link {
    // MARK: Commands

    /// Has the link encrypted with the bond's key.
    func encrypt(
        operation: OperationID, _ pairings: inout Pairings, at now: Instant, into effects: inout Effects
    ) {
        if let key = security.keyInUse {
            let isEnough = key.satisfies(pairings.settings.pairing)
            return effects.complete(operation, isEnough ? .success(.done) : .failure(.security(.keyTooWeak)))
        }
        security.encryptOperations.append(operation)
        if security.isBusy { return }
        if role == .peripheral { return requestSecurity(pairings.settings.pairing, at: now, into: &effects) }
        guard let bond = bond(&pairings), let key = bond.peerKey else {
            return securityEnded(.noKey, &pairings, at: now, into: &effects)
        }
        security.encrypt(with: key, bond.keyProperties, at: now, into: &effects)
    }

    /// A link is up: what its bond promises is done before anything else is sent.
    func secureAtConnection(_ pairings: inout Pairings, at now: Instant, into effects: inout Effects) {
        guard !security.isBusy, security.keyInUse == nil else { return }
        if role == .central {
            if pairings.settings.encryptsAtConnection { proveBond(&pairings, at: now, into: &effects) }
        } else if pairings.settings.requestsSecurity, pairings.attempts.areAvailable {
            requestSecurity(pairings.settings.pairing, at: now, into: &effects)
        }
    }

    // MARK: The controller

    /// The central encrypts the link and the peripheral's key is wanted (Core 5.4, Vol 4, Part E, 7.7.65.5).
    func receive(
        _ event: LELongTermKeyRequest, _ pairings: inout Pairings, _ server: inout GATTServer, at now: Instant,
        into effects: inout Effects
    ) {
        if let identity = security.adoptIdentity(namedBy: event, pairings.bonds) {
            peer = identity.asIdentity
            tellServerOfSecurity(&server, &pairings)
        }
        if security.answer(event, pairings.bonds, at: now, into: &effects) { return }
        effects.commands.append(
            LELongTermKeyRequestNegativeReply(connectionHandle: id.handle), purpose: .unattendedOnLink(id.handle))
        if !security.isPairing, !isClosing { effects.events.append(.pairing(id, .failed(.noKey))) }
    }

    /// - Parameters:
    ///   - isRefresh: whether the controller says that a link that was encrypted already has another key.
    ///   - hasBegun: whether the controllers were at it at all: a command that was refused leaves the old key.
    func encryptionEnded(
        isOn: Bool, status: HCIStatus, isRefresh: Bool = false, hasBegun: Bool = true,
        _ pairings: inout Pairings, _ links: inout LinkTable, _ server: inout GATTServer, at now: Instant,
        into effects: inout Effects
    ) {
        if isRefresh, status.isSuccess, security.lastKey == nil {
            // There was no key to be refreshed: this says nothing about the one that is being tried.
            effects.counters.unexpectedEvents &+= 1
            return
        }
        guard
            let end = security.encryptionEnded(
                isOn: isOn, status: status, hasBegun: hasBegun, into: &effects)
        else { return }
        if end.isInDoubt { forfeit(&pairings, &server, at: now, into: &effects) }
        tellServerOfSecurity(&server, &pairings)
        effects.events.append(.encryptionChanged(id, security.summary(pairings.bonds)))
        if end.isGood, security.machine?.awaitsEncryption != true {
            if role == .central, security.isTooWeak(for: pairings.settings.pairing) {
                security.proveWeakly()
                refuseGate(.keyTooWeak, at: now, into: &effects)
            } else {
                openGate(restoring: bond(&pairings)?.clientRecord, &server, at: now, into: &effects)
            }
            noteUseOfBond(&pairings, &server, at: now, into: &effects)
        }
        if security.isPairing {
            continuePairing(into: &effects) { $0.encryptionChanged(to: end.isGood, status: end.status, at: now) }
        } else if end.isGood {
            if followHeldPairing(&pairings, &links, at: now, into: &effects) {
                return effects.wishes.append((self, .releaseHeld))
            }
            securityEnded(nil, &pairings, at: now, into: &effects)
        } else {
            security.heldPairing = nil
            bondRefused(end.status, &pairings, at: now, into: &effects)
        }
        if end.isInDoubt { self.end(.authenticationFailure, into: &effects) }
        effects.wishes.append((self, .releaseHeld))
        effects.wishes.append((self, .followSecurityRequest))
    }

    /// What the peripheral asked for beyond its bond is paired for, now that the bond's key has been tried.
    func followSecurityRequest(
        _ pairings: inout Pairings, _ links: inout LinkTable, at now: Instant, into effects: inout Effects
    ) {
        guard !isClosing, let options = security.takeHeldRequest(pairings.settings, pairings.bonds) else { return }
        pairAsRequested(options, &pairings, &links, at: now, into: &effects)
    }

    /// A bond's key did not encrypt the link. Nothing else is tried: a stranger with the peer's address would have us
    /// pair again in silence.
    private func bondRefused(
        _ status: HCIStatus, _ pairings: inout Pairings, at now: Instant, into effects: inout Effects
    ) {
        // Of a key that belonged to a pairing, perhaps, which has ended with the wish to end the link.
        guard !isClosing else { return }
        let failure: SecurityFailure = status == .pinOrKeyMissing ? .keyMissingAtPeer : .encryptionFailed(status)
        if failure == .keyMissingAtPeer { security.isBondRefused = true }
        pairings.bonds.resolver.refute(security.identity, behind: security.peerAddress)
        // Clients that wait for the link have it first, and hear then what it is worth.
        refuseGate(failure, at: now, into: &effects)
        effects.events.append(.pairing(id, .failed(failure)))
        if security.takeOwedAnswer() {
            effects.events.append(.pairing(id, .securityRequested))
            send(.pairingFailed(.pairingNotSupported), into: &effects)
        }
        securityEnded(failure, &pairings, at: now, into: &effects)
    }

    /// What waited for the security of the link goes on, or ends.
    func securityEnded(
        _ failure: SecurityFailure?, _ pairings: inout Pairings, at now: Instant, into effects: inout Effects
    ) {
        // The central may have answered our request with a bond's key instead of pairing.
        if security.request == nil {
            let summary = PairingSummary(security.summary(pairings.bonds))
            endPairOperations(failure.map { .failure(.security($0)) } ?? .success(.paired(summary)), into: &effects)
        }
        let waiting = security.encryptOperations
        security.encryptOperations = []
        // What encrypts the link may be less than what is demanded.
        let lack = failure ?? (security.isTooWeak(for: pairings.settings.pairing) ? .keyTooWeak : nil)
        for operation in waiting {
            effects.complete(operation, lack.map { .failure(.security($0)) } ?? .success(.done))
        }
        secured(failure, at: now, into: &effects)
        proveBondAgain(failure, &pairings, at: now, into: &effects)
    }

    // MARK: The link's end

    /// A link ends in the middle of pairing, or because a bond's key did not fit: some controllers and peers tell that
    /// by ending the link.
    func securityLost(
        _ reason: DisconnectionReason, _ pairings: inout Pairings, at now: Instant, into effects: inout Effects
    ) {
        if security.isPairing {
            security.pairingLost(&pairings.attempts, at: now, into: &effects)
        } else if security.isChanging, !isClosing, case .controller(let status) = reason {
            pairings.bonds.resolver.refute(security.identity, behind: security.peerAddress)
            let failure = LinkSecurityMachine.failure(ofProofEndedBy: status) ?? .encryptionFailed(status)
            effects.events.append(.pairing(id, .failed(failure)))
        }
    }

    /// What an end of the link says of the proof that was under way; `nil` where there was none, or the link ended as
    /// any link may.
    func failure(ofProofEndedBy reason: DisconnectionReason) -> SecurityFailure? {
        isClosing ? nil : security.failure(ofProofEndedBy: reason)
    }

    /// The link was encrypted and is not any more: nothing passes until its end.
    private func forfeit(
        _ pairings: inout Pairings, _ server: inout GATTServer, at now: Instant, into effects: inout Effects
    ) {
        keepClientRecord(isLast: true, &pairings, &server, at: now, into: &effects)
        security.forfeit()
        effects.data.discardWaiting(of: self)
    }

    // MARK: Time

    func advanceSecurity(
        to now: Instant, _ pairings: inout Pairings, _ links: inout LinkTable, _ server: inout GATTServer,
        into effects: inout Effects
    ) {
        guard let deadline = security.nextDeadline, deadline <= now else { return }
        keepClientRecord(&pairings, &server, at: now, into: &effects)
        if let held = security.heldDisconnect, held.deadline <= now {
            security.disconnectAfterLastPackets(into: &effects)
        }
        if case .running(let machine, _, _) = security.pairing, let deadline = machine.deadline, deadline <= now {
            continuePairing(into: &effects) { $0.advance(to: now) }
        }
        if case .changing(_, let limit, _) = security.encryption, limit <= now {
            encryptionEnded(
                isOn: false, status: .connectionTimeout, &pairings, &links, &server, at: now, into: &effects)
            end(.authenticationFailure, into: &effects)
        }
        if case .unsettled(_, _, _, let limit) = security.pairing, limit <= now {
            dropClaim(.wouldReplaceBond, &pairings, at: now, into: &effects)
        }
        if let request = security.request, request.deadline <= now {
            security.request = nil
            securityEnded(.timedOut, &pairings, at: now, into: &effects)
        }
    }
}
