import BLEPackets

/// What a client may ask about pairing, bonds and the encryption of links.
public enum SecurityCommand: Equatable, Sendable {
    /// Pairs (as the central), or asks the central to pair (as the peripheral). `nil` uses `SecuritySettings.pairing`.
    /// Ends with `paired`; cancelling it ends the pairing.
    case pair(LinkID, PairingOptions?)
    /// Answers a question of `PairingEvent`, once. Ends with `accepted`: whether it was still open
    /// and the answer is one to it; one of another kind leaves it open.
    case answerPairing(PairingQuestionID, PairingAnswer)
    /// Lets a fixed passkey be used again that was locked after too many failures, and ends the waits that failed
    /// pairings cost. Only for an operator: unlocking after each failure gives the passkey away.
    case unlockPasskey
    /// Encrypts a link with the key of its bond; never pairs as the central.
    case encrypt(LinkID)
    /// Changes how links are made secure from now on.
    case setSecurity(SecuritySettings)
    /// Replaces all bonds. Submit it before the first connection.
    case restoreBonds([Bond])
    /// Keeps with a bond what its user calls the device, at most 248 octets of UTF-8. Ends with `accepted`: whether
    /// there is such a bond.
    case nameBond(DeviceAddress, String)
    /// Forgets a peer and ends a link to it. Ends with `accepted`: whether there was a bond.
    case removeBond(DeviceAddress)
    /// Out-of-band data for pairing with this peer, until a pairing with it has succeeded; `nil` removes it.
    case setOutOfBandData(DeviceAddress, OutOfBandData?)
    /// Creates out-of-band data for a peer. Ends with `outOfBandData`.
    case createOutOfBandData
}

#if !hasFeature(Embedded)
// As recordings name them.
extension SecurityCommand: Codable {
    enum CodingKeys: String, CodingKey {
        case pair, answerPairing, unlockPasskey, encrypt, setSecurity, restoreBonds, nameBond, removeBond,
            setOutOfBandData, createOutOfBandData
    }
}
#endif
