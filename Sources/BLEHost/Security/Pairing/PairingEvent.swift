import BLEPackets

/// What pairing on a link reports.
public enum PairingEvent: Equatable, Sendable {
    /// Pairing has begun, by this side or by the peer.
    case started
    /// In an engine that clients share, before `started`: the client that this pairing is for, and whose person is
    /// asked, unless a question names another one (`PairingQuestion.client`).
    case belongs(to: ClientID)
    /// The user must type this number on the other device: 0 to 999999, shown with six digits.
    case displayPasskey(UInt32)
    /// A question to answer with `SecurityCommand.answerPairing`, within 25 s: the peer waits for 30 s.
    case question(PairingQuestion)
    /// The link is encrypted with a new key; if the pairing created a bond, `HostEvent.bondChanged` came before.
    case paired(PairingSummary)
    /// Pairing failed. Open questions no longer need an answer.
    case failed(SecurityFailure)
    /// There were too many failed attempts with the fixed passkey (`PairingOptions.passkey`): no pairing uses it any
    /// more, until `SecurityCommand.unlockPasskey` or another passkey.
    case passkeyLocked
    /// The peer, as a peripheral, requests security, and nothing was begun because the app must decide about pairing.
    case securityRequested
}

/// A question that only the user can answer; each is asked once.
public struct PairingQuestion: Hashable, Sendable {
    /// What is asked, and which answer is expected.
    public enum Kind: Hashable, Sendable {
        /// The passkey that the other device shows: `PairingAnswer.passkey`.
        case enterPasskey
        /// Whether the other device shows the same number, 0 to 999999: `PairingAnswer.confirm`.
        case compare(UInt32)
        /// Whether to pair at all: `PairingAnswer.confirm`.
        case consent
        /// Whether the bond with this device may be replaced: the peer claims to be the device, but has not proved it
        /// by encrypting the link with the bond's key. `PairingAnswer.confirm`; answer no, unless the user knows that
        /// the device has lost its keys.
        case replaceBond(DeviceAddress)
    }

    /// The identifier for the answer.
    public var id: PairingQuestionID
    /// What is asked.
    public var kind: Kind
    /// The client that is asked, in an engine that clients share; `nil` there means no client, and then the answer is
    /// no.
    public var client: ClientID?

    public init(id: PairingQuestionID, kind: Kind, client: ClientID? = nil) {
        self.id = id
        self.kind = kind
        self.client = client
    }
}

/// Identifies a question of pairing; each value is used once.
public struct PairingQuestionID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The user's answer to a question of pairing.
public enum PairingAnswer: Equatable, Sendable {
    /// The passkey, 0 to 999999.
    case passkey(UInt32)
    /// Whether the numbers are the same, whether to pair at all, or whether to replace the bond.
    case confirm(Bool)
    /// The user cancels.
    case cancel
}

/// The result of a successful pairing.
public struct PairingSummary: Hashable, Sendable {
    /// The peer's identity from now on.
    public var identity: DeviceAddress
    /// Whether LE Secure Connections generated the keys.
    public var isSecureConnections: Bool
    /// Whether pairing was protected against a man in the middle.
    public var isAuthenticated: Bool
    /// Size of the key in octets, 7 to 16.
    public var keySize: UInt8
    /// Whether the keys are stored for later links.
    public var isBonded: Bool
    /// Whether no pairing was needed: the bond's key has encrypted the link, and is as strong as was asked for.
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
    /// The peer did not respond for 30 s; no other pairing is possible on this link (Core 5.4, Vol 3, Part H, 3.4).
    case timedOut
    /// The peer has lost the keys of the bond: remove the bond here before a new pairing (0x06 PIN or Key Missing).
    case keyMissingAtPeer
    /// The link could not be encrypted for another reason.
    case encryptionFailed(HCIStatus)
    /// The peer claims to be a bonded device but has not proved it by encryption: the bond stays, unless the operator
    /// allows its replacement (`PairingOptions.replacesBond`) or removes it.
    case wouldReplaceBond
    /// The key of the link, or of the bond, is weaker than now required: not authenticated, not from LE Secure
    /// Connections, or too short (`SecuritySettings.pairing`).
    case keyTooWeak
    /// There is no key to encrypt with, and pairing was not allowed.
    case noKey
    /// No crypto provider is configured, or the controller is shared with another stack.
    case notAvailable
    /// Pairing is already in progress on this link.
    case alreadyPairing
    /// An earlier attempt failed a moment ago; the next one is possible after this time.
    case repeatedAttempts(retryAfter: Microseconds)
    /// There were too many failed attempts with the fixed passkey, by any device: an operator must set another one, or
    /// unlock it (`SecurityCommand.unlockPasskey`).
    case passkeyLocked
    /// There is no room for another bond (`HostLimits.bonds`): remove one before a new pairing.
    case tooManyBonds
    /// The link ended.
    case linkLost
    /// The app or its user cancelled.
    case cancelled
}
