import BLEPackets

/// What a client may ask for about pairing, bonds and the encryption of links.
public enum SecurityCommand: Equatable, Sendable {
    /// Pairs (as the central), or asks the central to pair (as the peripheral). `nil` uses `SecuritySettings.pairing`.
    /// Ends with `paired`; cancelling the operation ends the pairing.
    case pair(LinkID, PairingOptions?)
    /// Answers a question of `PairingEvent`, once. Ends with `accepted`: whether the question was still open and this
    /// is a valid kind of answer to it; an answer of another kind leaves the question open.
    case answerPairing(PairingQuestionID, PairingAnswer)
    /// Unlocks a fixed passkey that was locked after too many failures, and ends the waiting times after failed
    /// pairings. Only for an operator: unlocking after each failure reveals the passkey.
    case unlockPasskey
    /// Encrypts a link with the key of its bond; as the central, it never pairs.
    case encrypt(LinkID)
    /// Changes how links are secured from now on.
    case setSecurity(SecuritySettings)
    /// Replaces all bonds. Submit it before the first connection.
    case restoreBonds([Bond])
    /// Sets the user's name for a bonded device, at most 248 octets of UTF-8. Ends with `accepted`: whether there is
    /// such a bond.
    case nameBond(DeviceAddress, String)
    /// Removes the bond of a peer and ends a link to it. Ends with `accepted`: whether there was a bond.
    case removeBond(DeviceAddress)
    /// Sets out-of-band data for pairing with this peer, valid until a pairing with it has succeeded; `nil` removes it.
    case setOutOfBandData(DeviceAddress, OutOfBandData?)
    /// Creates out-of-band data for a peer. Ends with `outOfBandData`, or with `SecurityFailure.notAvailable` if the
    /// crypto provider cannot make it or does not answer.
    case createOutOfBandData
}
