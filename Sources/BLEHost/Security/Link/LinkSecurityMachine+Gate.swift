import BLEPackets

/// The gate, and what waits at it or for the end of a change of key.
extension LinkSecurityMachine {
    /// ATT PDUs that are kept while the key is being changed; a peer that sends more breaks the rules.
    private static let heldLimit = 64

    /// What the peer can do to prove that it is the bonded device.
    enum Proof {
        /// Nothing now: it has proven itself, is about to, or could not.
        case none
        /// There is no key that it could prove itself with: it is a stranger.
        case impossible
        /// The central is asked to encrypt.
        case request
        /// The bond's key is tried.
        case encrypt(LongTermKey, KeyProperties)
    }

    /// What happens to an ATT PDU that came through a closed gate.
    enum Admission {
        case take
        case drop
        /// A device that waits for the confirmation would say nothing for 30 s; it gets one when it is the right one.
        case confirm
    }

    /// A link is there, or its peer's bond is: where the bond has a key for this role, the peer has to prove itself.
    mutating func closeGate(_ bonds: Bonds) {
        guard !isBondProven, let bond = bonds.bond(for: identity) else { return }
        let hasKey = (role == .central ? bond.peerKey : bond.localKey) != nil
        gate = hasKey ? .closed(proofFailure) : .open
    }

    /// The bond's key has encrypted the link, or the link's key is the bond's from now on.
    /// - Returns: whether that was not known.
    mutating func openGate() -> Bool {
        owesRequestAnswer = false
        guard !isBondProven else { return false }
        gate = .proven
        return true
    }

    /// The bond has gone, to make room for others as a rule: the peer is a stranger.
    mutating func liftGate() { gate = isBondProven ? .proven : .open }

    /// The peer could not prove itself, or its key is too weak: our frames for it end.
    /// - Returns: how many answers are not sent; `nil` where the gate is open.
    mutating func refuseGate(_ failure: SecurityFailure) -> Int? {
        guard isGated else { return nil }
        // A central may come to it yet when it is asked another time.
        if role == .central { gate = isBondProven ? .weak(failure) : .closed(failure) }
        var answers = 0
        let frames = heldFrames
        heldFrames = []
        for frame in frames {
            if !isGated(frame.payload) {
                heldFrames.append(frame)
            } else if frame.tag == .none {
                answers += 1
            }
        }
        return answers
    }

    /// The key encrypts the link, and is weaker than what is demanded: the peer is who it was, and nothing is asked of
    /// it before there is a better key.
    mutating func proveWeakly() {
        switch gate {
        case .closed(let failure), .weak(let failure): gate = .weak(failure)
        case .open, .proven: gate = .proven
        }
    }

    func proof(_ bonds: Bonds) -> Proof {
        guard isGated, proofFailure == nil, !isBusy else { return .none }
        guard let bond = bonds.bond(for: identity) else { return .impossible }
        guard role == .central else { return .request }
        return bond.peerKey.map { .encrypt($0, bond.keyProperties) } ?? .impossible
    }

    /// The bond whose key has to encrypt the link before pairing may begin by itself: until then a stranger may stand
    /// behind the peer's address, and would have its place (Core 5.4, Vol 3, Part H, 2.4.6).
    func bondToProve(_ bonds: Bonds) -> Bond? { isProven ? nil : bonds.bond(for: identity) }

    /// Whether a PDU of ours is for a peer that has still to prove itself. As a peripheral this side serves strangers,
    /// so that only what it wants itself waits.
    func isGated(_ pdu: [UInt8]) -> Bool {
        guard isGated else { return false }
        guard role == .peripheral, let octet = pdu.first else { return true }
        switch ATTOpcode(rawValue: octet).kind {
        case .request, .command, .confirmation: return true
        case .response, .notification, .indication, .unknown: return false
        }
    }

    /// A PDU has come, and the gate is closed.
    func admission(of pdu: RawSpan) -> Admission {
        let isRefused = proofFailure != nil && role == .central
        switch pdu.byte(at: 0).map({ ATTOpcode(rawValue: $0).kind }) {
        case .request?, .command?, .confirmation?, .unknown?:
            if !isRefused { return .take }
        case .indication?:
            if !isRefused { return .confirm }
        case .response?, .notification?, nil: break
        }
        return .drop
    }

    /// Something came in the clear that only the bonded device may say.
    mutating func noteCleartext(into effects: inout Effects) {
        effects.counters.refusedCleartext &+= 1
        guard !hasToldCleartext else { return }
        hasToldCleartext = true
        effects.events.append(.cleartextRefused(id, identity))
    }

    /// A link that was encrypted is not any more, or has a weaker key: whatever comes or goes until its end could be
    /// anybody's.
    mutating func forfeit() {
        isForfeited = true
        heldFrames = []
        heldPDUs = []
    }

    // MARK: Held traffic

    /// Whether an ATT frame has to wait for the end of a change of key, or for the peer's proof.
    mutating func hold(_ payload: [UInt8], tag: ATTSendTag) -> Bool {
        guard isChanging || isGated(payload) else { return false }
        heldFrames.append(HeldFrame(payload: payload, tag: tag))
        return true
    }

    /// Whether an ATT PDU has to wait: the central sends nothing in the clear once it has begun to encrypt, so that
    /// what comes now is encrypted, and only its event is late.
    var holdsPDUs: Bool { isChanging && role == .peripheral }

    /// - Returns: `false` where the peer sends more than can wait.
    mutating func hold(_ pdu: RawSpan) -> Bool {
        guard heldPDUs.count < Self.heldLimit else { return false }
        heldPDUs.append(pdu.copied())
        return true
    }

    mutating func takeHeldFrames() -> [HeldFrame] {
        defer { heldFrames = [] }
        return heldFrames
    }

    mutating func takeHeldPDUs() -> [[UInt8]] {
        defer { heldPDUs = [] }
        return heldPDUs
    }

    // MARK: What the bond keeps of the peer as a client

    /// At most once in this time a client's configuration alone changes its bond.
    private static let recordInterval: Microseconds = .seconds(1)

    /// Whether what a client configured is kept now: not as often as a client can write. A client in the
    /// clear may have borrowed the address, and changes nothing that is kept.
    /// - Parameter isLast: whether it is kept whenever it was kept before.
    mutating func takeDueRecord(isLast: Bool, at now: Instant) -> Bool {
        guard isRecordDue, isBondProven else { return false }
        if let recordPause, now < recordPause, !isLast { return false }
        isRecordDue = false
        return true
    }

    mutating func recordKept(at now: Instant) { recordPause = now.advanced(by: Self.recordInterval) }

    // MARK: The last packets

    /// How long a link that is to be closed waits until the controller has sent what was queued.
    private static let lastPacketsTimeout: Microseconds = .seconds(2)

    /// Whether the link has to stay until its last packets have gone, which a controller may drop at Disconnect: one
    /// that is paired and closed at once would leave the peer with half a bond, and a write command would be lost of
    /// which somebody heard that it was written.
    /// - Parameter isAsked: whether a client ends the link in peace.
    mutating func holdDisconnect(reason: HCIStatus, isAsked: Bool, at now: Instant) -> Bool {
        guard isAsked || hasGivenKeys else { return false }
        heldDisconnect = (reason, now.advanced(by: Self.lastPacketsTimeout))
        return true
    }

    /// The controller has confirmed the last packet of the link.
    mutating func lastPacketGone(into effects: inout Effects) {
        hasGivenKeys = false
        disconnectAfterLastPackets(into: &effects)
    }

    mutating func disconnectAfterLastPackets(into effects: inout Effects) {
        guard let held = heldDisconnect else { return }
        heldDisconnect = nil
        effects.commands.append(
            Disconnect(connectionHandle: id.handle, reason: held.reason), purpose: .link(id, .disconnect))
    }
}
