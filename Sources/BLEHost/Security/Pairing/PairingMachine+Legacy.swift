import BLEPackets

/// LE legacy pairing: a temporary key, and a confirm value and a random value of each side
/// (Core 5.4, Vol 3, Part H, 2.3.5.5).
extension PairingMachine {
    mutating func beginLegacy(_ agreement: Agreement, _ now: Instant) {
        switch agreement.model {
        case .outOfBand:
            guard let key = setup.outOfBand?.temporaryKey else { return fail(.outOfBandNotAvailable) }
            draw(.legacyRandom(agreement, temporaryKey: key))
        case .justWorks, .numericComparison: draw(.legacyRandom(agreement, temporaryKey: .zero))
        case .passkeyShownByInitiator: obtainPasskey(isShownByInitiator: true, for: .legacy(agreement), now)
        case .passkeyShownByResponder: obtainPasskey(isShownByInitiator: false, for: .legacy(agreement), now)
        case .passkeyTypedByBoth: obtainPasskey(isShownByInitiator: nil, for: .legacy(agreement), now)
        }
    }

    mutating func legacyRandomDrawn(_ exchange: LegacyExchange) {
        compute(confirm(of: exchange.random, exchange), for: .legacyConfirm(exchange))
    }

    private func confirm(of random: Key128, _ exchange: LegacyExchange) -> SecurityFunction {
        .c1(
            key: exchange.temporaryKey.mostSignificantOctets, random: random.mostSignificantOctets,
            request: exchange.agreement.initiator.octets.reversed(),
            response: exchange.agreement.responder.octets.reversed(), initiator: setup.initiatorAddress,
            responder: setup.responderAddress)
    }

    mutating func legacyConfirmKnown(_ value: Key128, _ exchange: LegacyExchange, _ now: Instant) {
        if isInitiator { send(.pairingConfirm(value), at: now) }
        expect(.legacyConfirm(exchange, confirm: value))
    }

    /// The initiator now reveals its random value; the responder sends its confirm value first.
    mutating func legacyConfirmReceived(
        _ value: Key128, _ exchange: LegacyExchange, _ confirm: Key128, _ now: Instant
    ) {
        // A peer that sends our own value back does not know the passkey.
        guard value != confirm else { return fail(.confirmValueFailed) }
        if isInitiator {
            hasDisclosedPasskey = true
            send(.pairingRandom(exchange.random), at: now)
        } else {
            send(.pairingConfirm(confirm), at: now)
        }
        expect(.legacyRandom(exchange, peerConfirm: value))
    }

    mutating func legacyRandomReceived(_ value: Key128, _ exchange: LegacyExchange, peerConfirm: Key128) {
        guard value != exchange.random else { return fail(.confirmValueFailed) }
        compute(
            confirm(of: value, exchange),
            for: .legacyPeerConfirm(exchange, peerConfirm: peerConfirm, peerRandom: value))
    }

    mutating func legacyPeerConfirmKnown(
        _ value: Key128, _ exchange: LegacyExchange, peerConfirm: Key128, peerRandom: Key128
    ) {
        guard isEqualInConstantTime(value.octets, peerConfirm.octets) else { return fail(.confirmValueFailed) }
        let responderRandom = isInitiator ? peerRandom : exchange.random
        let initiatorRandom = isInitiator ? exchange.random : peerRandom
        compute(
            .s1(
                key: exchange.temporaryKey.mostSignificantOctets,
                responderRandom: responderRandom.mostSignificantOctets,
                initiatorRandom: initiatorRandom.mostSignificantOctets),
            for: .shortTermKey(exchange))
    }

    /// The responder's random value is sent last: the initiator encrypts the link as soon as it has it.
    mutating func shortTermKeyKnown(_ value: Key128, _ exchange: LegacyExchange, _ now: Instant) {
        if !isInitiator { send(.pairingRandom(exchange.random), at: now) }
        encrypt(with: value.shortened(to: exchange.agreement.keySize), exchange.agreement)
    }
}
