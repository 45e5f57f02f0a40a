import BLEPackets

/// The security of one link: its encryption, what the peer has proved with it, and pairing.
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
/// While the gate is closed, ATT PDUs of our client wait, and values, notifications, indications and responses of the
/// peer are dropped: the device at the other end may be using another's address, so they may not come from the bonded
/// device (Core 5.4, Vol 3, Part C, 10.3; the attack is known as BLESA). Requests of the peer to our server are
/// answered as for a stranger: as the peripheral at once, as the central once the peer has proved its identity; if it
/// cannot, they are refused. What the bond stores about the peer as a client is not restored before that. Channels that
/// this side opens wait; those that a peripheral opens are refused.
///
/// Only a bond whose key this side can encrypt with closes the gate: a peer that distributed no key, as legacy pairing
/// allows, is a stranger on every link, and nothing that its bond stores is used for it.
///
/// Bearer, channels and server are unknown here: `Host` passes on what the methods return.
struct LinkSecurityMachine {
    enum Encryption: Equatable {
        case off
        /// The controllers are changing to this key; if the link was already encrypted, from another one.
        case changing(KeyProperties, deadline: Instant, from: KeyProperties?)
        case on(KeyProperties)
    }

    enum Gate: Equatable {
        /// The peer is a stranger.
        case open
        /// The peer must still prove that it has the bond's key. After a failure this is the reason until the next
        /// attempt: operations that want to pass end with that reason.
        case closed(SecurityFailure?)
        /// The peer is the bonded device, but its key is weaker than now required.
        case weak(SecurityFailure?)
        /// The bond's key has encrypted the link: the peer is the bonded device.
        case proven
    }

    /// Indirect, so that links that do not pair reserve no memory for it.
    indirect enum Pairing {
        case none
        /// The number distinguishes the machine that asked the crypto provider from earlier ones.
        case running(PairingMachine, number: UInt32, question: PairingQuestion?)
        /// The keys have been exchanged, and wait for the user's decision whether they may replace a bond.
        case unsettled(PairingMachine, PairingOutcome, question: PairingQuestion, deadline: Instant)
    }

    /// A Security Request of ours that the central has not followed yet.
    struct Request {
        /// The options for the central's pairing.
        var options: PairingOptions
        /// Whose pairing that is.
        var claim = PairingClaim()
        var deadline: Instant
    }

    /// After a question that no user answered, other users who share the link get a turn before the same user pairs
    /// again.
    struct Pause {
        var owner: ClientID
        var end: Instant
    }

    /// A frame that waits for the end of a change of key.
    struct HeldFrame {
        var payload: [UInt8]
        var tag: ATTSendTag
    }

    /// What arrived while the key was being changed, and is judged by the new one.
    struct HeldPDU {
        var channel: L2CAPChannelIdentifier
        var octets: [UInt8]
        /// When it came, if only the bonded device may send it and it may have come unencrypted.
        var doubt: EarlyKey?
        /// Whether it may have come unencrypted.
        var isRefused = false

        var isDoubtful: Bool { if case .some = doubt { true } else { false } }
    }

    /// A channel that is being opened and that the peer may refuse because the link is not secure enough.
    struct ChannelOpening {
        var operation: OperationID
        var client: ClientID
        var spsm: UInt16
        var settings: ChannelSettings
        /// How many channels the enhanced form is to open; `nil` for the form that opens one.
        var enhancedCount: Int?
        /// The peer's first refusal.
        var refusal: ChannelFailure?
        var isWaiting = false
    }

    let id: LinkID
    let role: LinkRole
    /// The peer's identity, as far as it is known.
    var identity: DeviceAddress
    /// The addresses of this side and of the peer, as they were on the air when the link was made.
    private(set) var localAddress: DeviceAddress
    let peerAddress: DeviceAddress

    var encryption = Encryption.off
    var gate = Gate.open
    var pairing = Pairing.none
    var request: Request?

    /// Outgoing ATT frames that are sent when the change is complete.
    var postponedFrames: [HeldFrame] = []
    /// ATT PDUs and requests for channels, in the order in which they arrived.
    var postponedPDUs: [HeldPDU] = []

    /// Whether values of a peripheral wait for the end of a change of key, too, because the controller reports it late.
    var holdsValues = false

    /// Pairing timed out: no other pairing is possible on this link (Core 5.4, Vol 3, Part H, 3.4).
    var isBlocked = false
    /// The peer reported that it has lost the bond's key: nothing begins automatically any more.
    var isBondRefused = false
    /// The link has lost its encryption: it is about to end, and nothing passes in either direction.
    var isForfeited = false
    /// Whether an unencrypted PDU of an unproven peer was refused, which is reported once for each link.
    var hasToldCleartext = false
    /// The peer requested security while the bond's key was tried: it must get an answer if that fails.
    var owesRequestAnswer = false
    /// What the peripheral requested beyond its bond: it is followed once the bond's key has encrypted the link.
    var postponedRequest: AuthenticationRequirements?
    /// Whether this side has paired because the peripheral requested more than the key in use, which it does only once
    /// on a link.
    var hasPairedForMore = false
    /// How often the key of the link may still be refreshed because the peripheral asks for what it has already: it
    /// may ask again after each time.
    var refreshesLeft = 8
    /// The options for a pairing once the bond's key has encrypted the link, if that key is not enough; and whose
    /// pairing that is.
    var postponedPairing: PairingOptions?
    var postponedClaim = PairingClaim()
    /// Whom the pairing in progress, or the last one, is for and asks.
    var parties: PairingTerms.Parties?
    /// When that pairing began.
    var began = Instant.zero
    /// The client for which the link is being secured.
    var turn: ClientID?
    /// As the peripheral, the client whose value or channel the central was last refused for want of security.
    var demander: ClientID?
    var pause: Pause?

    /// Pairing has ended: where the last keys that this side distributed are.
    enum LastKeys {
        case none
        /// They may still wait for the controller.
        case queued
        /// The peer has them, and may store them until then.
        case delivered(storedAt: Instant)
    }

    var lastKeys = LastKeys.none
    /// Disconnect waits for what was queued before it, because a controller drops what it has not sent.
    var postponedDisconnect: (reason: HCIStatus, deadline: Instant)?

    /// Whether the peer, as a client, has changed its configuration since the bond last saved it.
    var isRecordDue = false
    /// Until when it is not saved again.
    var recordPause: Instant?

    /// The user whose operation made the latest pairing necessary; `nil` if the peer began it, or no user is known.
    var causingUser: ClientUser?
    /// The number of the user for whom a failure of the pairing counts; `nil`: none has caused it.
    var countedUser: UInt32?

    var channelOpenings: [ChannelOpening] = []
    /// Operations that end with pairing.
    var pairOperations: [OperationID] = []
    /// Operations that end with encryption.
    var encryptOperations: [OperationID] = []

    /// - Parameter peer: the address with which the link was made; the peer's identity if it is known.
    init(id: LinkID, role: LinkRole, peer: DeviceAddress, localAddress: DeviceAddress, peerAddress: DeviceAddress) {
        self.id = id
        self.role = role
        identity = peer.withoutIdentityMark
        self.localAddress = localAddress
        self.peerAddress = peerAddress
    }

    /// The peer connected to this address, that of an advertising set.
    mutating func connected(at address: DeviceAddress) { localAddress = address }

    // MARK: Questions

    @inline(__always)
    var isChanging: Bool {
        if case .changing = encryption { true } else { false }
    }

    var keyInUse: KeyProperties? {
        if case .on(let key) = encryption { key } else { nil }
    }

    /// The key that protects the link until a change is complete, if there is one.
    var lastKey: KeyProperties? {
        switch encryption {
        case .off: nil
        case .changing(_, _, let old): old
        case .on(let key): key
        }
    }

    /// Whether the peer must still prove its identity, or get a better key.
    @inline(__always)
    var isGated: Bool {
        guard Features.pairing else { return false }
        return switch gate {
        case .closed, .weak: true
        case .open, .proven: false
        }
    }

    /// Why operations that want to pass the gate end.
    var proofFailure: SecurityFailure? {
        switch gate {
        case .closed(let failure), .weak(let failure): failure
        case .open, .proven: nil
        }
    }

    /// Whether the bond's key has encrypted this link at any time.
    var isBondProven: Bool {
        switch gate {
        case .weak, .proven: true
        case .open, .closed: false
        }
    }

    /// Whether the peer has proved that it is the bonded device, and the link is encrypted.
    var isProven: Bool { isBondProven && keyInUse != nil }

    /// Whether something is in progress that may make the link more secure.
    var isBusy: Bool { isPairing || isChanging || request != nil }

    /// Whether it matters when the controller has sent the last packet of the link.
    var waitsForConfirmation: Bool {
        if postponedDisconnect != nil { return true }
        return if case .queued = lastKeys { true } else { false }
    }

    /// Whether the key in use meets what this side requested from the central. A central may encrypt with its existing
    /// key before it pairs for a better one.
    var isRequestMet: Bool {
        guard let key = keyInUse, let request else { return true }
        return key.satisfies(request.options)
    }

    @inline(__always)
    var nextDeadline: Instant? {
        var earliest = EarliestInstant(request?.deadline)
        earliest.include(postponedDisconnect?.deadline)
        switch pairing {
        case .none: break
        case .running(let machine, _, _): earliest.include(machine.deadline)
        case .unsettled(_, _, _, let limit): earliest.include(limit)
        }
        if case .changing(_, let limit, _) = encryption { earliest.include(limit) }
        if isRecordDue, isBondProven { earliest.include(recordPause) }
        return earliest.moment
    }

    // MARK: What clients see

    /// The security of the link, for clients.
    func summary(_ bonds: Bonds) -> LinkSecurity {
        let key = keyInUse
        return LinkSecurity(
            isEncrypted: key != nil, isAuthenticated: key?.isAuthenticated ?? false,
            isSecureConnections: key?.isSecureConnections ?? false, keySize: key?.size ?? 0,
            isBonded: key?.isOfBond ?? bonds.hasBond(with: identity), identity: identity)
    }

    /// Whether the link is encrypted with a key that is weaker than now required.
    func isTooWeak(for options: PairingOptions) -> Bool {
        guard let key = keyInUse else { return false }
        return !key.satisfies(options)
    }
}

extension PairingSummary {
    /// Summary of a link that needs no new pairing.
    init(_ security: LinkSecurity) {
        self.init(
            identity: security.identity, isSecureConnections: security.isSecureConnections,
            isAuthenticated: security.isAuthenticated, keySize: security.keySize, isBonded: security.isBonded,
            wasBonded: security.isBonded)
    }
}
