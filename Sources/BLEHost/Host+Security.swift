import BLEPackets

/// Encryption of links: between `LinkSecurityMachine`, the bonds, and what a link carries.
extension Host {
    // MARK: Commands

    mutating func perform(
        _ command: SecurityCommand, operation: OperationID, client: ClientID, at now: Instant
    ) {
        switch command {
        case .setSecurity(let settings):
            security = settings
            // What is demanded may have changed.
            for link in links.all { tellServerOfSecurity(link) }
            effects.complete(operation, .success(.done))
        case .restoreBonds(let restored):
            bonds.restore(restored)
            for link in links.all {
                tellServerOfSecurity(link)
                closeGate(link)
            }
            effects.complete(operation, .success(.done))
        case .removeBond(let identity): removeBond(identity, operation: operation, at: now)
        case .setOutOfBandData(let peer, let data):
            bonds.outOfBand.set(data, for: peer)
            effects.complete(operation, .success(.done))
        case .createOutOfBandData:
            guard pairings.areAvailable else {
                return effects.complete(operation, .failure(.security(.notAvailable)))
            }
            bonds.outOfBand.create(for: operation, into: &effects)
        case .answerPairing(let question, let answer):
            effects.complete(operation, .success(.accepted(answerPairing(question, answer, at: now))))
        case .nameBond(let identity, let name):
            let isKept = bonds.name(identity, name, into: &effects)
            effects.complete(operation, .success(.accepted(isKept)))
        case .unlockPasskey:
            pairings.failures.reset()
            effects.complete(operation, .success(.done))
        case .pair(let link, let options): pair(link, options, operation: operation, at: now)
        case .encrypt(let link): encrypt(link, operation: operation, at: now)
        }
    }

    private mutating func removeBond(_ identity: DeviceAddress, operation: OperationID, at now: Instant) {
        let wasThere = bonds.remove(identity, into: &effects)
        let identity = identity.withoutIdentityMark
        for link in links.all where link.security.identity == identity {
            // Pairing under way would bring the bond back.
            if wasThere || link.security.isPairing {
                close(link, reason: .remoteUserTerminatedConnection, at: now)
            }
        }
        effects.complete(operation, .success(.accepted(wasThere)))
    }

    private mutating func encrypt(_ link: LinkID, operation: OperationID, at now: Instant) {
        guard let link = links[link], !link.isClosing else {
            return effects.complete(operation, .failure(.notConnected))
        }
        if let key = link.security.keyInUse {
            let isEnough = key.satisfies(security.pairing)
            return effects.complete(operation, isEnough ? .success(.done) : .failure(.security(.keyTooWeak)))
        }
        link.security.encryptOperations.append(operation)
        if link.security.isBusy { return }
        if link.role == .peripheral { return requestSecurity(link, security.pairing, at: now) }
        guard let bond = bond(of: link), let key = bond.peerKey else {
            return securityEnded(link, .noKey, at: now)
        }
        link.security.encrypt(with: key, bond.keyProperties, at: now, into: &effects)
    }

    // MARK: Bonds

    func bond(of link: Link) -> Bond? { bonds.bond(for: link.security.identity) }

    /// A link is up: what its bond promises is done before anything else is sent.
    mutating func secureAtConnection(_ link: Link, at now: Instant) {
        guard !link.security.isBusy, link.security.keyInUse == nil else { return }
        if link.role == .central {
            if security.encryptsAtConnection { proveBond(link, at: now) }
        } else if security.requestsSecurity, pairings.areAvailable {
            requestSecurity(link, security.pairing, at: now)
        }
    }

    /// A client changed what its bond keeps.
    mutating func noteClientRecord(of link: Link, at now: Instant) {
        link.security.isRecordDue = true
        keepClientRecord(of: link, at: now)
    }

    /// What a bonded client configured is kept without waiting for the link's end, which a crash would not see.
    /// - Parameter isLast: whether it is kept whenever it was kept before.
    private mutating func keepClientRecord(of link: Link, isLast: Bool = false, at now: Instant) {
        guard link.security.takeDueRecord(isLast: isLast, at: now), var bond = bond(of: link),
            let record = gattServer.clientRecord(of: link.id), record != bond.clientRecord
        else { return }
        link.security.recordKept(at: now)
        bond.clientRecord = record
        bonds.update(bond, into: &effects)
    }

    /// The bond of a link's peer has encrypted the link.
    private mutating func noteUseOfBond(_ link: Link, at now: Instant) {
        let used = bonds.use(link.security.identity)
        keepClientRecord(of: link, at: now)
        // Where the client's record is written down, the use is with it.
        if let used, bond(of: link) == used { effects.events.append(.bondChanged(used)) }
    }

    // MARK: Encryption

    /// The central encrypts the link and the peripheral's key is wanted (Core 5.4, Vol 4, Part E, 7.7.65.5).
    mutating func longTermKeyRequested(_ event: LELongTermKeyRequest, at now: Instant) {
        guard configuration.ownership == .exclusive else { return }
        if let link = links[event.connectionHandle] {
            if let identity = link.security.adoptIdentity(namedBy: event, bonds) {
                link.peer = identity.asIdentity
                tellServerOfSecurity(link)
            }
            if link.security.answer(event, bonds, at: now, into: &effects) { return }
        }
        effects.commands.append(
            LELongTermKeyRequestNegativeReply(connectionHandle: event.connectionHandle),
            purpose: .unattendedOnLink(event.connectionHandle))
        if let link = links[event.connectionHandle], !link.security.isPairing, !link.isClosing {
            effects.events.append(.pairing(link.id, .failed(.noKey)))
        }
    }

    /// The controllers are done with a change, well or not.
    /// - Parameter isRefresh: whether the controller says that a link that was encrypted already has another key.
    mutating func encryptionEnded(
        _ handle: ConnectionHandle, isOn: Bool, status: HCIStatus, isRefresh: Bool = false, at now: Instant
    ) {
        guard let link = links[handle] else { return }
        if isRefresh, status.isSuccess, link.security.lastKey == nil {
            // There was no key to be refreshed: this says nothing about the one that is being tried.
            effects.counters.unexpectedEvents &+= 1
            return
        }
        encryptionEnded(link, isOn: isOn, status: status, at: now)
    }

    /// - Parameter hasBegun: whether the controllers were at it at all: a command that was refused leaves the old key.
    mutating func encryptionEnded(
        _ link: Link, isOn: Bool, status: HCIStatus, hasBegun: Bool = true, at now: Instant
    ) {
        guard
            let end = link.security.encryptionEnded(
                isOn: isOn, status: status, hasBegun: hasBegun, into: &effects)
        else { return }
        if end.isInDoubt { forfeit(link, at: now) }
        tellServerOfSecurity(link)
        effects.events.append(.encryptionChanged(link.id, link.security.summary(bonds)))
        if end.isGood, link.security.machine?.awaitsEncryption != true {
            if link.role == .central, link.security.isTooWeak(for: security.pairing) {
                link.security.proveWeakly()
                link.refuseGate(.keyTooWeak, at: now, into: &effects)
            } else {
                openGate(link, restoring: bond(of: link)?.clientRecord, at: now)
            }
            noteUseOfBond(link, at: now)
        }
        if link.security.isPairing {
            continuePairing(of: link, at: now) {
                $0.encryptionChanged(to: end.isGood, status: end.status, at: now)
            }
        } else if end.isGood {
            if followHeldPairing(link, at: now) { return releaseHeld(link, at: now) }
            securityEnded(link, nil, at: now)
        } else {
            link.security.heldPairing = nil
            bondRefused(link, end.status, at: now)
        }
        if end.isInDoubt { close(link, reason: .authenticationFailure, at: now) }
        releaseHeld(link, at: now)
        guard !link.isClosing else { return }
        if let options = link.security.takeHeldRequest(security, bonds) {
            pairAsRequested(link, options, at: now)
        }
    }

    /// A bond's key did not encrypt the link. Nothing else is tried: a stranger with the peer's address would have us
    /// pair again in silence.
    private mutating func bondRefused(_ link: Link, _ status: HCIStatus, at now: Instant) {
        // Of a key that belonged to a pairing, perhaps, which has ended with the wish to end the link.
        guard !link.isClosing else { return }
        let failure: SecurityFailure = status == .pinOrKeyMissing ? .keyMissingAtPeer : .encryptionFailed(status)
        if failure == .keyMissingAtPeer { link.security.isBondRefused = true }
        bonds.resolver.refute(link.security.identity, behind: link.security.peerAddress)
        // Who waits for the link has it first, and hears then what it is worth.
        link.refuseGate(failure, at: now, into: &effects)
        effects.events.append(.pairing(link.id, .failed(failure)))
        if link.security.takeOwedAnswer() {
            effects.events.append(.pairing(link.id, .securityRequested))
            link.send(.pairingFailed(.pairingNotSupported), into: &effects)
        }
        securityEnded(link, failure, at: now)
    }

    /// A link ends in the middle of pairing, or because a bond's key did not fit: some controllers and peers tell that
    /// by ending the link.
    mutating func tellOfLostSecurity(_ link: Link, _ reason: DisconnectionReason, at now: Instant) {
        if link.security.isPairing {
            link.security.pairingLost(&pairings, at: now, into: &effects)
        } else if link.security.isChanging, !link.isClosing, case .controller(let status) = reason {
            bonds.resolver.refute(link.security.identity, behind: link.security.peerAddress)
            let failure = LinkSecurityMachine.failure(ofProofEndedBy: status) ?? .encryptionFailed(status)
            effects.events.append(.pairing(link.id, .failed(failure)))
        }
    }

    /// What an end of the link says of the proof that was under way; `nil` where there was none, or the link ended as
    /// any link may.
    func failure(ofProofEndedBy reason: DisconnectionReason, on link: Link) -> SecurityFailure? {
        link.isClosing ? nil : link.security.failure(ofProofEndedBy: reason)
    }

    /// What waited for the security of a link goes on, or ends.
    mutating func securityEnded(_ link: Link, _ failure: SecurityFailure?, at now: Instant) {
        // The central may have answered our request with a bond's key instead of pairing.
        if link.security.request == nil {
            let summary = PairingSummary(link.security.summary(bonds))
            endPairOperations(link, failure.map { .failure(.security($0)) } ?? .success(.paired(summary)))
        }
        let waiting = link.security.encryptOperations
        link.security.encryptOperations = []
        // What encrypts the link may be less than what is demanded.
        let lack = failure ?? (link.security.isTooWeak(for: security.pairing) ? .keyTooWeak : nil)
        for operation in waiting {
            effects.complete(operation, lack.map { .failure(.security($0)) } ?? .success(.done))
        }
        link.secured(failure, at: now, into: &effects)
        proveBondAgain(link, failure, at: now)
    }

    // MARK: The gate

    /// A link is there, or its peer's bond is.
    mutating func closeGate(_ link: Link) {
        guard configuration.ownership == .exclusive else { return }
        link.security.closeGate(bonds)
        if !link.security.isBondProven { link.gatt.isPaused = link.security.isGated }
    }

    /// Has the peer prove that it is the bonded one, unless that is under way or has failed: as the central by
    /// encryption, as the peripheral by asking for it.
    mutating func proveBond(_ link: Link, at now: Instant) {
        guard !link.isClosing else { return }
        switch link.security.proof(bonds) {
        case .none: break
        case .impossible:
            link.security.liftGate()
            link.gatt.resume(at: now)
            releaseHeld(link, at: now)
        case .request: requestSecurity(link, security.pairing, at: now)
        case .encrypt(let key, let properties):
            link.security.encrypt(with: key, properties, at: now, into: &effects)
        }
    }

    /// Pairing has ended and the gate is closed all the same: what waits at it has the bond's key tried, or ends.
    private mutating func proveBondAgain(_ link: Link, _ failure: SecurityFailure?, at now: Instant) {
        guard link.security.isGated, !link.security.isBusy, !link.isClosing, link.security.proofFailure == nil else {
            return
        }
        if link.role == .peripheral, let failure {
            link.refuseGate(failure, at: now, into: &effects)
        } else if link.gatt.isBusy || link.security.channelOpenings.contains(where: { $0.isWaiting }) {
            proveBond(link, at: now)
        }
    }

    /// The bond's key has encrypted the link, or the link's key is the bond's from now on.
    /// - Parameter record: what the bond keeps of the peer as a client.
    mutating func openGate(_ link: Link, restoring record: GATTClientRecord?, at now: Instant) {
        guard link.security.openGate() else { return }
        link.gatt.resume(at: now)
        if let record {
            gattServer.restore(record, on: link.id, at: now)
            drainServer(at: now)
        }
        // The exchange at the beginning of the link ended with the proof that failed.
        guard link.role == .central, link.mtuExchange == nil, !link.isClosing else { return }
        exchangeMTU(link, at: now)
    }

    private mutating func forfeit(_ link: Link, at now: Instant) {
        keepClientRecord(of: link, isLast: true, at: now)
        link.security.forfeit()
        effects.data.discardWaiting(of: link)
    }

    // MARK: What others see

    func serverSecurity(of link: Link) -> GATTLinkSecurity {
        var server = gattServer.security(of: link.id)
        link.describeSecurity(to: &server, bonds, policy: security.pairing)
        return server
    }

    mutating func tellServerOfSecurity(_ link: Link) {
        gattServer.securityChanged(to: serverSecurity(of: link), on: link.id)
    }

    // MARK: Held traffic

    mutating func releaseHeld(_ link: Link, at now: Instant) {
        let (frames, pdus) = link.security.takeHeld()
        for frame in frames where !link.isClosing {
            // It was counted when it was held.
            if frame.tag == .none { link.unsentAnswers -= 1 }
            link.send(frame.payload, on: .attributeProtocol, tag: frame.tag, into: &effects)
        }
        for pdu in pdus { receiveATT(pdu.span.bytes, on: link, at: now) }
    }

    // MARK: Time

    mutating func advanceSecurity(_ link: Link, to now: Instant) {
        keepClientRecord(of: link, at: now)
        if let held = link.security.heldDisconnect, held.deadline <= now {
            link.security.disconnectAfterLastPackets(into: &effects)
        }
        if case .running(let machine, _, _) = link.security.pairing, let deadline = machine.deadline, deadline <= now {
            continuePairing(of: link, at: now) { $0.advance(to: now) }
        }
        if case .changing(_, let limit, _) = link.security.encryption, limit <= now {
            encryptionEnded(link, isOn: false, status: .connectionTimeout, at: now)
            close(link, reason: .authenticationFailure, at: now)
        }
        if case .unsettled(_, _, _, let limit) = link.security.pairing, limit <= now {
            dropClaim(link, .wouldReplaceBond, at: now)
        }
        if let request = link.security.request, request.deadline <= now {
            link.security.request = nil
            securityEnded(link, .timedOut, at: now)
        }
    }
}
