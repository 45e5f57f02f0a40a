import BLEPackets

/// LE Secure Connections: a Diffie-Hellman key, and a proof that both sides have the same
/// (Core 5.4, Vol 3, Part H, 2.3.5.6).
extension PairingMachine {
    /// Rounds of passkey entry: one for each bit.
    static let roundCount = 20

    // MARK: Public keys

    /// The key pair is new for each pairing, but for one whose values were told out of band.
    mutating func makeKeyPair(_ now: Instant) {
        if let local = setup.outOfBand?.local, model == .outOfBand {
            return keyPairMade(local.privateKey, local.publicKey, now)
        }
        ask(.generateKeyPair, for: .keyPair)
    }

    mutating func keyPairMade(_ privateKey: [UInt8], _ publicKey: P256PublicKey, _ now: Instant) {
        guard let packetKey = BLEPackets.P256PublicKey(publicKey) else { return fail(.unspecifiedReason) }
        self.privateKey = privateKey
        localPublicKey = publicKey
        if isInitiator {
            send(.pairingPublicKey(packetKey), at: now)
            expect(.publicKey)
        } else {
            makeSecret()
        }
    }

    mutating func publicKeyReceived(_ key: BLEPackets.P256PublicKey, _ now: Instant) {
        peerPublicKey = P256PublicKey(key)
        guard setup.options.acceptsDebugKeys || !peerPublicKey.isDebugKey else { return fail(.invalidParameters) }
        if isInitiator { makeSecret() } else { makeKeyPair(now) }
    }

    /// A peer that shows our own key, with whichever y, would agree with us on everything and know nothing.
    private mutating func makeSecret() {
        guard peerPublicKey.x != localPublicKey.x else { return fail(.invalidParameters) }
        ask(.sharedSecret(privateKey: privateKey, peerPublicKey: peerPublicKey), for: .secret)
    }

    mutating func secretKnown(_ octets: [UInt8], _ now: Instant) {
        secret = octets
        if !isInitiator {
            guard let packetKey = BLEPackets.P256PublicKey(localPublicKey) else { return fail(.unspecifiedReason) }
            send(.pairingPublicKey(packetKey), at: now)
        }
        switch model {
        case .justWorks, .numericComparison: drawNonce()
        case .passkeyShownByInitiator, .passkeyShownByResponder, .passkeyTypedByBoth: obtainPasskey(now)
        case .outOfBand:
            guard let peer = setup.outOfBand?.peer, localHasOutOfBandData else { return drawNonce() }
            compute(
                .f4(peerPublicKey.x, peerPublicKey.x, key: peer.random.mostSignificantOctets, 0),
                for: .outOfBandConfirm)
        }
    }

    mutating func outOfBandConfirmKnown(_ value: Key128, _ now: Instant) {
        guard let peer = setup.outOfBand?.peer, isEqualInConstantTime(value.octets, peer.confirm.octets) else {
            return fail(.confirmValueFailed)
        }
        drawNonce()
    }

    var localHasOutOfBandData: Bool {
        (isInitiator ? initiatorFeatures : responderFeatures)?.hasOutOfBandData ?? false
    }

    var peerHasOutOfBandData: Bool {
        (isInitiator ? responderFeatures : initiatorFeatures)?.hasOutOfBandData ?? false
    }

    // MARK: Confirm and random

    mutating func beginRound(_ now: Instant) { drawNonce() }

    private mutating func drawNonce() { ask(.random(count: 16), for: .nonce) }

    mutating func nonceDrawn(_ value: Key128, _ now: Instant) {
        localRandom = value
        switch model {
        case .outOfBand:
            if isInitiator { send(.pairingRandom(value), at: now) }
            expect(.random)
        case .justWorks, .numericComparison:
            // The responder alone commits itself: the initiator shows its value first.
            if isInitiator { expect(.confirm) } else { computeConfirm() }
        case .passkeyShownByInitiator, .passkeyShownByResponder, .passkeyTypedByBoth: computeConfirm()
        }
    }

    private mutating func computeConfirm() {
        compute(
            .f4(localPublicKey.x, peerPublicKey.x, key: localRandom.mostSignificantOctets, roundBit), for: .confirm)
    }

    /// The bit of the passkey that this round is about; zero where there are no rounds.
    private var roundBit: UInt8 {
        guard model.isPasskey else { return 0 }
        return 0x80 | UInt8(truncatingIfNeeded: passkey.rawValue >> UInt128(round)) & 1
    }

    mutating func confirmKnown(_ value: Key128, _ now: Instant) {
        localConfirm = value
        if !model.isPasskey {
            send(.pairingConfirm(value), at: now)
            return expect(.random)
        }
        if isInitiator { send(.pairingConfirm(value), at: now) }
        expect(.confirm)
    }

    mutating func confirmReceived(_ value: Key128, _ now: Instant) {
        guard value != localConfirm || !model.isPasskey else { return fail(.confirmValueFailed) }
        peerIsCommitted(by: value, now)
    }

    /// The initiator shows what it has committed to; the responder commits itself first.
    mutating func peerIsCommitted(by value: Key128, _ now: Instant) {
        peerConfirm = value
        if isInitiator {
            send(.pairingRandom(localRandom), at: now)
        } else {
            send(.pairingConfirm(localConfirm), at: now)
        }
        expect(.random)
    }

    mutating func randomReceived(_ value: Key128, _ now: Instant) {
        guard value != localRandom else { return fail(.confirmValueFailed) }
        peerRandom = value
        let isCommitted = model.isPasskey || isInitiator
        guard model != .outOfBand, isCommitted else {
            if !isInitiator { send(.pairingRandom(localRandom), at: now) }
            return randomsKnown(now)
        }
        compute(.f4(peerPublicKey.x, localPublicKey.x, key: value.mostSignificantOctets, roundBit), for: .peerConfirm)
    }

    mutating func peerConfirmKnown(_ value: Key128, _ now: Instant) {
        guard isEqualInConstantTime(value.octets, peerConfirm.octets) else { return fail(.confirmValueFailed) }
        guard model.isPasskey else { return randomsKnown(now) }
        if !isInitiator { send(.pairingRandom(localRandom), at: now) }
        round += 1
        if round < Self.roundCount { drawNonce() } else { deriveKeys(now) }
    }

    private mutating func randomsKnown(_ now: Instant) {
        guard model == .numericComparison else { return deriveKeys(now) }
        let initiatorKey = isInitiator ? localPublicKey : peerPublicKey
        let responderKey = isInitiator ? peerPublicKey : localPublicKey
        compute(
            .g2(
                initiatorKey.x, responderKey.x, key: initiatorRandom.mostSignificantOctets,
                responderRandom.mostSignificantOctets),
            for: .number)
    }

    private var initiatorRandom: Key128 { isInitiator ? localRandom : peerRandom }
    private var responderRandom: Key128 { isInitiator ? peerRandom : localRandom }

    mutating func numberKnown(_ octets: [UInt8], _ now: Instant) {
        guard octets.count == 4 else { return fail(.unspecifiedReason) }
        askUser(.compare(octets.reduce(0 as UInt32) { $0 << 8 | UInt32($1) } % 1_000_000), at: now)
    }

    // MARK: Check

    mutating func deriveKeys(_ now: Instant) {
        compute(
            .f5(
                secret, initiatorNonce: initiatorRandom.mostSignificantOctets,
                responderNonce: responderRandom.mostSignificantOctets, initiator: setup.initiatorAddress,
                responder: setup.responderAddress),
            for: .keys)
    }

    mutating func keysKnown(_ octets: [UInt8], _ now: Instant) {
        guard let macKey = Key128(mostSignificantFirst: [UInt8](octets.prefix(16))),
            let longTermKey = Key128(mostSignificantFirst: [UInt8](octets.dropFirst(16)))
        else { return fail(.unspecifiedReason) }
        self.macKey = macKey
        linkKey = longTermKey.shortened(to: keySize)
        if isInitiator { computeCheck() } else { expect(.check) }
    }

    private mutating func computeCheck() {
        guard let features = isInitiator ? initiatorFeatures : responderFeatures else { return }
        guard let peerSecret else { return fail(.outOfBandNotAvailable) }
        compute(
            .f6(
                key: macKey.mostSignificantOctets, localRandom.mostSignificantOctets,
                peerRandom.mostSignificantOctets, peerSecret.mostSignificantOctets, features: features, localAddress,
                peerAddress),
            for: .check)
    }

    /// What the peer gave us beside its nonce: the passkey, or its value told out of band; zero where it told none, `nil`
    /// where it should have.
    private var peerSecret: Key128? {
        if model.isPasskey { return passkey }
        return model == .outOfBand && localHasOutOfBandData ? setup.outOfBand?.peer?.random : .zero
    }

    /// What we gave the peer, likewise.
    private var localSecret: Key128? {
        if model.isPasskey { return passkey }
        return model == .outOfBand && peerHasOutOfBandData ? setup.outOfBand?.local?.random : .zero
    }

    mutating func checkKnown(_ value: Key128, _ now: Instant) {
        send(.pairingDHKeyCheck(value), at: now)
        if isInitiator {
            expect(.check)
        } else if let linkKey {
            encrypt(with: linkKey)
        }
    }

    mutating func checkReceived(_ value: Key128, _ now: Instant) {
        guard let features = isInitiator ? responderFeatures : initiatorFeatures else { return }
        guard let localSecret else { return fail(.outOfBandNotAvailable) }
        peerCheck = value
        compute(
            .f6(
                key: macKey.mostSignificantOctets, peerRandom.mostSignificantOctets,
                localRandom.mostSignificantOctets, localSecret.mostSignificantOctets, features: features, peerAddress,
                localAddress),
            for: .peerCheck)
    }

    mutating func peerCheckKnown(_ value: Key128, _ now: Instant) {
        guard isEqualInConstantTime(value.octets, peerCheck.octets) else { return fail(.dhKeyCheckFailed) }
        if !isInitiator {
            computeCheck()
        } else if let linkKey {
            encrypt(with: linkKey)
        }
    }
}

extension P256PublicKey {
    /// As it travels: both coordinates the other way round.
    init(_ key: BLEPackets.P256PublicKey) {
        self.init(x: key.octets.prefix(32).reversed(), y: key.octets.dropFirst(32).reversed())
    }
}

extension BLEPackets.P256PublicKey {
    /// `nil` where a coordinate has not 32 octets.
    init?(_ key: BLEHost.P256PublicKey) {
        guard key.x.count == 32, key.y.count == 32 else { return nil }
        self.init(octets: key.x.reversed() + key.y.reversed())
    }
}

extension P256PublicKey {
    /// The x of the key whose private half the specification prints (Core 5.4, Vol 3, Part H, 2.3.5.6.1), most
    /// significant octet first. The y may be either of the two that belong to it.
    private static let debugX: [UInt8] = [
        0x20, 0xB0, 0x03, 0xD2, 0xF2, 0x97, 0xBE, 0x2C, 0x5E, 0x2C, 0x83, 0xA7, 0xE9, 0xF9, 0xA5, 0xB9,
        0xEF, 0xF4, 0x91, 0x11, 0xAC, 0xF4, 0xFD, 0xDB, 0xCC, 0x03, 0x01, 0x48, 0x0E, 0x35, 0x9D, 0xE6,
    ]

    var isDebugKey: Bool { x == Self.debugX }
}
