import BLEPackets

/// What pairing on a link has to tell.
public enum PairingEvent: Equatable, Sendable {
    /// Pairing has begun, by us or by the peer.
    case started
    /// The user has to type this on the other device: 0 to 999999, shown with six digits.
    case displayPasskey(UInt32)
    /// Answered with `SecurityCommand.answerPairing`, within the 30 s that the peer waits.
    case question(PairingQuestion)
    /// The link is encrypted with a new key; where the pairing was for bonding, `HostEvent.bondChanged` went before.
    case paired(PairingSummary)
    /// Open questions no longer need an answer.
    case failed(SecurityFailure)
    /// The fixed passkey (`PairingOptions.passkey`) was tried too often: no pairing uses it any more, until
    /// `SecurityCommand.unlockPasskey` or another passkey.
    case passkeyLocked
    /// The peer, as a peripheral, asks for security and nothing was begun because pairing needs the app's word.
    case securityRequested
}

/// Something that only the user knows; each is asked once.
public struct PairingQuestion: Hashable, Sendable {
    /// What is asked, and what answers it.
    public enum Kind: Hashable, Sendable {
        /// The passkey that the other device shows: `PairingAnswer.passkey`.
        case enterPasskey
        /// Whether the other device shows the same number: `PairingAnswer.confirm`.
        case compare(UInt32)
        /// Whether to pair at all: `PairingAnswer.confirm`.
        case consent
        /// Whether the bond with this device may be replaced: the peer says that it is the device, and has not proven
        /// it by encrypting the link with the bond's key. `PairingAnswer.confirm`; no, unless the user knows that the
        /// device has lost its keys.
        case replaceBond(DeviceAddress)
    }

    /// By which it is answered.
    public var id: PairingQuestionID
    /// What is asked.
    public var kind: Kind

    public init(id: PairingQuestionID, kind: Kind) {
        self.id = id
        self.kind = kind
    }
}

/// The name of a question of pairing; each is given once.
public struct PairingQuestionID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// What the user says to a question of pairing.
public enum PairingAnswer: Equatable, Sendable {
    /// 0 to 999999.
    case passkey(UInt32)
    /// Whether the numbers are the same, or whether to pair at all.
    case confirm(Bool)
    /// The user cancels.
    case cancel
}

/// How pairing ended well.
public struct PairingSummary: Hashable, Sendable {
    /// Who the peer is from now on.
    public var identity: DeviceAddress
    /// Whether the keys come of LE Secure Connections.
    public var isSecureConnections: Bool
    /// Whether it was protected against a man in the middle.
    public var isAuthenticated: Bool
    /// Octets.
    public var keySize: UInt8
    /// Whether the keys hold for later links.
    public var isBonded: Bool
    /// Whether there was nothing to pair: the bond's key has encrypted the link, and is as strong as was asked for.
    public var wasBonded: Bool

    public init(
        identity: DeviceAddress, isSecureConnections: Bool, isAuthenticated: Bool, keySize: UInt8, isBonded: Bool,
        wasBonded: Bool = false
    ) {
        self.identity = identity
        self.isSecureConnections = isSecureConnections
        self.isAuthenticated = isAuthenticated
        self.keySize = keySize
        self.isBonded = isBonded
        self.wasBonded = wasBonded
    }
}

/// Why a link could not be made secure.
public enum SecurityFailure: Error, Hashable, Sendable {
    /// This side aborted pairing.
    case refusedByUs(PairingFailedReason)
    /// The peer aborted pairing.
    case refusedByPeer(PairingFailedReason)
    /// The peer was silent for 30 s; there is no pairing on this link any more (Core 5.4, Vol 3, Part H, 3.4).
    case timedOut
    /// The peer has lost the keys of the bond: it has to be removed here before a new pairing (0x06 PIN or Key
    /// Missing).
    case keyMissingAtPeer
    /// The link could not be encrypted, for another reason.
    case encryptionFailed(HCIStatus)
    /// The peer claims to be a device that is bonded, and has not proven it by encryption: the bond stays, unless the
    /// operator says otherwise (`PairingOptions.replacesBond`) or removes it.
    case wouldReplaceBond
    /// The key of the link, or of the bond, is weaker than what is demanded now: not authenticated, not of LE Secure
    /// Connections, or too short (`SecuritySettings.pairing`).
    case keyTooWeak
    /// There is no key to encrypt with, and pairing was not allowed.
    case noKey
    /// No toolbox is configured, or the controller is shared with another stack.
    case notAvailable
    /// Pairing is under way on this link already.
    case alreadyPairing
    /// An earlier try failed a moment ago; the next is possible after this time.
    case repeatedAttempts(retryAfter: Microseconds)
    /// The fixed passkey was tried too often, by any device: an operator sets another, or unlocks it
    /// (`SecurityCommand.unlockPasskey`).
    case passkeyLocked
    /// There is no room for another bond (`HostLimits.bonds`): one has to be removed before a new pairing.
    case tooManyBonds
    /// The link ended.
    case linkLost
    /// The app or its user cancelled.
    case cancelled
}

#if !hasFeature(Embedded)
extension PairingQuestionID: Codable {}
extension PairingAnswer: Codable {}
#endif
