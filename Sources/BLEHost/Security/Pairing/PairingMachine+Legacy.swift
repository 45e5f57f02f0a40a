import BLEPackets

/// LE legacy pairing: a temporary key, a confirm value and a random value of each side
/// (Core 5.4, Vol 3, Part H, 2.3.5.5).
extension PairingMachine {
    mutating func beginLegacy(_ now: Instant) {
        switch model {
        case .outOfBand:
            guard let key = setup.outOfBand?.temporaryKey else { return fail(.outOfBandNotAvailable) }
            passkey = key
            drawLegacyRandom()
        case .justWorks, .numericComparison: drawLegacyRandom()
        case .passkeyShownByInitiator, .passkeyShownByResponder, .passkeyTypedByBoth: obtainPasskey(now)
        }
    }

    mutating func drawLegacyRandom() { ask(.random(count: 16), for: .legacyRandom) }

    mutating func legacyRandomDrawn(_ value: Key128, _ now: Instant) {
        localRandom = value
        compute(legacyConfirm(of: value), for: .legacyConfirm)
    }

    private func legacyConfirm(of random: Key128) -> SecurityFunction {
        .c1(
            key: passkey.mostSignificantOctets, random: random.mostSignificantOctets,
            request: requestOctets.reversed(), response: responseOctets.reversed(),
            initiator: setup.initiatorAddress, responder: setup.responderAddress)
    }

    mutating func legacyConfirmKnown(_ value: Key128, _ now: Instant) {
        localConfirm = value
        if isInitiator { send(.pairingConfirm(value), at: now) }
        expect(.confirm)
    }

    mutating func legacyConfirmReceived(_ value: Key128, _ now: Instant) {
        // Who sends our own value back knows the passkey no better for it.
        guard value != localConfirm else { return fail(.confirmValueFailed) }
        peerIsCommitted(by: value, now)
    }

    mutating func legacyRandomReceived(_ value: Key128, _ now: Instant) {
        guard value != localRandom else { return fail(.confirmValueFailed) }
        peerRandom = value
        compute(legacyConfirm(of: value), for: .legacyPeerConfirm)
    }

    mutating func legacyPeerConfirmKnown(_ value: Key128, _ now: Instant) {
        guard isEqualInConstantTime(value.octets, peerConfirm.octets) else { return fail(.confirmValueFailed) }
        let responderRandom = isInitiator ? peerRandom : localRandom
        let initiatorRandom = isInitiator ? localRandom : peerRandom
        compute(
            .s1(
                key: passkey.mostSignificantOctets, responderRandom: responderRandom.mostSignificantOctets,
                initiatorRandom: initiatorRandom.mostSignificantOctets),
            for: .shortTermKey)
    }

    /// The responder's random value goes last: the initiator encrypts the link as soon as it has it.
    mutating func shortTermKeyKnown(_ value: Key128, _ now: Instant) {
        if !isInitiator { send(.pairingRandom(localRandom), at: now) }
        encrypt(with: value.shortened(to: keySize))
    }
}
