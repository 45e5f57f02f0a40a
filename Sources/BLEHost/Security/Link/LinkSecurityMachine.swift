import BLEPackets

/// The security of one link: its encryption, what the peer has proven by it, and pairing.
///
///     encryption   off ──encrypt, or the peer's key request──▶ changing ──ended──▶ on
///                   ▲                                             │  ▲              │
///                   └──────────────── refused, or lost ◀──────────┘  └── another ───┘
///
///     gate         open ──the bond has a key for our role──▶ closed ──its key encrypts──▶ proven
///                                                              │ ▲                         ▲
///                                             could not: reason┘ └ tried again             │ a better key
///                                                                  key too weak now ──▶ weak
///
///     pairing      none ──begin, or Pairing Request──▶ running ──▶ none
///                                                         └─keys of a bonded device─▶ unsettled ──user─▶ none
///
/// While the gate is closed, ATT PDUs of ours wait, and values, notifications, indications and responses of the peer
/// are dropped: the device at the other end has borrowed an address, and they are not the bonded device's (Core 5.4,
/// Vol 3, Part C, 10.3; the attack is known as BLESA). What the peer asks of our server is answered as to a stranger:
/// as the peripheral at once, as the central once the peer has proved itself. What the bond keeps of the peer as a
/// client is restored then, and not before. Channels that this side opens wait; those that a peripheral opens to us are
/// refused.
///
/// Only a bond whose key this side can encrypt with closes the gate: a peer that gave none, as legacy pairing allows,
/// is a stranger on every link, and gets and gives nothing that its bond says.
///
/// Bearer, channels and server are not known here: `Host` tells them what the methods return.
struct LinkSecurityMachine {
    enum Encryption: Equatable {
        case off
        /// The controllers are at it, towards this key; where the link was encrypted already, from another.
        case changing(KeyProperties, deadline: Instant, from: KeyProperties?)
        case on(KeyProperties)
    }

    enum Gate: Equatable {
        /// The peer is a stranger.
        case open
        /// The peer has still to prove that it holds the bond's key; with the reason why it could not, until it is
        /// tried again: what wants to pass ends with that.
        case closed(SecurityFailure?)
        /// The peer is the one that the bond was made with, but its key is weaker than what is demanded now.
        case weak(SecurityFailure?)
        /// The bond's key has encrypted the link: the peer is the one that the bond was made with.
        case proven
    }

    /// In a box, so that links that do not pair have no room for it.
    indirect enum Pairing {
        case none
        /// The number tells the machine that asked the toolbox from those before it.
        case running(PairingMachine, number: UInt32, question: PairingQuestion?)
        /// The keys are there, and wait for the user's word that they may replace a bond.
        case unsettled(PairingMachine, PairingOutcome, question: PairingQuestion, deadline: Instant)
    }

    /// A Security Request of ours that the central has not acted on yet.
    struct Request {
        /// With which the central's pairing is met.
        var options: PairingOptions
        var deadline: Instant
    }

    /// A frame that waits for the end of a change.
    struct HeldFrame {
        var payload: [UInt8]
        var tag: ATTSendTag
    }

    /// A channel that is being opened, and may be refused because the link is not secure enough.
    struct ChannelOpening {
        var operation: OperationID
        var client: ClientID
        var spsm: UInt16
        var settings: ChannelSettings
        /// What the peer said the first time.
        var refusal: ChannelFailure?
        var isWaiting = false
    }

    let id: LinkID
    let role: LinkRole
    /// Who the peer is, as far as it is known.
    var identity: DeviceAddress
    /// The address under which this side made the link, and that of the peer, as they were on the air.
    let localAddress: DeviceAddress
    let peerAddress: DeviceAddress

    var encryption = Encryption.off
    var gate = Gate.open
    var pairing = Pairing.none
    var request: Request?

    /// Outgoing ATT frames; they go once the change is over.
    var heldFrames: [HeldFrame] = []
    /// ATT PDUs that came while the key was being changed: they may not be judged by the old one.
    var heldPDUs: [[UInt8]] = []

    /// Pairing took longer than it may: there is no more of it on this link (Core 5.4, Vol 3, Part H, 3.4).
    var isBlocked = false
    /// The peer said that it has lost the bond's key: nothing is begun by itself any more.
    var isBondRefused = false
    /// The link was encrypted and is not any more: it is about to end, and nothing passes in either direction.
    var isForfeited = false
    /// Whether a plain PDU of a peer that has proved nothing was refused, which is told once for a link.
    var hasToldCleartext = false
    /// The peer asked for security while the bond's key was tried: it has an answer to come where that fails.
    var owesRequestAnswer = false
    /// What the peripheral asked for beyond its bond: it is followed once the bond's key has encrypted the link.
    var heldRequest: AuthenticationRequirements?
    /// What is to be paired for once the bond's key has encrypted the link, where that is not enough.
    var heldPairing: PairingOptions?

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

    /// - Parameter peer: as the link was made with it; its identity, where that is known.
    init(
        id: LinkID, role: LinkRole, peer: DeviceAddress, localAddress: DeviceAddress, peerAddress: DeviceAddress
    ) {
        self.id = id
        self.role = role
        identity = peer.withoutIdentityMark
        self.localAddress = localAddress
        self.peerAddress = peerAddress
    }

    // MARK: Questions

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

    /// Whether the peer has still to prove itself, or to get a better key.
    var isGated: Bool {
        switch gate {
        case .closed, .weak: true
        case .open, .proven: false
        }
    }

    /// Why what wants to pass the gate ends.
    var proofFailure: SecurityFailure? {
        switch gate {
        case .closed(let failure), .weak(let failure): failure
        case .open, .proven: nil
        }
    }

    /// Whether the bond's key has encrypted the link at some time.
    var isBondProven: Bool {
        switch gate {
        case .weak, .proven: true
        case .open, .closed: false
        }
    }

    /// Whether the peer has shown that it is the device of its bond, and the link is encrypted since.
    var isProven: Bool { isBondProven && keyInUse != nil }

    /// Whether something is under way that may make the link more secure.
    var isBusy: Bool { isPairing || isChanging || request != nil }

    /// Whether the key in use is what this side asked the central for. A central may encrypt with the key that it has
    /// before it pairs for a better one.
    var isRequestMet: Bool {
        guard let key = keyInUse, let request else { return true }
        return key.satisfies(request.options)
    }

    var nextDeadline: Instant? {
        var deadline = earliest(request?.deadline, heldDisconnect?.deadline)
        switch pairing {
        case .none: break
        case .running(let machine, _, _): deadline = earliest(deadline, machine.deadline)
        case .unsettled(_, _, _, let limit): deadline = earliest(deadline, limit)
        }
        if case .changing(_, let limit, _) = encryption { deadline = earliest(deadline, limit) }
        if isRecordDue, isBondProven { deadline = earliest(deadline, recordPause) }
        return deadline
    }

    // MARK: What others see

    /// What protects the link.
    func summary(_ bonds: Bonds) -> LinkSecurity {
        let key = keyInUse
        return LinkSecurity(
            isEncrypted: key != nil, isAuthenticated: key?.isAuthenticated ?? false,
            isSecureConnections: key?.isSecureConnections ?? false, keySize: key?.size ?? 0,
            isBonded: key?.isOfBond ?? (bonds.bond(for: identity) != nil), identity: identity)
    }

    /// Whether the link is encrypted with a key that is weaker than what is demanded now.
    func isTooWeak(for options: PairingOptions) -> Bool {
        guard let key = keyInUse else { return false }
        return !key.satisfies(options)
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
