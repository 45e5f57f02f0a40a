import BLEPackets

/// What both sides can do, and what follows from it (Core 5.4, Vol 3, Part H, 2.3.1 to 2.3.5).
extension PairingMachine {
    /// The initiator begins.
    mutating func start(at now: Instant) {
        guard isInitiator, case .start = waiting else { return }
        if let question { return askUser(question, at: now) }
        sendRequest(now)
    }

    /// What the user is asked before this side says anything.
    private var question: PairingQuestion.Kind? {
        if let identity = setup.unprovenIdentity { return .replaceBond(identity) }
        return setup.needsConsent ? .consent : nil
    }

    private mutating func sendRequest(_ now: Instant) {
        let features = localFeatures(initiatorKeys: .all, responderKeys: .all)
        initiatorFeatures = features
        requestOctets = SMPPacket.pairingRequest(features).encoded()
        send(.pairingRequest(features), at: now)
        expect(.response)
    }

    /// The initiator's features came.
    mutating func requested(_ features: PairingFeatures, _ pdu: RawSpan, _ now: Instant) {
        initiatorFeatures = features
        requestOctets = pdu.copied()
        let response = localFeatures(initiatorKeys: features.initiatorKeys, responderKeys: features.responderKeys)
        responderFeatures = response
        responseOctets = SMPPacket.pairingResponse(response).encoded()
        guard agree() else { return }
        if let question { return askUser(question, at: now) }
        sendResponse(now)
    }

    private mutating func sendResponse(_ now: Instant) {
        guard let features = responderFeatures else { return }
        send(.pairingResponse(features), at: now)
        beginPhaseTwo(now)
    }

    mutating func consented(_ now: Instant) {
        if isInitiator { sendRequest(now) } else { sendResponse(now) }
    }

    /// The responder's features came.
    mutating func responded(_ features: PairingFeatures, _ pdu: RawSpan, _ now: Instant) {
        responderFeatures = features
        responseOctets = pdu.copied()
        if agree() { beginPhaseTwo(now) }
    }

    /// What this side says of itself; of the keys what the other has not ruled out.
    private func localFeatures(initiatorKeys: KeyDistribution, responderKeys: KeyDistribution) -> PairingFeatures {
        let options = setup.options
        var fromInitiator = options.isBonding ? options.initiatorKeys.intersection(initiatorKeys) : []
        var fromResponder = options.isBonding ? options.responderKeys.intersection(responderKeys) : []
        fromInitiator.remove(.link)
        fromResponder.remove(.link)
        if setup.localIdentity == nil {
            if isInitiator { fromInitiator.remove(.identity) } else { fromResponder.remove(.identity) }
        }
        var hasOutOfBandData = false
        if let data = setup.outOfBand {
            // An initiator that offers Secure Connections does not know yet which of the two will be of use.
            let mayBeLegacy = !usesSecureConnections(initiatorFeatures) || initiatorFeatures == nil
            hasOutOfBandData =
                usesSecureConnections(initiatorFeatures) && data.peer != nil || mayBeLegacy && data.temporaryKey != nil
        }
        return PairingFeatures(
            ioCapability: options.ioCapability, hasOutOfBandData: hasOutOfBandData,
            authentication: options.authentication, maximumKeySize: min(16, max(7, options.maximumKeySize)),
            initiatorKeys: fromInitiator, responderKeys: fromResponder)
    }

    /// Whether Secure Connections will be used, as far as it can be known: an initiator goes by what it offers.
    private func usesSecureConnections(_ peer: PairingFeatures?) -> Bool {
        setup.options.authentication.contains(.secureConnections)
            && peer?.authentication.contains(.secureConnections) ?? true
    }

    /// Sees what both features lead to.
    /// - Returns: whether pairing goes on.
    private mutating func agree() -> Bool {
        guard let initiator = initiatorFeatures, let responder = responderFeatures else {
            fail(.unspecifiedReason)
            return false
        }
        isSecureConnections =
            initiator.authentication.contains(.secureConnections)
            && responder.authentication.contains(.secureConnections)
        model = AssociationModel(initiator: initiator, responder: responder, isSecureConnections: isSecureConnections)
        keySize = min(initiator.maximumKeySize, responder.maximumKeySize)
        if let reason = refusal() {
            fail(reason)
            return false
        }
        if model.isPasskey, let failure = setup.passkeyRefusal {
            refusePasskey(failure)
            return false
        }
        outcome.isSecureConnections = isSecureConnections
        outcome.isAuthenticated = model.isAuthenticated
        outcome.keySize = keySize
        outcome.isBonding = initiator.authentication.isBonding && responder.authentication.isBonding
        return true
    }

    private func refusal() -> PairingFailedReason? {
        let options = setup.options
        if options.requiresSecureConnections, !isSecureConnections { return .authenticationRequirements }
        if options.requiresAuthentication, !model.isAuthenticated { return .authenticationRequirements }
        if keySize < options.leastKeySize { return .encryptionKeySize }
        if model == .outOfBand, !isSecureConnections, setup.outOfBand?.temporaryKey == nil {
            return .outOfBandNotAvailable
        }
        // A flag stands for values that went the other way, and those have to be here: a peer that sets its own and never
        // got ours would prove nothing with its check value.
        if model == .outOfBand, isSecureConnections {
            if localHasOutOfBandData, setup.outOfBand?.peer == nil { return .outOfBandNotAvailable }
            if peerHasOutOfBandData, setup.outOfBand?.local == nil { return .outOfBandNotAvailable }
        }
        return setup.bond?.refusal(
            secureConnections: isSecureConnections, authenticated: model.isAuthenticated, keySize: keySize)
    }

    private mutating func beginPhaseTwo(_ now: Instant) {
        guard isSecureConnections else { return beginLegacy(now) }
        if isInitiator { makeKeyPair(now) } else { expect(.publicKey) }
    }

    // MARK: Passkey

    /// Gets the passkey from settings, a random number or the user.
    mutating func obtainPasskey(_ now: Instant) {
        let isShownHere =
            switch model {
            case .passkeyShownByInitiator: isInitiator
            case .passkeyShownByResponder: !isInitiator
            default: false
            }
        if let number = setup.options.passkey, number <= 999_999 {
            if isShownHere { display(number) }
            return passkeyKnown(number, now)
        }
        if isShownHere { ask(.random(count: 8), for: .passkey) } else { askUser(.enterPasskey, at: now) }
    }

    mutating func passkeyDrawn(_ octets: [UInt8], _ now: Instant) {
        guard octets.count == 8 else { return fail(.unspecifiedReason) }
        // Of 2⁶⁴ numbers the surplus behind the last whole million weighs nothing.
        let number = octets.reduce(0 as UInt64) { $0 << 8 | UInt64($1) } % 1_000_000
        display(UInt32(number))
        passkeyKnown(UInt32(number), now)
    }

    mutating func passkeyKnown(_ number: UInt32, _ now: Instant) {
        passkey = Key128(rawValue: UInt128(number))
        if isSecureConnections { beginRound(now) } else { drawLegacyRandom() }
    }
}

extension KeyDistribution {
    static let all: KeyDistribution = [.encryption, .identity, .signing, .link]
}
