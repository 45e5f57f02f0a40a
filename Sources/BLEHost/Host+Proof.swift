import BLEPackets

/// The gate of a link to a bonded peer: until the bond's key has encrypted the link, whoever is at the other end has
/// borrowed an address (Core 5.4, Vol 3, Part C, 10.3; the attack is known as BLESA).
///
///     link up ──▶ closed ──bond's key encrypts──▶ open
///                   │ ▲
///                   ▼ │ encryption is tried again, by `encrypt` or the peer's Security Request
///                refused: operations end with the reason
///
/// While it is closed, ATT PDUs of ours wait, and values, notifications, indications and responses of the peer are dropped:
/// they are not the bonded device's. What the peer asks of our server is answered as to a stranger: as the peripheral at
/// once, as the central once the peer has proved itself. What the bond keeps of the peer as a client is restored then, and
/// not before. Channels that this side opens wait; those that a peripheral opens to us are refused.
///
/// Only a bond whose key this side can encrypt with closes the gate: a peer that gave none, as legacy pairing allows, is a
/// stranger on every link, and gets and gives nothing that its bond says.
extension Host {
    // MARK: Closed

    /// A link is there, or its peer's bond is: where the bond has a key for this role, the peer has to prove itself.
    mutating func closeGate(_ link: Link) {
        guard configuration.ownership == .exclusive, !link.security.isBondProven, let bond = bond(of: link)
        else { return }
        link.security.isGated = (link.role == .central ? bond.peerKey : bond.localKey) != nil
        link.gatt.isPaused = link.security.isGated
    }

    /// Whether a PDU of ours is for a peer that has still to prove itself. As a peripheral this side serves strangers, so
    /// that only what it wants itself waits.
    @inline(__always)
    func isGated(_ pdu: [UInt8], link: Link) -> Bool {
        guard link.security.isGated else { return false }
        guard link.role == .peripheral, let octet = pdu.first else { return true }
        switch ATTOpcode(rawValue: octet).kind {
        case .request, .command, .confirmation: return true
        case .response, .notification, .indication, .unknown: return false
        }
    }

    /// Whether a PDU that came through a closed gate is taken notice of.
    mutating func isAdmitted(_ pdu: RawSpan, link: Link, at now: Instant) -> Bool {
        let isRefused = link.security.proofFailure != nil && link.role == .central
        switch pdu.byte(at: 0).map({ ATTOpcode(rawValue: $0).kind }) {
        case .request?, .command?, .confirmation?, .unknown?:
            if !isRefused { return true }
        case .indication?:
            // A device that waits for the confirmation would say nothing for 30 s; it gets one when it is the right one.
            if !isRefused { send(ATTHandleValueConfirmation().encoded(), on: .attributeProtocol, link: link, at: now) }
        case .response?, .notification?, nil: break
        }
        noteCleartext(link)
        return false
    }

    /// Something came in the clear that only the bonded device may say.
    mutating func noteCleartext(_ link: Link) {
        effects.counters.refusedCleartext &+= 1
        guard !link.security.hasToldCleartext else { return }
        link.security.hasToldCleartext = true
        effects.events.append(.cleartextRefused(link.id, identity(of: link)))
    }

    /// Has the peer prove that it is the bonded one, unless that is under way or has failed: as the central by
    /// encryption, as the peripheral by asking for it.
    mutating func proveBond(_ link: Link, at now: Instant) {
        guard link.security.isGated, link.security.proofFailure == nil, !link.security.isBusy,
            !link.isClosing
        else { return }
        guard let bond = bond(of: link) else { return liftGate(link, at: now) }
        guard link.role == .central else { return requestSecurity(link, security.pairing, at: now) }
        guard let key = bond.peerKey else { return liftGate(link, at: now) }
        encrypt(link, with: key, bond.keyProperties, at: now)
    }

    /// Pairing has ended and the gate is closed all the same: what waits at it has the bond's key tried, or ends.
    mutating func proveBondAgain(_ link: Link, _ failure: SecurityFailure?, at now: Instant) {
        let state = link.security
        guard state.isGated, !state.isBusy, !link.isClosing, state.proofFailure == nil else { return }
        if link.role == .peripheral, let failure {
            refuseGate(link, failure, at: now)
        } else if link.gatt.isBusy || state.channelOpenings.contains(where: { $0.isWaiting }) {
            proveBond(link, at: now)
        }
    }

    // MARK: Open

    /// The bond's key has encrypted the link, or the link's key is the bond's from now on.
    /// - Parameter record: what the bond keeps of the peer as a client.
    mutating func openGate(_ link: Link, restoring record: GATTClientRecord?, at now: Instant) {
        link.security.owesRequestAnswer = false
        guard !link.security.isBondProven else { return }
        link.security.isBondProven = true
        link.security.proofFailure = nil
        link.security.isGated = false
        link.gatt.resume(at: now)
        if let record {
            gattServer.restore(record, on: link.id, at: now)
            drainServer(at: now)
        }
        exchangeMTUAgain(link, at: now)
    }

    /// The bond has gone, to make room for others as a rule: the peer is a stranger.
    private mutating func liftGate(_ link: Link, at now: Instant) {
        link.security.isGated = false
        link.gatt.resume(at: now)
        releaseHeld(link, at: now)
    }

    /// The exchange at the beginning of the link ended with the proof that failed.
    private mutating func exchangeMTUAgain(_ link: Link, at now: Instant) {
        guard link.role == .central, link.mtuExchange == nil, !link.isClosing else { return }
        exchangeMTU(link, at: now)
    }

    // MARK: Refused

    /// The peer could not prove itself: what waits for it ends, and so does what is asked of it from now on.
    mutating func refuseGate(_ link: Link, _ failure: SecurityFailure, at now: Instant) {
        guard link.security.isGated else { return }
        // A central may come to it yet when it is asked another time.
        if link.role == .central { link.security.proofFailure = failure }
        dropHeldFrames(link)
        link.gatt.endOperations(.security(failure), at: now)
        drainGATT(link, at: now)
        securedForChannels(link, failure, at: now)
    }

    private mutating func dropHeldFrames(_ link: Link) {
        let frames = link.security.heldFrames
        link.security.heldFrames = []
        for frame in frames {
            if !isGated(frame.payload, link: link) {
                link.security.heldFrames.append(frame)
            } else if frame.tag == .none {
                link.unsentAnswers -= 1
            }
        }
    }

    /// A link that was encrypted is not any more, or has a weaker key: whatever comes or goes until its end could be
    /// anybody's.
    mutating func forfeit(_ link: Link, at now: Instant) {
        keepClientRecord(of: link, isLast: true, at: now)
        link.security.isForfeited = true
        link.security.heldFrames = []
        link.security.heldPDUs = []
        acl.discardWaiting(of: link)
    }

    /// What the peer is told that asked for security while its bond's key was tried in vain.
    mutating func answerOwedRequest(_ link: Link, at now: Instant) {
        guard link.security.owesRequestAnswer else { return }
        link.security.owesRequestAnswer = false
        effects.events.append(.pairing(link.id, .securityRequested))
        send(SMPPacket.pairingFailed(.pairingNotSupported).encoded(), on: .securityManager, link: link, at: now)
    }

    /// What an end of the link says of the proof that was under way; `nil` where there was none, or the link ended as any
    /// link may.
    func failure(ofProofEndedBy reason: DisconnectionReason, on link: Link) -> SecurityFailure? {
        guard link.security.isGated, link.security.isChanging, !link.isClosing,
            case .controller(let status) = reason
        else { return nil }
        return Self.failure(ofProofEndedBy: status)
    }

    /// What the end of a link says whose bond's key was being tried.
    static func failure(ofProofEndedBy status: HCIStatus) -> SecurityFailure? {
        switch status {
        // With another key the first encrypted packet is not understood.
        case .pinOrKeyMissing, .authenticationFailure, .connectionTerminatedDueToMICFailure: .keyMissingAtPeer
        case .connectionTimeout, .connectionTerminatedByLocalHost, .connectionFailedToBeEstablished: nil
        default: .encryptionFailed(status)
        }
    }
}
