import BLEPackets

extension ATTError {
    /// Whether the peer may answer differently once the link is encrypted or has a better key (SPEC 2.3); authorization
    /// is up to the app.
    var isCuredBySecurity: Bool {
        switch self {
        case .insufficientAuthentication, .insufficientEncryption, .insufficientEncryptionKeySize: true
        default: false
        }
    }
}

extension SecurityFailure {
    /// Whether it says more than that the peer requires security.
    var saysMoreThanRefusal: Bool {
        switch self {
        case .keyMissingAtPeer, .encryptionFailed, .timedOut: true
        case .refusedByUs, .refusedByPeer, .wouldReplaceBond, .keyTooWeak, .noKey, .notAvailable, .alreadyPairing,
            .repeatedAttempts, .passkeyLocked, .tooManyBonds, .linkLost, .cancelled:
            false
        }
    }
}
