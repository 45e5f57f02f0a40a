import BLEPackets

/// The ATT bearer of a link: what comes is our client's, or the server's that every link shares.
extension Link {
    // MARK: Inputs

    func start(
        _ request: GATTOperation, operation: OperationID, client: ClientID, at now: Instant,
        into effects: inout Effects
    ) {
        gatt.start(request, id: operation, client: client, at: now)
        takeClientActions(into: &effects)
    }

    func startSigned(
        _ pdu: [UInt8], operation: OperationID, client: ClientID, at now: Instant, into effects: inout Effects
    ) {
        gatt.startSigned(pdu, id: operation, client: client, at: now)
        takeClientActions(into: &effects)
    }

    func exchangeMTU(
        preferred: UInt16, operation: OperationID, at now: Instant, into effects: inout Effects
    ) {
        mtuExchange = operation
        start(.exchangeMTU(preferred: preferred), operation: operation, client: .local, at: now, into: &effects)
    }

    /// One whole PDU of the attribute protocol.
    /// - Returns: whether it is the server's.
    func receiveAttributePDU(_ pdu: RawSpan, at now: Instant, into effects: inout Effects) -> Bool {
        let isForServer = gatt.receive(pdu, at: now)
        takeClientActions(into: &effects)
        return isForServer
    }

    /// Whether a PDU that came through a closed gate is taken notice of.
    func admits(_ pdu: RawSpan, into effects: inout Effects) -> Bool {
        switch security.admission(of: pdu) {
        case .take: return true
        case .confirm: send(ATTHandleValueConfirmation().encoded(), on: .attributeProtocol, into: &effects)
        case .drop: break
        }
        security.noteCleartext(into: &effects)
        return false
    }

    /// Whether an ATT PDU has to wait for the end of a change of key.
    func hold(_ pdu: RawSpan, into effects: inout Effects) -> Bool {
        guard security.holdsPDUs else { return false }
        if !security.hold(pdu) {
            effects.counters.floodedLinks &+= 1
            end(.remoteDeviceLowResources, into: &effects)
        }
        return true
    }

    /// Indications of what these clients hold are left unconfirmed.
    func holdIndications(of clients: [ClientID], into effects: inout Effects) {
        gatt.hold(for: clients)
        takeClientActions(into: &effects)
    }

    func cancelAttributeOperation(_ operation: OperationID, at now: Instant, into effects: inout Effects) {
        gatt.cancel(operation, at: now)
        takeClientActions(into: &effects)
    }

    func advanceAttributes(to now: Instant, into effects: inout Effects) {
        guard let deadline = gatt.nextDeadline, deadline <= now else { return }
        gatt.advance(to: now)
        takeClientActions(into: &effects)
    }

    /// The link has the security that was asked for, or has it not: what waited for it goes on, or ends.
    func secured(_ failure: SecurityFailure?, at now: Instant, into effects: inout Effects) {
        gatt.secured(failure, at: now)
        takeClientActions(into: &effects)
        channelsSecured(failure, at: now, into: &effects)
    }

    /// The peer could not prove itself: what waits for that ends.
    func refuseGate(_ failure: SecurityFailure, at now: Instant, into effects: inout Effects) {
        guard let answers = security.refuseGate(failure) else { return }
        unsentAnswers -= answers
        gatt.endOperations(.security(failure), at: now)
        takeClientActions(into: &effects)
        channelsSecured(failure, at: now, into: &effects)
    }

    // MARK: What the server knows of the link

    /// Puts what an attribute server has to know of the link's security into what it knows.
    func describeSecurity(to server: inout GATTLinkSecurity, _ bonds: Bonds, policy: PairingOptions) {
        let inUse = security.keyInUse
        if let key = inUse ?? bonds.bond(for: security.identity)?.keyProperties {
            server.keys = key.isAuthenticated ? .authenticated : .unauthenticated
        } else {
            server.keys = .none
        }
        server.isEncrypted = inUse != nil
        server.keySize = inUse?.size ?? 16
        server.shortfall = inUse?.shortfall(of: KeyDemand(policy)).map {
            switch $0 {
            case .authentication: .insufficientAuthentication
            case .size: .insufficientEncryptionKeySize
            }
        }
    }

    // MARK: Outputs

    /// Takes what the GATT client wants done.
    func takeClientActions(into effects: inout Effects) {
        while let action = gatt.nextAction() {
            switch action {
            case .send(let pdu, let tag): send(pdu, on: .attributeProtocol, tag: tag, into: &effects)
            case .event(.completed(let operation, let result)): completed(operation, result, into: &effects)
            case .event(let event): effects.events.append(.gatt(id, event))
            case .secure(let error): effects.wishes.append((self, .secure(error)))
            case .disconnect: end(.remoteUserTerminatedConnection, into: &effects)
            }
        }
    }

    private func completed(
        _ operation: OperationID, _ result: Result<GATTResult, GATTFailure>, into effects: inout Effects
    ) {
        guard operation != mtuExchange else {
            // Our own exchange of ATT_MTU: whatever came of it, the link can be used. A peer that proves itself later
            // is asked again.
            if case .failure(.security) = result { mtuExchange = nil }
            guard case .settingUp = state else { return }
            if gatt.isUnlinked { return }
            return open(into: &effects)
        }
        switch result {
        case .success(let value): effects.complete(operation, .success(.gatt(value)))
        case .failure(let failure): effects.complete(operation, .failure(.gatt(failure)))
        }
    }
}
