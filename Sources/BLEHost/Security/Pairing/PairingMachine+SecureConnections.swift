import BLEPackets

/// LE Secure Connections: a Diffie-Hellman key, and a proof that both sides have the same key
/// (Core 5.4, Vol 3, Part H, 2.3.5.6).
extension PairingMachine {
    /// Rounds of passkey entry: one for each bit of the passkey.
    static let roundCount = 20

    // MARK: Public keys

    /// The key pair is new for each pairing, unless its values were exchanged out of band.
    mutating func makeKeyPair(_ step: KeyPairStep, _ now: Instant) {
        if let local = setup.outOfBand?.local, model == .outOfBand {
            return keyPairMade(KeyPair(privateKey: local.privateKey, publicKey: local.publicKey), step, now)
        }
        askForKeyPair(step)
    }

    mutating func keyPairMade(_ pair: KeyPair, _ step: KeyPairStep, _ now: Instant) {
        switch step {
        case .initiator(let agreement):
            send(.pairingPublicKey(pair.publicKey), at: now)
            expect(.publicKeyInReturn(agreement, pair))
        case .responder(let agreement, let peerKey): makeSecret(of: pair, and: peerKey, agreement)
        }
    }

    mutating func publicKeyReceived(_ key: P256PublicKey, _ agreement: Agreement, _ now: Instant) {
        guard isAllowed(key) else { return fail(.invalidParameters) }
        makeKeyPair(.responder(agreement, peerKey: key), now)
    }

    mutating func publicKeyReceived(_ key: P256PublicKey, _ agreement: Agreement, inReturnFor pair: KeyPair) {
        guard isAllowed(key) else { return fail(.invalidParameters) }
        makeSecret(of: pair, and: key, agreement)
    }

    private func isAllowed(_ key: P256PublicKey) -> Bool { setup.options.acceptsDebugKeys || !key.isDebugKey }

    /// A peer that sends our own public key, with either y-coordinate, would agree with us on everything without
    /// knowing the secret.
    private mutating func makeSecret(of pair: KeyPair, and peerKey: P256PublicKey, _ agreement: Agreement) {
        guard peerKey.x != pair.publicKey.x else { return fail(.invalidParameters) }
        ask(
            .sharedSecret(privateKey: pair.privateKey, peerPublicKey: peerKey),
            for: .secret(agreement, local: pair.publicKey, peer: peerKey))
    }

    mutating func secretKnown(_ shared: SharedSecret, _ now: Instant) {
        if !isInitiator { send(.pairingPublicKey(shared.local), at: now) }
        let use = PasskeyUse.secureConnections(shared)
        switch shared.agreement.model {
        case .justWorks: draw(.nonce(Round(shared: shared, proof: .none)))
        case .numericComparison: draw(.nonce(Round(shared: shared, proof: .comparison)))
        case .passkeyShownByInitiator: obtainPasskey(isShownByInitiator: true, for: use, now)
        case .passkeyShownByResponder: obtainPasskey(isShownByInitiator: false, for: use, now)
        case .passkeyTypedByBoth: obtainPasskey(isShownByInitiator: nil, for: use, now)
        case .outOfBand:
            guard localStatement(shared.agreement).features.hasOutOfBandData, let peer = setup.outOfBand?.peer else {
                return draw(.nonce(Round(shared: shared, proof: .outOfBand)))
            }
            compute(
                .f4(shared.peer.x, shared.peer.x, key: peer.random.mostSignificantOctets, 0),
                for: .outOfBandConfirm(shared, told: peer.confirm))
        }
    }

    mutating func outOfBandConfirmKnown(_ value: Key128, _ shared: SharedSecret, told: Key128) {
        guard isEqualInConstantTime(value.octets, told.octets) else { return fail(.confirmValueFailed) }
        draw(.nonce(Round(shared: shared, proof: .outOfBand)))
    }

    // MARK: Confirm and random

    mutating func nonceDrawn(_ nonce: Key128, _ round: Round, _ now: Instant) {
        switch round.proof {
        case .outOfBand:
            if isInitiator { send(.pairingRandom(nonce), at: now) }
            expect(.random(round, nonce: nonce))
        case .none, .comparison:
            // Only the responder sends a confirm value: the initiator reveals its nonce first.
            if isInitiator { expect(.confirm(round, nonce: nonce)) } else { computeConfirm(round, nonce) }
        case .passkey: computeConfirm(round, nonce)
        }
    }

    private mutating func computeConfirm(_ round: Round, _ nonce: Key128) {
        compute(
            .f4(round.shared.local.x, round.shared.peer.x, key: nonce.mostSignificantOctets, round.proof.bit),
            for: .confirm(round, nonce: nonce))
    }

    mutating func confirmKnown(_ value: Key128, _ round: Round, _ nonce: Key128, _ now: Instant) {
        switch round.proof {
        case .none, .comparison, .outOfBand:
            send(.pairingConfirm(value), at: now)
            expect(.random(round, nonce: nonce))
        case .passkey:
            if isInitiator { send(.pairingConfirm(value), at: now) }
            expect(.confirmInReturn(round, nonce: nonce, confirm: value))
        }
    }

    /// The responder has sent its confirm value: the initiator reveals its nonce.
    mutating func confirmReceived(_ value: Key128, _ round: Round, _ nonce: Key128, _ now: Instant) {
        send(.pairingRandom(nonce), at: now)
        expect(.committedRandom(round, nonce: nonce, peerConfirm: value))
    }

    /// The initiator now reveals its nonce; the responder sends its confirm value first.
    mutating func confirmReceived(
        _ value: Key128, _ round: Round, _ nonce: Key128, inReturnFor confirm: Key128, _ now: Instant
    ) {
        guard value != confirm else { return fail(.confirmValueFailed) }
        send(isInitiator ? .pairingRandom(nonce) : .pairingConfirm(confirm), at: now)
        expect(.committedRandom(round, nonce: nonce, peerConfirm: value))
    }

    mutating func randomReceived(_ value: Key128, _ round: Round, _ nonce: Key128, _ now: Instant) {
        guard value != nonce else { return fail(.confirmValueFailed) }
        if !isInitiator { send(.pairingRandom(nonce), at: now) }
        noncesKnown(Nonces(round: round, local: nonce, peer: value))
    }

    mutating func randomReceived(_ value: Key128, _ round: Round, _ nonce: Key128, committedBy confirm: Key128) {
        guard value != nonce else { return fail(.confirmValueFailed) }
        compute(
            .f4(round.shared.peer.x, round.shared.local.x, key: value.mostSignificantOctets, round.proof.bit),
            for: .peerConfirm(Nonces(round: round, local: nonce, peer: value), peerConfirm: confirm))
    }

    mutating func peerConfirmKnown(_ value: Key128, _ nonces: Nonces, peerConfirm: Key128, _ now: Instant) {
        guard isEqualInConstantTime(value.octets, peerConfirm.octets) else { return fail(.confirmValueFailed) }
        guard case .passkey(let passkey, let number) = nonces.round.proof else { return noncesKnown(nonces) }
        if !isInitiator { send(.pairingRandom(nonces.local), at: now) }
        guard number + 1 < Self.roundCount else { return deriveKeys(nonces) }
        draw(.nonce(Round(shared: nonces.round.shared, proof: .passkey(passkey, round: number + 1))))
    }

    private mutating func noncesKnown(_ nonces: Nonces) {
        guard case .comparison = nonces.round.proof else { return deriveKeys(nonces) }
        let (local, peer) = (nonces.round.shared.local, nonces.round.shared.peer)
        compute(
            .g2(
                isInitiator ? local.x : peer.x, isInitiator ? peer.x : local.x,
                key: initiatorNonce(nonces).mostSignificantOctets, responderNonce(nonces).mostSignificantOctets),
            for: .number(nonces))
    }

    private func initiatorNonce(_ nonces: Nonces) -> Key128 { isInitiator ? nonces.local : nonces.peer }
    private func responderNonce(_ nonces: Nonces) -> Key128 { isInitiator ? nonces.peer : nonces.local }

    mutating func numberKnown(_ octets: [UInt8], _ nonces: Nonces, _ now: Instant) {
        guard octets.count == 4 else { return cryptoFailed() }
        let number = octets.reduce(0 as UInt32) { $0 << 8 | UInt32($1) } % 1_000_000
        askUser(.compare(number), .compare(nonces), at: now)
    }

    // MARK: Check

    mutating func deriveKeys(_ nonces: Nonces) {
        compute(
            .f5(
                nonces.round.shared.secret, initiatorNonce: initiatorNonce(nonces).mostSignificantOctets,
                responderNonce: responderNonce(nonces).mostSignificantOctets, initiator: setup.initiatorAddress,
                responder: setup.responderAddress),
            for: .keys(nonces))
    }

    mutating func keysKnown(_ octets: [UInt8], _ nonces: Nonces) {
        guard let macKey = Key128(mostSignificantFirst: [UInt8](octets.prefix(16))),
            let longTermKey = Key128(mostSignificantFirst: [UInt8](octets.dropFirst(16)))
        else { return cryptoFailed() }
        let keys = DerivedKeys(
            nonces: nonces, macKey: macKey,
            longTermKey: longTermKey.shortened(to: nonces.round.shared.agreement.keySize))
        if isInitiator { computeCheck(keys) } else { expect(.check(keys)) }
    }

    private mutating func computeCheck(_ keys: DerivedKeys) {
        let (agreement, nonces) = (keys.nonces.round.shared.agreement, keys.nonces)
        guard let peerSecret = peerSecret(nonces.round) else { return fail(.outOfBandNotAvailable) }
        compute(
            .f6(
                key: keys.macKey.mostSignificantOctets, nonces.local.mostSignificantOctets,
                nonces.peer.mostSignificantOctets, peerSecret.mostSignificantOctets,
                features: localStatement(agreement).features, localAddress, peerAddress),
            for: .check(keys))
    }

    /// The peer's secret besides its nonce: the passkey, or its out-of-band value; zero if it sent none, `nil` if there
    /// should be one.
    private func peerSecret(_ round: Round) -> Key128? {
        switch round.proof {
        case .none, .comparison: .zero
        case .passkey(let passkey, _): passkey
        case .outOfBand:
            localStatement(round.shared.agreement).features.hasOutOfBandData ? setup.outOfBand?.peer?.random : .zero
        }
    }

    /// Our secret for the peer, with the same rules.
    private func localSecret(_ round: Round) -> Key128? {
        switch round.proof {
        case .none, .comparison: .zero
        case .passkey(let passkey, _): passkey
        case .outOfBand:
            peerStatement(round.shared.agreement).features.hasOutOfBandData ? setup.outOfBand?.local?.random : .zero
        }
    }

    mutating func checkKnown(_ value: Key128, _ keys: DerivedKeys, _ now: Instant) {
        send(.pairingDHKeyCheck(value), at: now)
        if isInitiator {
            expect(.check(keys))
        } else {
            encrypt(with: keys.longTermKey, keys.nonces.round.shared.agreement)
        }
    }

    mutating func checkReceived(_ value: Key128, _ keys: DerivedKeys) {
        let (agreement, nonces) = (keys.nonces.round.shared.agreement, keys.nonces)
        guard let localSecret = localSecret(nonces.round) else { return fail(.outOfBandNotAvailable) }
        compute(
            .f6(
                key: keys.macKey.mostSignificantOctets, nonces.peer.mostSignificantOctets,
                nonces.local.mostSignificantOctets, localSecret.mostSignificantOctets,
                features: peerStatement(agreement).features, peerAddress, localAddress),
            for: .peerCheck(keys, peerCheck: value))
    }

    mutating func peerCheckKnown(_ value: Key128, _ keys: DerivedKeys, peerCheck: Key128) {
        guard isEqualInConstantTime(value.octets, peerCheck.octets) else { return fail(.dhKeyCheckFailed) }
        if isInitiator {
            encrypt(with: keys.longTermKey, keys.nonces.round.shared.agreement)
        } else {
            computeCheck(keys)
        }
    }
}

extension PairingMachine.Proof {
    /// The bit of the passkey for this round; zero if there are no rounds.
    fileprivate var bit: UInt8 {
        guard case .passkey(let passkey, let round) = self else { return 0 }
        return 0x80 | UInt8(truncatingIfNeeded: passkey.rawValue >> UInt128(round)) & 1
    }
}

extension P256PublicKey {
    /// The x-coordinate of the debug public key, whose private key is in the specification (Core 5.4, Vol 3, Part H,
    /// 2.3.5.6.1), most significant octet first. The y-coordinate may be either of the two that belong to it.
    private static let debugX: [UInt8] = [
        0x20, 0xB0, 0x03, 0xD2, 0xF2, 0x97, 0xBE, 0x2C, 0x5E, 0x2C, 0x83, 0xA7, 0xE9, 0xF9, 0xA5, 0xB9,
        0xEF, 0xF4, 0x91, 0x11, 0xAC, 0xF4, 0xFD, 0xDB, 0xCC, 0x03, 0x01, 0x48, 0x0E, 0x35, 0x9D, 0xE6,
    ]

    var isDebugKey: Bool { x == Self.debugX }
}
