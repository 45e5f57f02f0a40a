import BLEPackets

/// Everything about the security of one link.
struct LinkSecurityState {
    /// A pairing whose keys are there, and which waits for the user's word that it may replace a bond.
    struct Unsettled {
        var outcome: PairingOutcome
        var deadline: Instant
    }

    enum Encryption: Equatable {
        case off
        /// The controllers are at it, towards this key; where the link was encrypted already, from another.
        case changing(KeyProperties, deadline: Instant, from: KeyProperties?)
        case on(KeyProperties)
    }

    /// A frame that waits for the end of a change.
    struct HeldFrame {
        var payload: [UInt8]
        var tag: ATTSendTag
    }

    /// A channel that is being opened, and may be refused for want of security.
    struct ChannelOpening {
        var operation: OperationID
        var client: ClientID
        var spsm: UInt16
        var settings: ChannelSettings
        /// What the peer said the first time.
        var refusal: ChannelFailure?
        var isWaiting = false
    }

    /// Who the peer is, where its address does not say so itself.
    var identity: DeviceAddress?
    /// The address under which this side made the link, and that of the peer, as they were on the air.
    var localAddress: DeviceAddress
    var peerAddress: DeviceAddress

    var encryption = Encryption.off
    /// Outgoing ATT frames; they go once the change is over.
    var heldFrames: [HeldFrame] = []
    /// ATT PDUs that came while the key was being changed: they may not be judged by the old one.
    var heldPDUs: [[UInt8]] = []

    var machine: PairingMachine?
    /// Tells the machine that asked the toolbox from those before it.
    var machineNumber: UInt32 = 0
    var question: PairingQuestion?
    /// Pairing took longer than it may: there is no more of it on this link (Core 5.4, Vol 3, Part H, 3.4).
    var isBlocked = false
    /// The peer said that it has lost the bond's key: nothing is begun by itself any more.
    var isBondRefused = false
    /// The bond's key has encrypted the link: the peer is the one that the bond was made with.
    var isBondProven = false
    /// Whether the peer has still to prove that it holds the bond's key (`Host.isAdmitted`).
    var isGated = false
    /// Why it could not; until it is tried again everything that wants to pass ends with this.
    var proofFailure: SecurityFailure?
    /// The link was encrypted and is not any more: it is about to end, and nothing passes in either direction.
    var isForfeited = false
    /// Whether a plain PDU of a peer that has proved nothing was refused, which is told once for a link.
    var hasToldCleartext = false
    /// The peer asked for security while the bond's key was tried: it has an answer to come where that fails.
    var owesRequestAnswer = false
    /// What the peripheral asked for beyond its bond: it is followed once the bond's key has encrypted the link.
    var heldRequest: AuthenticationRequirements?
    /// When a central that we asked for security should have acted.
    var requestDeadline: Instant?
    /// What is to be paired for once the bond's key has encrypted the link, where that is not enough.
    var heldPairing: PairingOptions?
    var unsettled: Unsettled?
    /// With which that central's pairing is met.
    var requestedOptions: PairingOptions?

    /// Pairing has ended, and the last keys that this side gave may still be on their way to the controller.
    var hasGivenKeys = false
    /// Disconnect waits for what was queued before it: a controller drops what it has not sent.
    var heldDisconnect: (reason: HCIStatus, deadline: Instant)?

    /// Whether the peer, as a client, changed what the bond keeps of it since that was kept.
    var isRecordDue = false
    /// Until when it is not kept again.
    var recordPause: Instant?

    var channelOpenings: [ChannelOpening] = []
    /// Operations that end with pairing.
    var pairOperations: [OperationID] = []
    /// Operations that end with encryption.
    var encryptOperations: [OperationID] = []

    init(localAddress: DeviceAddress, peerAddress: DeviceAddress) {
        self.localAddress = localAddress
        self.peerAddress = peerAddress
    }

    var isChanging: Bool {
        if case .changing = encryption { true } else { false }
    }

    var keyInUse: KeyProperties? {
        if case .on(let key) = encryption { key } else { nil }
    }

    /// The key that protects the link until a change is over, where there is one.
    var lastKey: KeyProperties? {
        switch encryption {
        case .off: nil
        case .changing(_, _, let old): old
        case .on(let key): key
        }
    }

    /// Whether the key in use is what this side asked the central for. A central may encrypt with the key that it has
    /// before it pairs for a better one.
    var isRequestMet: Bool {
        guard let key = keyInUse, let options = requestedOptions else { return true }
        return key.satisfies(options)
    }

    /// Whether something is under way that may make the link more secure.
    var isBusy: Bool { machine != nil || isChanging || requestDeadline != nil }

    /// Inlined, or the whole state would be copied to be asked.
    @inline(__always)
    var nextDeadline: Instant? {
        var deadline = earliest(earliest(machine?.deadline, requestDeadline), heldDisconnect?.deadline)
        deadline = earliest(deadline, unsettled?.deadline)
        if case .changing(_, let limit, _) = encryption { deadline = earliest(deadline, limit) }
        if isRecordDue, isBondProven { deadline = earliest(deadline, recordPause) }
        return deadline
    }
}

extension PairingSummary {
    /// What a link has without a new pairing.
    init(_ security: LinkSecurity) {
        self.init(
            identity: security.identity, isSecureConnections: security.isSecureConnections,
            isAuthenticated: security.isAuthenticated, keySize: security.keySize, isBonded: security.isBonded,
            wasBonded: security.isBonded)
    }
}
