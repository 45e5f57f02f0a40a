import BLEPackets

/// The gate, and the traffic that waits at it or for the end of a change of key.
extension LinkSecurityMachine {
    /// How many PDUs are stored while the key is being changed; a peer that sends more violates the protocol.
    private static let postponedLimit = 64

    /// How the peer can prove that it is the bonded device.
    enum Proof {
        /// Nothing to do now: the proof is complete, in progress, or has failed.
        case none
        /// There is no key for a proof: the peer is a stranger.
        case impossible
        /// Ask the central to encrypt.
        case request
        /// Try the bond's key.
        case encrypt(LongTermKey, KeyProperties)
    }

    /// What happens to an ATT PDU that arrives while the gate is closed.
    enum Admission: Equatable {
        case take
        case drop
        /// The value is dropped but confirmed: a device without the confirmation would send no other for 30 s, even if
        /// it is the right one.
        case confirm
        /// A request that is answered with Insufficient Authentication: without an answer the peer could send no other
        /// (Core 5.4, Vol 3, Part F, 3.3.3).
        case refuse(ATTOpcode)
    }

    /// Closes the gate on a new link, or when the peer's bond becomes known: if the bond has a key for this role, the
    /// peer must prove its identity.
    mutating func closeGate(_ bonds: Bonds) {
        guard !isBondProven, let bond = bonds.bond(for: identity) else { return }
        let hasKey = (role == .central ? bond.peerKey : bond.localKey) != nil
        gate = hasKey ? .closed(proofFailure) : .open
    }

    /// The bond's key has encrypted the link, or the link's key now belongs to the bond.
    /// - Returns: whether this is new.
    mutating func openGate() -> Bool {
        owesRequestAnswer = false
        guard !isBondProven else { return false }
        gate = .proven
        return true
    }

    /// The bond was removed, usually to make room for others: the peer is a stranger.
    mutating func liftGate() { gate = isBondProven ? .proven : .open }

    /// The peer could not prove its identity, or its key is too weak: our frames that wait for it are dropped.
    /// - Returns: how many answers are dropped; `nil` if the gate is open.
    mutating func refuseGate(_ failure: SecurityFailure) -> Int? {
        guard isGated else { return nil }
        // A central can still pass later, when the proof is tried again.
        if role == .central { gate = isBondProven ? .weak(failure) : .closed(failure) }
        var answers = 0
        let frames = postponedFrames
        postponedFrames = []
        for frame in frames {
            if !isGated(frame.payload) {
                postponedFrames.append(frame)
            } else if let refusal = Self.refusal(inPlaceOf: frame.payload) {
                postponedFrames.append(HeldFrame(payload: refusal, tag: frame.tag))
            } else if frame.tag == .none {
                answers += 1
            }
        }
        return answers
    }

    /// What the peer gets instead of a response of our server: without one it could send no other request.
    private static func refusal(inPlaceOf response: [UInt8]) -> [UInt8]? {
        guard let octet = response.first, ATTOpcode(rawValue: octet).kind == .response else { return nil }
        return ATTErrorResponse(
            request: ATTOpcode(rawValue: octet - 1), handle: .none, error: .insufficientAuthentication
        ).encoded()
    }

    /// The key encrypts the link but is weaker than required: the peer is the bonded device, but nothing is asked of it
    /// until there is a better key.
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

    /// The bond whose key must encrypt the link before pairing may begin automatically: until then a stranger may be
    /// using the peer's address, and would replace its bond (Core 5.4, Vol 3, Part H, 2.4.6).
    func bondToProve(_ bonds: Bonds) -> Bond? {
        guard !isProven, let bond = bonds.bond(for: identity) else { return nil }
        // A central cannot ask for a proof without the peer's key.
        return role == .central && bond.peerKey == nil ? nil : bond
    }

    func hasBondToProve(_ bonds: Bonds) -> Bool {
        // Not compared with `nil`: in Embedded Swift that compares bonds, and so names, by Unicode's tables of 35 kB.
        if case .some = bondToProve(bonds) { true } else { false }
    }

    /// Whether the peer has a bond that proves nothing to this side as the central, and that any device could have
    /// made: a new pairing replaces it as if there were no bond.
    func hasIdleBond(_ bonds: Bonds) -> Bool {
        guard role == .central, let bond = bonds.bond(for: identity) else { return false }
        return bond.peerKey == nil && !bond.isAuthenticated
    }

    /// Whether a PDU of ours must wait for the peer's proof. As a peripheral this side also serves strangers, so only
    /// PDUs of the local client wait.
    func isGated(_ pdu: [UInt8]) -> Bool {
        guard isGated else { return false }
        guard let octet = pdu.first else { return true }
        let opcode = ATTOpcode(rawValue: octet)
        // After a proof that failed, the answers that say nothing still go out.
        guard role == .peripheral else { return proofFailure == nil || !opcode.saysNothing }
        switch opcode.kind {
        case .request, .command, .confirmation: return true
        case .response, .notification, .indication, .unknown: return false
        }
    }

    /// What to do with a PDU that arrived while the gate is closed.
    func admission(of pdu: RawSpan) -> Admission {
        let isRefused = proofFailure != nil && role == .central
        guard let opcode = pdu.byte(at: 0).map({ ATTOpcode(rawValue: $0) }) else { return .drop }
        switch opcode.kind {
        case .request where isRefused && opcode != .exchangeMTURequest: return .refuse(opcode)
        case .request: return .take
        case .command, .confirmation, .unknown: return isRefused ? .drop : .take
        case .indication: return .confirm
        case .response, .notification: return .drop
        }
    }

    /// A PDU that only the bonded device may send arrived unencrypted.
    mutating func recordCleartext(into effects: inout Effects) {
        effects.counters.refusedCleartext &+= 1
        guard !hasToldCleartext else { return }
        hasToldCleartext = true
        effects.events.append(.cleartextRefused(id, identity))
    }

    /// A link has lost its encryption, or has a weaker key: any device could send or receive what passes before the
    /// link ends.
    mutating func forfeit() {
        isForfeited = true
        postponedFrames = []
        postponedPDUs = []
    }

    // MARK: Held traffic

    /// Whether an ATT frame must wait for the end of a change of key, or for the peer's proof.
    mutating func postpone(_ payload: [UInt8], tag: ATTSendTag) -> Bool {
        guard isChanging || isGated(payload) else { return false }
        postponedFrames.append(HeldFrame(payload: payload, tag: tag))
        return true
    }

    /// Whether a received ATT PDU must wait. The central sends nothing unencrypted once it has begun to encrypt: what
    /// arrives now is encrypted, and only the event that reports it is late.
    ///
    /// A peripheral may still send unencrypted when the central begins. What it asks of our server waits, because the
    /// answer waits anyway. Values cannot be trusted later either, unless the controller is known to report the change late:
    /// then those that came less than a connection interval before the event were encrypted (`EarlyKey`).
    ///
    /// Mutating, because the machine of a link would be copied for the question otherwise.
    @inline(__always)
    mutating func postpones(_ pdu: RawSpan) -> Bool {
        isChanging && (role == .peripheral || holdsValues && isGated || Self.isForServer(pdu))
    }

    private static func isForServer(_ pdu: RawSpan) -> Bool {
        switch pdu.byte(at: 0).map({ ATTOpcode(rawValue: $0) })?.kind {
        case .request, .command: true
        case .response, .notification, .indication, .confirmation, .unknown, nil: false
        }
    }

    /// - Returns: `false` if the peer sends more than can wait.
    /// - Parameter interval: the connection interval of the link.
    mutating func postpone(
        _ pdu: RawSpan, on channel: L2CAPChannelIdentifier, interval: Microseconds = EarlyKey.leastInterval,
        at now: Instant = .zero
    ) -> Bool {
        guard postponedPDUs.count < Self.postponedLimit else { return false }
        var held = HeldPDU(channel: channel, octets: pdu.copied())
        if isDoubtful(pdu, on: channel) { held.doubt = EarlyKey(time: now, interval: interval) }
        postponedPDUs.append(held)
        return true
    }

    /// Whether it is a value that only the bonded device may send, and that may have come unencrypted.
    func isDoubtful(_ pdu: RawSpan, on channel: L2CAPChannelIdentifier) -> Bool {
        holdsValues && role == .central && isGated && channel == .attributeProtocol && !Self.isForServer(pdu)
    }

    /// The link is not encrypted: removes the values that waited for that.
    mutating func removeDoubtful() -> [HeldPDU] {
        let doubtful = postponedPDUs.filter { $0.isDoubtful }
        if !doubtful.isEmpty { postponedPDUs.removeAll { $0.isDoubtful } }
        return doubtful
    }

    /// The link is encrypted: decides which of the values that came before the report were.
    mutating func judgePostponed(interval: Microseconds, at now: Instant) {
        for index in postponedPDUs.indices {
            guard let doubt = postponedPDUs[index].doubt else { continue }
            postponedPDUs[index].isRefused = doubt.mayBeInTheClear(encryptedAt: now, interval: interval)
        }
    }

    mutating func removePostponedFrames() -> [HeldFrame] {
        defer { postponedFrames = [] }
        return postponedFrames
    }

    mutating func removePostponedPDUs() -> [HeldPDU] {
        defer { postponedPDUs = [] }
        return postponedPDUs
    }

    // MARK: What the bond stores about the peer as a client

    /// How much time must pass between two saves of a client's configuration into its bond.
    private static let recordInterval: Microseconds = .seconds(1)

    /// Whether to save a client's configuration now: less often than a client can write. An unencrypted client may be
    /// using another device's address, and changes nothing that is stored.
    /// - Parameter isLast: whether to save it even if it was saved less than `recordInterval` ago.
    mutating func removeDueRecord(isLast: Bool, at now: Instant) -> Bool {
        guard isRecordDue, isBondProven else { return false }
        if let recordPause, now < recordPause, !isLast { return false }
        isRecordDue = false
        return true
    }

    mutating func recordKept(at now: Instant) { recordPause = now.advanced(by: Self.recordInterval) }

    // MARK: The last packets

    /// How long the end of a link is delayed until the controller has sent what was queued.
    private static let lastPacketsTimeout: Microseconds = .seconds(2)

    /// How long the end of a link is delayed after the peer has received the last keys. Some hosts store a bond in a
    /// separate task, and cancel the task when the link ends: the peer would have no bond, and refuse the next link.
    private static let bondStorageTime: Microseconds = .milliseconds(250)

    /// Whether the link must stay until its last packets have been sent, because a controller may drop them at
    /// Disconnect: if a link were closed directly after pairing, the peer would have half a bond, and a write command
    /// that was reported as written could be lost.
    /// - Parameters:
    ///   - isAsked: whether a client asked for the end of the link.
    ///   - hasUnconfirmedPackets: whether the controller may not yet have sent all packets of the link.
    mutating func postponeDisconnect(
        reason: HCIStatus, isAsked: Bool, hasUnconfirmedPackets: Bool, at now: Instant
    ) -> Bool {
        let deadline: Instant
        switch lastKeys {
        case .delivered(let storedAt) where now < storedAt && !hasUnconfirmedPackets: deadline = storedAt
        case .none where !isAsked, .delivered where !isAsked: return false
        case .none, .queued, .delivered:
            guard hasUnconfirmedPackets else { return false }
            deadline = now.advanced(by: Self.lastPacketsTimeout)
        }
        postponedDisconnect = (reason, deadline)
        return true
    }

    /// The controller has confirmed the last packet of the link.
    mutating func lastPacketGone(into effects: inout Effects) {
        if case .queued = lastKeys { lastKeys = .delivered(storedAt: effects.now.advanced(by: Self.bondStorageTime)) }
        if case .delivered(let storedAt) = lastKeys, effects.now < storedAt {
            postponedDisconnect?.deadline = storedAt
        } else {
            disconnectAfterLastPackets(into: &effects)
        }
    }

    mutating func disconnectAfterLastPackets(into effects: inout Effects) {
        guard let held = postponedDisconnect else { return }
        postponedDisconnect = nil
        effects.commands.append(
            Disconnect(connectionHandle: id.handle, reason: held.reason), purpose: .link(id, .disconnect))
    }
}

extension ATTOpcode {
    /// Whether a PDU contains no value of ours: an error, our ATT_MTU or a confirmation.
    fileprivate var saysNothing: Bool {
        self == .errorResponse || self == .exchangeMTUResponse || self == .handleValueConfirmation
    }
}
