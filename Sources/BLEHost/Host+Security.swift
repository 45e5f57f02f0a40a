import BLEPackets

/// Encryption of links, and the bonds that it lives on.
extension Host {
    /// How long the controllers may take to change a key: their own limit is 40 s (Core 5.4, Vol 6, Part B, 5.2).
    private static let encryptionPatience: Microseconds = .seconds(45)
    /// How long a central may take to act on a Security Request.
    static let securityRequestPatience: Microseconds = .seconds(30)
    /// ATT PDUs that are kept while the key is being changed; a peer that sends more breaks the rules.
    private static let heldLimit = 64

    /// At most once in this time a client's configuration alone changes its bond.
    private static let recordInterval: Microseconds = .seconds(1)

    // MARK: Commands

    mutating func performOnSecurity(
        _ command: HostCommand, operation: OperationID, client: ClientID, at now: Instant
    ) {
        switch command {
        case .setSecurity(let settings):
            security = settings
            // What is demanded may have changed.
            for slot in links.slotRange where links.isOccupied(slot) { tellServerOfSecurity(slot) }
            complete(operation, .success(.done))
        case .restoreBonds(let restored):
            bonds.replaceAll(by: restored)
            for slot in links.slotRange where links.isOccupied(slot) {
                tellServerOfSecurity(slot)
                closeGate(slot)
            }
            complete(operation, .success(.done))
        case .removeBond(let identity): removeBond(identity, operation: operation, at: now)
        case .setOutOfBandData(let peer, let data):
            let peer = peer.withoutIdentityMark
            outOfBand.removeAll { $0.peer == peer }
            if let data { outOfBand.append((peer, data)) }
            complete(operation, .success(.done))
        case .createOutOfBandData:
            guard isPairingAvailable else { return complete(operation, .failure(.security(.notAvailable))) }
            desk.ask(.generateKeyPair, for: .outOfBandKeyPair(operation))
        case .answerPairing(let question, let answer):
            complete(operation, .success(.accepted(answerPairing(question, answer, at: now))))
        case .nameBond(let identity, let name):
            guard var bond = bonds.bond(for: identity), name.utf8.count <= 248 else {
                return complete(operation, .success(.accepted(false)))
            }
            if bond.name != name {
                bond.name = name
                update(bond)
            }
            complete(operation, .success(.accepted(true)))
        case .unlockPasskey:
            unlockPasskey()
            complete(operation, .success(.done))
        case .pair(let link, let options): pair(link, options, operation: operation, at: now)
        case .encrypt(let link): encrypt(link, operation: operation, at: now)
        default: break
        }
    }

    private mutating func removeBond(_ identity: DeviceAddress, operation: OperationID, at now: Instant) {
        let wasThere = bonds.remove(identity)
        let identity = identity.withoutIdentityMark
        if wasThere { events.append(.bondRemoved(identity)) }
        for slot in links.slotRange where links.isOccupied(slot) && self.identity(of: slot) == identity {
            // Pairing under way would bring the bond back.
            if wasThere || links[slot].security.machine != nil {
                close(slot, reason: .remoteUserTerminatedConnection, at: now)
            }
        }
        complete(operation, .success(.accepted(wasThere)))
    }

    private mutating func encrypt(_ link: LinkID, operation: OperationID, at now: Instant) {
        guard let slot = links.slot(of: link), !links[slot].isClosing else {
            return complete(operation, .failure(.notConnected))
        }
        if let key = links[slot].security.keyInUse {
            let isEnough = key.satisfies(security.pairing)
            return complete(operation, isEnough ? .success(.done) : .failure(.security(.keyTooWeak)))
        }
        links[slot].security.encryptOperations.append(operation)
        if links[slot].security.isBusy { return }
        if links[slot].role == .peripheral { return requestSecurity(slot, security.pairing, at: now) }
        guard let bond = bond(of: slot), let key = bond.peerKey else {
            return securityEnded(slot, .noKey, at: now)
        }
        encrypt(slot, with: key, bond.keyProperties, at: now)
    }

    // MARK: Bonds

    /// Who the peer of a link is, as far as it is known.
    func identity(of slot: Int) -> DeviceAddress {
        links[slot].security.identity ?? links[slot].peer.withoutIdentityMark
    }

    func bond(of slot: Int) -> Bond? { bonds.bond(for: identity(of: slot)) }

    /// A link is up: what its bond promises is done before anything else is sent.
    mutating func secureAtConnection(_ slot: Int, at now: Instant) {
        guard !links[slot].security.isBusy, links[slot].security.keyInUse == nil else { return }
        if links[slot].role == .central {
            if security.encryptsAtConnection { proveBond(slot, at: now) }
        } else if security.requestsSecurity, isPairingAvailable {
            requestSecurity(slot, security.pairing, at: now)
        }
    }

    /// A bond's content changed: whoever keeps bonds is told.
    mutating func update(_ bond: Bond) {
        bonds.set(bond)
        events.append(.bondChanged(bond))
    }

    /// A client changed what its bond keeps.
    mutating func noteClientRecord(of slot: Int, at now: Instant) {
        links[slot].security.isRecordDue = true
        keepClientRecord(of: slot, at: now)
    }

    /// What a bonded client configured is kept without waiting for the link's end, which a crash would not see; but not
    /// as often as a client can write. Whoever comes in the clear may have borrowed the address, and changes nothing
    /// that is kept.
    /// - Parameter isLast: whether it is kept whenever it was kept before.
    mutating func keepClientRecord(of slot: Int, isLast: Bool = false, at now: Instant) {
        guard links[slot].security.isRecordDue, links[slot].security.isBondProven else { return }
        if let pause = links[slot].security.recordPause, now < pause, !isLast { return }
        links[slot].security.isRecordDue = false
        guard var bond = bond(of: slot), let record = gattServer.clientRecord(of: links[slot].id),
            record != bond.clientRecord
        else { return }
        links[slot].security.recordPause = now.advanced(by: Self.recordInterval)
        bond.clientRecord = record
        update(bond)
    }

    // MARK: Encryption

    /// The central encrypts the link, or changes its key.
    mutating func encrypt(_ slot: Int, with key: LongTermKey, _ properties: LinkSecurityState.Key, at now: Instant) {
        beginChange(slot, to: properties, at: now)
        links[slot].security.proofFailure = nil
        let id = links[slot].id
        commands.append(
            LEEnableEncryption(
                connectionHandle: id.handle, randomNumber: key.randomNumber,
                encryptedDiversifier: key.encryptedDiversifier, longTermKey: key.key),
            purpose: .link(id, .encrypt))
    }

    private mutating func beginChange(_ slot: Int, to key: LinkSecurityState.Key, at now: Instant) {
        links[slot].security.encryption = .changing(
            key, deadline: now.advanced(by: Self.encryptionPatience), from: links[slot].security.lastKey)
    }

    /// The central encrypts the link and the peripheral's key is wanted (Core 5.4, Vol 4, Part E, 7.7.65.5).
    mutating func longTermKeyRequested(_ event: LELongTermKeyRequest, at now: Instant) {
        guard configuration.ownership == .exclusive else { return }
        adoptNamedIdentity(event)
        guard let slot = links.slot(of: event.connectionHandle),
            let (key, properties) = keyForRequest(event, slot)
        else {
            commands.append(
                LELongTermKeyRequestNegativeReply(connectionHandle: event.connectionHandle),
                purpose: .unattendedOnLink(event.connectionHandle))
            if let slot = links.slot(of: event.connectionHandle), links[slot].security.machine == nil,
                !links[slot].isClosing
            {
                events.append(.pairing(links[slot].id, .failed(.noKey)))
            }
            return
        }
        beginChange(slot, to: properties, at: now)
        commands.append(
            LELongTermKeyRequestReply(connectionHandle: event.connectionHandle, longTermKey: key),
            purpose: .link(links[slot].id, .replyWithKey))
    }

    private func keyForRequest(
        _ event: LELongTermKeyRequest, _ slot: Int
    ) -> (Key128, LinkSecurityState.Key)? {
        guard links[slot].role == .peripheral else { return nil }
        if let machine = links[slot].security.machine, machine.awaitsEncryption {
            // What pairing leads to has neither diversifier nor random number.
            guard let key = machine.linkKey, event.randomNumber == 0, event.encryptedDiversifier == 0 else {
                return nil
            }
            return (key, machine.outcome.keyProperties)
        }
        guard let bond = bond(of: slot), let key = bond.localKey, key.answers(event) else { return nil }
        return (key.key, bond.keyProperties)
    }

    /// A central with a legacy bond names its key: where several bonds have its resolving key, that tells which it is.
    private mutating func adoptNamedIdentity(_ event: LELongTermKeyRequest) {
        guard let slot = links.slot(of: event.connectionHandle), links[slot].role == .peripheral,
            links[slot].security.machine == nil, event.randomNumber != 0 || event.encryptedDiversifier != 0,
            !(bond(of: slot)?.localKey?.answers(event) ?? false)
        else { return }
        for identity in resolver.identities(behind: links[slot].security.peerAddress)
        where bonds.bond(for: identity)?.localKey?.answers(event) ?? false {
            links[slot].peer = identity.asIdentity
            links[slot].security.identity = identity
            return tellServerOfSecurity(slot)
        }
    }

    /// The controllers are done with a change, well or not.
    /// - Parameter isRefresh: whether the controller says that a link that was encrypted already has another key.
    mutating func encryptionEnded(
        _ handle: ConnectionHandle, isOn: Bool, status: HCIStatus, isRefresh: Bool = false, at now: Instant
    ) {
        guard let slot = links.slot(of: handle) else { return }
        if isRefresh, status.isSuccess, links[slot].security.lastKey == nil {
            // There was no key to be refreshed: this says nothing about the one that is being tried.
            counters.unexpectedEvents &+= 1
            return
        }
        encryptionEnded(slot, isOn: isOn, status: status, at: now)
    }

    /// - Parameter hasBegun: whether the controllers were at it at all: a command that was refused leaves the old key.
    mutating func encryptionEnded(
        _ slot: Int, isOn: Bool, status: HCIStatus, hasBegun: Bool = true, at now: Instant
    ) {
        let id = links[slot].id
        var isGood = isOn && status.isSuccess
        // A success that leaves the link plain is none.
        var status = isOn || !status.isSuccess ? status : .encryptionModeNotAcceptable
        var isInDoubt = false
        switch links[slot].security.encryption {
        case .changing(let key, _, let old):
            // What the old key protected, as answers that were held meanwhile, is not for a weaker one.
            if let old, isGood, key.isWeaker(than: old) { (isGood, status) = (false, .insufficientSecurity) }
            let left = hasBegun ? nil : old
            links[slot].security.encryption = isGood ? .on(key) : left.map { .on($0) } ?? .off
            isInDoubt = !isGood && old != nil && left == nil
        case .on:
            if isGood {
                counters.unexpectedEvents &+= 1
                return
            }
            links[slot].security.encryption = .off
            isInDoubt = true
        // Nobody here gave a key: a link that says so all the same is treated as a plain one.
        case .off:
            counters.unexpectedEvents &+= 1
            return
        }
        if isInDoubt { forfeit(slot, at: now) }
        if !isGood || links[slot].security.isRequestMet { links[slot].security.requestDeadline = nil }
        tellServerOfSecurity(slot)
        events.append(.encryptionChanged(id, linkSecurity(of: slot)))
        if isGood, links[slot].security.machine?.awaitsEncryption != true {
            if links[slot].role == .central, isTooWeak(slot) {
                // The peer is who it was, and nothing is asked of it before there is a better key.
                links[slot].security.isBondProven = true
                refuseGate(slot, .keyTooWeak, at: now)
                guard links.slot(of: id) != nil else { return }
            } else {
                openGate(slot, restoring: bond(of: slot)?.clientRecord, at: now)
            }
            noteUseOfBond(slot, at: now)
        }
        if links[slot].security.machine != nil {
            links[slot].security.machine?.encryptionChanged(to: isGood, status: status, at: now)
            drainPairing(slot, at: now)
        } else if isGood {
            if followHeldPairing(slot, at: now) { return releaseHeld(slot, at: now) }
            securityEnded(slot, nil, at: now)
        } else {
            links[slot].security.heldPairing = nil
            bondRefused(slot, status, at: now)
        }
        guard links.slot(of: id) != nil else { return }
        // Who took the link for encrypted must not go on in the clear.
        if isInDoubt { close(slot, reason: .authenticationFailure, at: now) }
        releaseHeld(slot, at: now)
        guard links.slot(of: id) != nil, !links[slot].isClosing else { return }
        followHeldRequest(slot, at: now)
    }

    /// A bond's key did not encrypt the link. Nothing else is tried: a stranger with the peer's address would have us
    /// pair anew in silence.
    private mutating func bondRefused(_ slot: Int, _ status: HCIStatus, at now: Instant) {
        // Of a key that belonged to a pairing, perhaps, which has ended with the wish to end the link.
        guard !links[slot].isClosing else { return }
        let failure: SecurityFailure = status == .pinOrKeyMissing ? .keyMissingAtPeer : .encryptionFailed(status)
        if failure == .keyMissingAtPeer { links[slot].security.isBondRefused = true }
        refuteIdentity(of: slot)
        let id = links[slot].id
        // Who waits for the link has it first, and hears then what it is worth.
        refuseGate(slot, failure, at: now)
        events.append(.pairing(id, .failed(failure)))
        guard links.slot(of: id) != nil else { return }
        answerOwedRequest(slot, at: now)
        securityEnded(slot, failure, at: now)
    }

    /// A link ends in the middle of pairing, or because a bond's key did not fit: some controllers and peers tell that by
    /// ending the link.
    mutating func tellOfLostSecurity(_ slot: Int, _ reason: DisconnectionReason, at now: Instant) {
        let id = links[slot].id
        if links[slot].security.machine != nil {
            pairingLost(slot, at: now)
        } else if links[slot].security.isChanging, !links[slot].isClosing, case .controller(let status) = reason {
            refuteIdentity(of: slot)
            events.append(.pairing(id, .failed(Self.failure(ofProofEndedBy: status) ?? .encryptionFailed(status))))
        }
    }

    /// What waited for the security of a link goes on, or ends.
    mutating func securityEnded(_ slot: Int, _ failure: SecurityFailure?, at now: Instant) {
        // The central may have answered our request with a bond's key instead of pairing.
        if links[slot].security.requestDeadline == nil {
            endPairOperations(
                slot,
                failure.map { .failure(.security($0)) } ?? .success(.paired(PairingSummary(linkSecurity(of: slot)))))
        }
        let waiting = links[slot].security.encryptOperations
        links[slot].security.encryptOperations = []
        // What encrypts the link may be less than what is demanded.
        let lack = failure ?? (isTooWeak(slot) ? .keyTooWeak : nil)
        for operation in waiting {
            complete(operation, lack.map { .failure(.security($0)) } ?? .success(.done))
        }
        let link = links[slot].id
        links[slot].gatt.secured(failure, at: now)
        drainGATT(slot, at: now)
        if links.slot(of: link) != nil { securedForChannels(slot, failure, at: now) }
        if links.slot(of: link) != nil { proveBondAgain(slot, failure, at: now) }
    }

    // MARK: What others see

    func linkSecurity(of slot: Int) -> LinkSecurity {
        let key = links[slot].security.keyInUse
        return LinkSecurity(
            isEncrypted: key != nil, isAuthenticated: key?.isAuthenticated ?? false,
            isSecureConnections: key?.isSecureConnections ?? false, keySize: key?.size ?? 0,
            isBonded: key?.isOfBond ?? (bond(of: slot) != nil), identity: identity(of: slot))
    }

    /// Whether the link is encrypted with a key that is weaker than what is demanded now.
    func isTooWeak(_ slot: Int) -> Bool {
        guard let key = links[slot].security.keyInUse else { return false }
        return !key.satisfies(security.pairing)
    }

    func serverSecurity(of slot: Int) -> GATTLinkSecurity {
        let inUse = links[slot].security.keyInUse
        var server = gattServer.security(of: links[slot].id)
        if let key = inUse ?? bond(of: slot)?.keyProperties {
            server.keys = key.isAuthenticated ? .authenticated : .unauthenticated
        } else {
            server.keys = .none
        }
        server.isEncrypted = inUse != nil
        server.keySize = inUse?.size ?? 16
        server.shortfall = inUse?.shortfall(of: security.pairing)
        return server
    }

    mutating func tellServerOfSecurity(_ slot: Int) {
        gattServer.securityChanged(to: serverSecurity(of: slot), on: links[slot].id)
    }

    // MARK: Held traffic

    /// Whether an ATT frame has to wait for the end of a change of key, or for the peer's proof.
    mutating func hold(_ payload: [UInt8], tag: ATTSendTag, slot: Int) -> Bool {
        guard links[slot].security.isChanging || isGated(payload, slot: slot) else { return false }
        links[slot].security.heldFrames.append(.init(payload: payload, tag: tag))
        return true
    }

    /// Whether an ATT PDU has to wait: the central sends nothing in the clear once it has begun to encrypt, so that what
    /// comes now is encrypted, and only its event is late.
    mutating func hold(_ pdu: RawSpan, slot: Int, at now: Instant) -> Bool {
        guard links[slot].security.isChanging, links[slot].role == .peripheral else { return false }
        guard links[slot].security.heldPDUs.count < Self.heldLimit else {
            counters.floodedLinks &+= 1
            close(slot, reason: .remoteDeviceLowResources, at: now)
            return true
        }
        links[slot].security.heldPDUs.append(pdu.copied())
        return true
    }

    mutating func releaseHeld(_ slot: Int, at now: Instant) {
        let id = links[slot].id
        let frames = links[slot].security.heldFrames
        let pdus = links[slot].security.heldPDUs
        links[slot].security.heldFrames = []
        links[slot].security.heldPDUs = []
        for frame in frames where !links[slot].isClosing {
            // It was counted when it was held.
            if frame.tag == .none { links[slot].unsentAnswers -= 1 }
            send(frame.payload, on: .attributeProtocol, slot: slot, tag: frame.tag, at: now)
        }
        for pdu in pdus {
            guard links.slot(of: id) != nil else { return }
            receiveATT(pdu.span.bytes, on: slot, at: now)
        }
    }

    // MARK: The last packets

    /// How long a link that is to be closed waits until the controller has sent what was queued.
    private static let lastPacketsPatience: Microseconds = .seconds(2)

    /// Whether the link has to stay until its last packets have gone, which a controller may drop at Disconnect: one that
    /// is paired and closed at once would leave the peer with half a bond, and a write command would be lost of which
    /// somebody heard that it was written.
    /// - Parameter isAsked: whether a client ends the link in peace.
    mutating func holdDisconnect(_ slot: Int, reason: HCIStatus, isAsked: Bool, at now: Instant) -> Bool {
        guard isAsked || links[slot].security.hasGivenKeys, links[slot].hasUnconfirmedPackets else { return false }
        links[slot].security.heldDisconnect = (reason, now.advanced(by: Self.lastPacketsPatience))
        return true
    }

    /// The controller has confirmed packets of the link.
    mutating func releaseDisconnect(_ slot: Int) {
        guard links[slot].security.hasGivenKeys || links[slot].security.heldDisconnect != nil,
            !links[slot].hasUnconfirmedPackets
        else { return }
        links[slot].security.hasGivenKeys = false
        disconnectAfterLastPackets(slot)
    }

    private mutating func disconnectAfterLastPackets(_ slot: Int) {
        guard let held = links[slot].security.heldDisconnect else { return }
        links[slot].security.heldDisconnect = nil
        let link = links[slot].id
        commands.append(
            Disconnect(connectionHandle: link.handle, reason: held.reason), purpose: .link(link, .disconnect))
    }

    // MARK: Time

    mutating func advanceSecurity(_ slot: Int, to now: Instant) {
        keepClientRecord(of: slot, at: now)
        if let held = links[slot].security.heldDisconnect, held.deadline <= now {
            disconnectAfterLastPackets(slot)
        }
        if let deadline = links[slot].security.machine?.deadline, deadline <= now {
            links[slot].security.machine?.advance(to: now)
            drainPairing(slot, at: now)
        }
        if case .changing(_, let limit, _) = links[slot].security.encryption, limit <= now {
            encryptionEnded(slot, isOn: false, status: .connectionTimeout, at: now)
            close(slot, reason: .authenticationFailure, at: now)
        }
        if let limit = links[slot].security.unsettled?.deadline, limit <= now {
            dropClaim(slot, .wouldReplaceBond, at: now)
        }
        if let limit = links[slot].security.requestDeadline, limit <= now {
            links[slot].security.requestDeadline = nil
            securityEnded(slot, .timedOut, at: now)
        }
    }
}

extension LongTermKey {
    /// Whether it is the key that a central asks for.
    fileprivate func answers(_ event: LELongTermKeyRequest) -> Bool {
        randomNumber == event.randomNumber && encryptedDiversifier == event.encryptedDiversifier
    }
}
