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
            guard isPairingAvailable else { return effects.complete(operation, .failure(.security(.notAvailable))) }
            bonds.outOfBand.create(for: operation, into: &effects)
        case .answerPairing(let question, let answer):
            effects.complete(operation, .success(.accepted(answerPairing(question, answer, at: now))))
        case .nameBond(let identity, let name):
            let isKept = bonds.name(identity, name, into: &effects)
            effects.complete(operation, .success(.accepted(isKept)))
        case .unlockPasskey:
            pairingGuard.reset()
            effects.complete(operation, .success(.done))
        case .pair(let link, let options): pair(link, options, operation: operation, at: now)
        case .encrypt(let link): encrypt(link, operation: operation, at: now)
        default: break
        }
    }

    private mutating func removeBond(_ identity: DeviceAddress, operation: OperationID, at now: Instant) {
        let wasThere = bonds.remove(identity, into: &effects)
        let identity = identity.withoutIdentityMark
        for link in links.all where self.identity(of: link) == identity {
            // Pairing under way would bring the bond back.
            if wasThere || link.security.machine != nil {
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
        encrypt(link, with: key, bond.keyProperties, at: now)
    }

    // MARK: Bonds

    /// Who the peer of a link is, as far as it is known.
    func identity(of link: Link) -> DeviceAddress {
        link.security.identity ?? link.peer.withoutIdentityMark
    }

    func bond(of link: Link) -> Bond? { bonds.bond(for: identity(of: link)) }

    /// A link is up: what its bond promises is done before anything else is sent.
    mutating func secureAtConnection(_ link: Link, at now: Instant) {
        guard !link.security.isBusy, link.security.keyInUse == nil else { return }
        if link.role == .central {
            if security.encryptsAtConnection { proveBond(link, at: now) }
        } else if security.requestsSecurity, isPairingAvailable {
            requestSecurity(link, security.pairing, at: now)
        }
    }

    /// A client changed what its bond keeps.
    mutating func noteClientRecord(of link: Link, at now: Instant) {
        link.security.isRecordDue = true
        keepClientRecord(of: link, at: now)
    }

    /// What a bonded client configured is kept without waiting for the link's end, which a crash would not see; but not
    /// as often as a client can write. Whoever comes in the clear may have borrowed the address, and changes nothing
    /// that is kept.
    /// - Parameter isLast: whether it is kept whenever it was kept before.
    mutating func keepClientRecord(of link: Link, isLast: Bool = false, at now: Instant) {
        guard link.security.isRecordDue, link.security.isBondProven else { return }
        if let pause = link.security.recordPause, now < pause, !isLast { return }
        link.security.isRecordDue = false
        guard var bond = bond(of: link), let record = gattServer.clientRecord(of: link.id),
            record != bond.clientRecord
        else { return }
        link.security.recordPause = now.advanced(by: Self.recordInterval)
        bond.clientRecord = record
        bonds.update(bond, into: &effects)
    }

    /// The bond of a link's peer has encrypted the link.
    private mutating func noteUseOfBond(_ link: Link, at now: Instant) {
        let used = bonds.use(identity(of: link))
        keepClientRecord(of: link, at: now)
        // Where the client's record is written down, the use is with it.
        if let used, bond(of: link) == used { effects.events.append(.bondChanged(used)) }
    }

    // MARK: Encryption

    /// The central encrypts the link, or changes its key.
    mutating func encrypt(_ link: Link, with key: LongTermKey, _ properties: KeyProperties, at now: Instant) {
        beginChange(link, to: properties, at: now)
        link.security.proofFailure = nil
        let id = link.id
        effects.commands.append(
            LEEnableEncryption(
                connectionHandle: id.handle, randomNumber: key.randomNumber,
                encryptedDiversifier: key.encryptedDiversifier, longTermKey: key.key),
            purpose: .link(id, .encrypt))
    }

    private mutating func beginChange(_ link: Link, to key: KeyProperties, at now: Instant) {
        link.security.encryption = .changing(
            key, deadline: now.advanced(by: Self.encryptionPatience), from: link.security.lastKey)
    }

    /// The central encrypts the link and the peripheral's key is wanted (Core 5.4, Vol 4, Part E, 7.7.65.5).
    mutating func longTermKeyRequested(_ event: LELongTermKeyRequest, at now: Instant) {
        guard configuration.ownership == .exclusive else { return }
        adoptNamedIdentity(event)
        guard let link = links[event.connectionHandle],
            let (key, properties) = keyForRequest(event, link)
        else {
            effects.commands.append(
                LELongTermKeyRequestNegativeReply(connectionHandle: event.connectionHandle),
                purpose: .unattendedOnLink(event.connectionHandle))
            if let link = links[event.connectionHandle], link.security.machine == nil,
                !link.isClosing
            {
                effects.events.append(.pairing(link.id, .failed(.noKey)))
            }
            return
        }
        beginChange(link, to: properties, at: now)
        effects.commands.append(
            LELongTermKeyRequestReply(connectionHandle: event.connectionHandle, longTermKey: key),
            purpose: .link(link.id, .replyWithKey))
    }

    private func keyForRequest(
        _ event: LELongTermKeyRequest, _ link: Link
    ) -> (Key128, KeyProperties)? {
        guard link.role == .peripheral else { return nil }
        if let awaited = link.security.machine?.awaitedKey {
            // What pairing leads to has neither diversifier nor random number.
            return event.randomNumber == 0 && event.encryptedDiversifier == 0 ? awaited : nil
        }
        guard let bond = bond(of: link), let key = bond.localKey, key.answers(event) else { return nil }
        return (key.key, bond.keyProperties)
    }

    /// A central with a legacy bond names its key: where several bonds have its resolving key, that tells which it is.
    private mutating func adoptNamedIdentity(_ event: LELongTermKeyRequest) {
        guard let link = links[event.connectionHandle], link.role == .peripheral,
            link.security.machine == nil,
            let identity = bonds.identity(
                naming: event, behind: link.security.peerAddress, takenFor: identity(of: link))
        else { return }
        link.peer = identity.asIdentity
        link.security.identity = identity
        tellServerOfSecurity(link)
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
        let id = link.id
        var isGood = isOn && status.isSuccess
        // A success that leaves the link plain is none.
        var status = isOn || !status.isSuccess ? status : .encryptionModeNotAcceptable
        var isInDoubt = false
        switch link.security.encryption {
        case .changing(let key, _, let old):
            // What the old key protected, as answers that were held meanwhile, is not for a weaker one.
            if let old, isGood, key.isWeaker(than: old) { (isGood, status) = (false, .insufficientSecurity) }
            let left = hasBegun ? nil : old
            link.security.encryption = isGood ? .on(key) : left.map { .on($0) } ?? .off
            isInDoubt = !isGood && old != nil && left == nil
        case .on:
            if isGood {
                effects.counters.unexpectedEvents &+= 1
                return
            }
            link.security.encryption = .off
            isInDoubt = true
        // Nobody here gave a key: a link that says so all the same is treated as a plain one.
        case .off:
            effects.counters.unexpectedEvents &+= 1
            return
        }
        if isInDoubt { forfeit(link, at: now) }
        if !isGood || link.security.isRequestMet { link.security.requestDeadline = nil }
        tellServerOfSecurity(link)
        effects.events.append(.encryptionChanged(id, linkSecurity(of: link)))
        if isGood, link.security.machine?.awaitsEncryption != true {
            if link.role == .central, isTooWeak(link) {
                // The peer is who it was, and nothing is asked of it before there is a better key.
                link.security.isBondProven = true
                refuseGate(link, .keyTooWeak, at: now)
            } else {
                openGate(link, restoring: bond(of: link)?.clientRecord, at: now)
            }
            noteUseOfBond(link, at: now)
        }
        if link.security.machine != nil {
            link.security.machine?.encryptionChanged(to: isGood, status: status, at: now)
            drainPairing(link, at: now)
        } else if isGood {
            if followHeldPairing(link, at: now) { return releaseHeld(link, at: now) }
            securityEnded(link, nil, at: now)
        } else {
            link.security.heldPairing = nil
            bondRefused(link, status, at: now)
        }
        // Who took the link for encrypted must not go on in the clear.
        if isInDoubt { close(link, reason: .authenticationFailure, at: now) }
        releaseHeld(link, at: now)
        guard !link.isClosing else { return }
        followHeldRequest(link, at: now)
    }

    /// A bond's key did not encrypt the link. Nothing else is tried: a stranger with the peer's address would have us
    /// pair anew in silence.
    private mutating func bondRefused(_ link: Link, _ status: HCIStatus, at now: Instant) {
        // Of a key that belonged to a pairing, perhaps, which has ended with the wish to end the link.
        guard !link.isClosing else { return }
        let failure: SecurityFailure = status == .pinOrKeyMissing ? .keyMissingAtPeer : .encryptionFailed(status)
        if failure == .keyMissingAtPeer { link.security.isBondRefused = true }
        bonds.resolver.refute(identity(of: link), behind: link.security.peerAddress)
        let id = link.id
        // Who waits for the link has it first, and hears then what it is worth.
        refuseGate(link, failure, at: now)
        effects.events.append(.pairing(id, .failed(failure)))
        answerOwedRequest(link, at: now)
        securityEnded(link, failure, at: now)
    }

    /// A link ends in the middle of pairing, or because a bond's key did not fit: some controllers and peers tell that by
    /// ending the link.
    mutating func tellOfLostSecurity(_ link: Link, _ reason: DisconnectionReason, at now: Instant) {
        let id = link.id
        if link.security.machine != nil {
            pairingLost(link, at: now)
        } else if link.security.isChanging, !link.isClosing, case .controller(let status) = reason {
            bonds.resolver.refute(identity(of: link), behind: link.security.peerAddress)
            effects.events.append(
                .pairing(id, .failed(Self.failure(ofProofEndedBy: status) ?? .encryptionFailed(status))))
        }
    }

    /// What waited for the security of a link goes on, or ends.
    mutating func securityEnded(_ link: Link, _ failure: SecurityFailure?, at now: Instant) {
        // The central may have answered our request with a bond's key instead of pairing.
        if link.security.requestDeadline == nil {
            endPairOperations(
                link,
                failure.map { .failure(.security($0)) } ?? .success(.paired(PairingSummary(linkSecurity(of: link)))))
        }
        let waiting = link.security.encryptOperations
        link.security.encryptOperations = []
        // What encrypts the link may be less than what is demanded.
        let lack = failure ?? (isTooWeak(link) ? .keyTooWeak : nil)
        for operation in waiting {
            effects.complete(operation, lack.map { .failure(.security($0)) } ?? .success(.done))
        }
        link.gatt.secured(failure, at: now)
        drainGATT(link, at: now)
        securedForChannels(link, failure, at: now)
        proveBondAgain(link, failure, at: now)
    }

    // MARK: What others see

    func linkSecurity(of link: Link) -> LinkSecurity {
        let key = link.security.keyInUse
        return LinkSecurity(
            isEncrypted: key != nil, isAuthenticated: key?.isAuthenticated ?? false,
            isSecureConnections: key?.isSecureConnections ?? false, keySize: key?.size ?? 0,
            isBonded: key?.isOfBond ?? (bond(of: link) != nil), identity: identity(of: link))
    }

    /// Whether the link is encrypted with a key that is weaker than what is demanded now.
    func isTooWeak(_ link: Link) -> Bool {
        guard let key = link.security.keyInUse else { return false }
        return !key.satisfies(security.pairing)
    }

    func serverSecurity(of link: Link) -> GATTLinkSecurity {
        let inUse = link.security.keyInUse
        var server = gattServer.security(of: link.id)
        if let key = inUse ?? bond(of: link)?.keyProperties {
            server.keys = key.isAuthenticated ? .authenticated : .unauthenticated
        } else {
            server.keys = .none
        }
        server.isEncrypted = inUse != nil
        server.keySize = inUse?.size ?? 16
        server.shortfall = inUse?.shortfall(of: security.pairing)
        return server
    }

    mutating func tellServerOfSecurity(_ link: Link) {
        gattServer.securityChanged(to: serverSecurity(of: link), on: link.id)
    }

    // MARK: Held traffic

    /// Whether an ATT frame has to wait for the end of a change of key, or for the peer's proof.
    mutating func hold(_ payload: [UInt8], tag: ATTSendTag, link: Link) -> Bool {
        guard link.security.isChanging || isGated(payload, link: link) else { return false }
        link.security.heldFrames.append(.init(payload: payload, tag: tag))
        return true
    }

    /// Whether an ATT PDU has to wait: the central sends nothing in the clear once it has begun to encrypt, so that what
    /// comes now is encrypted, and only its event is late.
    mutating func hold(_ pdu: RawSpan, link: Link, at now: Instant) -> Bool {
        guard link.security.isChanging, link.role == .peripheral else { return false }
        guard link.security.heldPDUs.count < Self.heldLimit else {
            effects.counters.floodedLinks &+= 1
            close(link, reason: .remoteDeviceLowResources, at: now)
            return true
        }
        link.security.heldPDUs.append(pdu.copied())
        return true
    }

    mutating func releaseHeld(_ link: Link, at now: Instant) {
        let frames = link.security.heldFrames
        let pdus = link.security.heldPDUs
        link.security.heldFrames = []
        link.security.heldPDUs = []
        for frame in frames where !link.isClosing {
            // It was counted when it was held.
            if frame.tag == .none { link.unsentAnswers -= 1 }
            send(frame.payload, on: .attributeProtocol, link: link, tag: frame.tag, at: now)
        }
        for pdu in pdus {
            receiveATT(pdu.span.bytes, on: link, at: now)
        }
    }

    // MARK: The last packets

    /// How long a link that is to be closed waits until the controller has sent what was queued.
    private static let lastPacketsPatience: Microseconds = .seconds(2)

    /// Whether the link has to stay until its last packets have gone, which a controller may drop at Disconnect: one that
    /// is paired and closed at once would leave the peer with half a bond, and a write command would be lost of which
    /// somebody heard that it was written.
    /// - Parameter isAsked: whether a client ends the link in peace.
    mutating func holdDisconnect(_ link: Link, reason: HCIStatus, isAsked: Bool, at now: Instant) -> Bool {
        guard isAsked || link.security.hasGivenKeys, link.hasUnconfirmedPackets else { return false }
        link.security.heldDisconnect = (reason, now.advanced(by: Self.lastPacketsPatience))
        return true
    }

    /// The controller has confirmed packets of the link.
    mutating func releaseDisconnect(_ link: Link) {
        guard link.security.hasGivenKeys || link.security.heldDisconnect != nil,
            !link.hasUnconfirmedPackets
        else { return }
        link.security.hasGivenKeys = false
        disconnectAfterLastPackets(link)
    }

    private mutating func disconnectAfterLastPackets(_ link: Link) {
        guard let held = link.security.heldDisconnect else { return }
        link.security.heldDisconnect = nil
        effects.commands.append(
            Disconnect(connectionHandle: link.id.handle, reason: held.reason), purpose: .link(link.id, .disconnect))
    }

    // MARK: Time

    mutating func advanceSecurity(_ link: Link, to now: Instant) {
        keepClientRecord(of: link, at: now)
        if let held = link.security.heldDisconnect, held.deadline <= now {
            disconnectAfterLastPackets(link)
        }
        if let deadline = link.security.machine?.deadline, deadline <= now {
            link.security.machine?.advance(to: now)
            drainPairing(link, at: now)
        }
        if case .changing(_, let limit, _) = link.security.encryption, limit <= now {
            encryptionEnded(link, isOn: false, status: .connectionTimeout, at: now)
            close(link, reason: .authenticationFailure, at: now)
        }
        if let limit = link.security.unsettled?.deadline, limit <= now {
            dropClaim(link, .wouldReplaceBond, at: now)
        }
        if let limit = link.security.requestDeadline, limit <= now {
            link.security.requestDeadline = nil
            securityEnded(link, .timedOut, at: now)
        }
    }
}
