import BLEPackets

/// The features of both sides, and what follows from them (Core 5.4, Vol 3, Part H, 2.3.1 to 2.3.5).
extension PairingMachine {
    /// Begins as the initiator.
    mutating func start(at now: Instant) {
        guard isInitiator, case .start = state else { return }
        if let question { return askUser(question, .beforeRequest(question), at: now) }
        sendRequest(now)
    }

    /// What the user is asked before this side sends anything.
    private var question: PairingQuestion.Kind? {
        if let identity = setup.unprovenIdentity { return .replaceBond(identity) }
        return setup.needsConsent ? .consent : nil
    }

    mutating func sendRequest(_ now: Instant) {
        var features = offer
        // An initiator that offers Secure Connections does not know yet which of its values will be used.
        features.hasOutOfBandData =
            setup.outOfBand.map { offersSecureConnections && $0.peer != nil || $0.temporaryKey != nil } ?? false
        let packet = SMPPacket.pairingRequest(features)
        send(packet, at: now)
        expect(.response(Statement(features: features, octets: packet.encoded())))
    }

    /// The initiator's features have arrived.
    mutating func requested(_ request: Statement, _ now: Instant) {
        let features = features(inReturnFor: request.features)
        let response = Statement(features: features, octets: SMPPacket.pairingResponse(features).encoded())
        let agreement = Agreement(initiator: request, responder: response)
        guard isAcceptable(agreement) else { return }
        if let question { return askUser(question, .beforeResponse(question, agreement), at: now) }
        sendResponse(agreement, now)
    }

    mutating func sendResponse(_ agreement: Agreement, _ now: Instant) {
        send(.pairingResponse(agreement.responder.features), at: now)
        beginPhaseTwo(agreement, now)
    }

    /// The responder's features have arrived.
    mutating func responded(_ response: Statement, to request: Statement, _ now: Instant) {
        let agreement = Agreement(initiator: request, responder: response)
        if isAcceptable(agreement) { beginPhaseTwo(agreement, now) }
    }

    private var offersSecureConnections: Bool { setup.options.authentication.contains(.secureConnections) }

    /// The features of a responder; its keys are limited to those that the initiator offers.
    private func features(inReturnFor peer: PairingFeatures) -> PairingFeatures {
        var features = offer
        features.initiatorKeys.formIntersection(peer.initiatorKeys)
        features.responderKeys.formIntersection(peer.responderKeys)
        let isSecureConnections = offersSecureConnections && peer.authentication.contains(.secureConnections)
        features.hasOutOfBandData =
            setup.outOfBand.map { isSecureConnections ? $0.peer != nil : $0.temporaryKey != nil } ?? false
        return features
    }

    /// - Returns: whether pairing continues.
    private mutating func isAcceptable(_ agreement: Agreement) -> Bool {
        model = agreement.model
        if let reason = refusal(of: agreement) {
            fail(reason)
            return false
        }
        if agreement.model.isPasskey, let failure = setup.passkeyRefusal {
            refusePasskey(failure)
            return false
        }
        return true
    }

    private func refusal(of agreement: Agreement) -> PairingFailedReason? {
        let options = setup.options
        let (model, isSecureConnections) = (agreement.model, agreement.isSecureConnections)
        if options.requiresSecureConnections, !isSecureConnections { return .authenticationRequirements }
        if options.requiresAuthentication, !model.isAuthenticated { return .authenticationRequirements }
        if agreement.keySize < options.leastKeySize { return .encryptionKeySize }
        if model == .outOfBand, !isSecureConnections, setup.outOfBand?.temporaryKey == nil {
            return .outOfBandNotAvailable
        }
        // The flag of one side says that it received the values of the other, which must then exist here: a peer that
        // sets its flag but never got our values would prove nothing with its check value.
        if model == .outOfBand, isSecureConnections {
            if localStatement(agreement).features.hasOutOfBandData, setup.outOfBand?.peer == nil {
                return .outOfBandNotAvailable
            }
            if peerStatement(agreement).features.hasOutOfBandData, setup.outOfBand?.local == nil {
                return .outOfBandNotAvailable
            }
        }
        return setup.bond?.refusal(
            secureConnections: isSecureConnections, authenticated: model.isAuthenticated, keySize: agreement.keySize)
    }

    func localStatement(_ agreement: Agreement) -> Statement { isInitiator ? agreement.initiator : agreement.responder }

    func peerStatement(_ agreement: Agreement) -> Statement { isInitiator ? agreement.responder : agreement.initiator }

    private mutating func beginPhaseTwo(_ agreement: Agreement, _ now: Instant) {
        guard agreement.isSecureConnections else { return beginLegacy(agreement, now) }
        if isInitiator { makeKeyPair(.initiator(agreement), now) } else { expect(.publicKey(agreement)) }
    }

    // MARK: Passkey

    /// Gets the passkey from settings, a random number or the user.
    /// - Parameter isShownByInitiator: `nil` if both users type it.
    mutating func obtainPasskey(isShownByInitiator: Bool?, for use: PasskeyUse, _ now: Instant) {
        let isShownHere = isShownByInitiator == isInitiator
        if let number = setup.options.passkey, number <= 999_999 {
            if isShownHere { display(number) }
            return passkeyKnown(number, use, now)
        }
        if isShownHere {
            ask(.random(count: 8), for: .passkey(use))
        } else {
            askUser(.enterPasskey, .enterPasskey(use), at: now)
        }
    }

    mutating func passkeyDrawn(_ octets: [UInt8], _ use: PasskeyUse, _ now: Instant) {
        guard octets.count == 8 else { return cryptoFailed() }
        // The number has 64 bits, so the bias of the remainder is negligible.
        let number = octets.reduce(0 as UInt64) { $0 << 8 | UInt64($1) } % 1_000_000
        display(UInt32(number))
        passkeyKnown(UInt32(number), use, now)
    }

    mutating func passkeyKnown(_ number: UInt32, _ use: PasskeyUse, _ now: Instant) {
        let passkey = Key128(rawValue: UInt128(number))
        switch use {
        case .legacy(let agreement): draw(.legacyRandom(agreement, temporaryKey: passkey))
        case .secureConnections(let shared): draw(.nonce(Round(shared: shared, proof: .passkey(passkey, round: 0))))
        }
    }
}

extension PairingFeatures {
    /// The features that a side would send if the other had ruled nothing out. Out-of-band data is left open.
    init(offeredBy setup: PairingMachine.Setup) {
        let options = setup.options
        var fromInitiator: KeyDistribution = options.isBonding ? options.initiatorKeys.subtracting(.link) : []
        var fromResponder: KeyDistribution = options.isBonding ? options.responderKeys.subtracting(.link) : []
        if setup.localIdentity == nil {
            switch setup.role {
            case .initiator: fromInitiator.remove(.identity)
            case .responder: fromResponder.remove(.identity)
            }
        }
        self.init(
            ioCapability: options.ioCapability, authentication: options.authentication,
            maximumKeySize: min(16, max(7, options.maximumKeySize)), initiatorKeys: fromInitiator,
            responderKeys: fromResponder)
    }
}
