import BLEPackets

/// The signalling channel of a link, and the credit-based channels that it opens and closes.
extension Link {
    // MARK: Commands

    /// Opens a channel; to a bonded peer only after the peer has proved its identity. If the peer refuses because of
    /// insufficient security, the link is secured first.
    func openChannel(
        _ spsm: UInt16, _ settings: ChannelSettings, enhancedCount: Int? = nil, operation: OperationID,
        client: ClientID, _ pairings: inout Pairings, into effects: inout Effects
    ) {
        guard (0x0001...0x00FF).contains(spsm) else {
            return effects.complete(operation, .failure(.channel(.invalidSPSM)))
        }
        var opening = LinkSecurityMachine.ChannelOpening(
            operation: operation, client: client, spsm: spsm, settings: settings, enhancedCount: enhancedCount)
        guard security.isGated else {
            let mayBeSecured = pairings.settings.pairsOnDemand && pairings.bonds.hasCryptoProvider
            if mayBeSecured { security.channelOpenings.append(opening) }
            return begin(opening, into: &effects)
        }
        if let failure = security.proofFailure {
            return effects.complete(operation, .failure(.security(failure)))
        }
        opening.isWaiting = true
        security.channelOpenings.append(opening)
        proveBond(&pairings, into: &effects)
    }

    private func begin(_ opening: LinkSecurityMachine.ChannelOpening, into effects: inout Effects) {
        if !signalling.mayOpen(opening.enhancedCount ?? 1, opening.client, effects.commands.users) {
            signalling.refuseChannels(of: opening.operation)
        } else if let count = opening.enhancedCount {
            signalling.openEnhancedChannels(
                count, opening.spsm, opening.settings, operation: opening.operation, client: opening.client,
                at: effects.now)
        } else {
            signalling.openChannel(
                opening.spsm, opening.settings, operation: opening.operation, client: opening.client, at: effects.now)
        }
        performChannelActions(into: &effects)
    }

    func reconfigureChannels(
        _ numbers: [UInt32], maximumTransmissionUnit: UInt16, maximumPayloadSize: UInt16, operation: OperationID,
        into effects: inout Effects
    ) {
        signalling.reconfigureChannels(
            numbers, maximumTransmissionUnit: maximumTransmissionUnit, maximumPayloadSize: maximumPayloadSize,
            operation: operation, at: effects.now)
        performChannelActions(into: &effects)
    }

    func sendUnit(_ octets: [UInt8], on number: UInt32, operation: OperationID, into effects: inout Effects) {
        signalling.sendUnit(octets, on: number, operation: operation)
        performChannelActions(into: &effects)
    }

    func consumeUnits(_ count: Int, on number: UInt32, into effects: inout Effects) {
        signalling.consumeUnits(count, on: number)
        performChannelActions(into: &effects)
    }

    func closeChannel(_ number: UInt32, operation: OperationID, into effects: inout Effects) {
        signalling.closeChannel(number, operation: operation, at: effects.now)
        performChannelActions(into: &effects)
    }

    /// Cancels an attempt to open a channel.
    /// - Returns: whether there was such an attempt.
    func cancelChannel(_ operation: OperationID, into effects: inout Effects) -> Bool {
        if cancelChannelOpening(operation, into: &effects) { return true }
        guard signalling.cancelChannel(operation) else { return false }
        performChannelActions(into: &effects)
        return true
    }

    /// - Returns: whether the operation waited for security.
    func cancelChannelOpening(_ operation: OperationID, into effects: inout Effects) -> Bool {
        guard let index = security.channelOpenings.firstIndex(where: { $0.operation == operation }) else {
            return false
        }
        let isWaiting = security.channelOpenings.remove(at: index).isWaiting
        if isWaiting { effects.complete(operation, .failure(.cancelled)) }
        return isWaiting
    }

    // MARK: What the peer sends

    /// One packet of the signalling channel.
    /// - Parameter listeners: the clients that accept channels from the peer.
    func receiveSignalling(
        _ payload: RawSpan, _ rooms: inout Rooms, into effects: inout Effects
    ) throws(DecodingError) {
        let reaction: SignallingChannel.Reaction
        do throws(DecodingError) {
            reaction = try signalling.receive(payload, role: role)
        } catch {
            if let identifier = SignallingChannel.identifier(ofMalformedRequest: payload) {
                send(.notUnderstood, identifier: identifier, into: &effects)
            }
            throw error
        }
        switch reaction {
        case .none: break
        case .stray: effects.counters.strayPackets &+= 1
        case .reply(let command, let identifier): send(command, identifier: identifier, into: &effects)
        case .accept(let wished, let identifier):
            // While our own update runs, the peer's request is rejected; the peer may ask again.
            let granted = parameterPolicy.granted(wished)
            let isAccepted = granted.map { startOwn(.updateParameters($0), into: &effects) } ?? false
            if Features.pace, isAccepted, let granted { pace?.adopt(granted) }
            send(
                .connectionParameterUpdateResponse(.init(result: isAccepted ? .accepted : .rejected)),
                identifier: identifier, into: &effects)
        case .channels(let command, let identifier):
            let isUnproven = security.isGated && role == .central
            if isUnproven { security.recordCleartext(into: &effects) }
            let key = security.lastKey
            let hasKeys = rooms.pairings.bonds.hasBond(with: security.identity)
            let policy = rooms.pairings.settings.pairing
            let bearer = bearers.settings.map { $0.channel }
            let isGated = security.isGated
            var demander: ClientID?
            signalling.receiveOnChannels(
                command, identifier: identifier,
                listener: { spsm in
                    if Features.enhancedBearers, spsm == EnhancedBearers.spsm, let bearer {
                        // Enhanced bearers are used on encrypted links only (Core 5.4, Vol 3, Part G, 5.3.2).
                        let refusal =
                            isGated
                            ? .insufficientEncryption : ChannelSecurity().refusal(of: key, hasKeys: hasKeys, policy)
                        return refusal.map { .failure(.refused($0)) } ?? .success((.attributeBearers, bearer))
                    }
                    guard let listener = rooms.listeners[spsm] else { return .failure(.refused(.spsmNotSupported)) }
                    // No client here wants data from a peripheral that has not proved its identity.
                    if isUnproven { return .failure(.refused(.insufficientEncryption)) }
                    if let demand = listener.demand, let refusal = demand.refusal(of: key, hasKeys: hasKeys, policy) {
                        demander = listener.client
                        return .failure(.refused(refusal))
                    }
                    return .success((listener.client, listener.settings))
                }, at: effects.now)
            if let demander { security.demander = demander }
            performChannelActions(into: &effects)
        case .parametersAnswered(let isAccepted):
            // If accepted, the central updates the link, which ends the operation.
            if !isAccepted {
                finish(LEConnectionUpdate.opcode, with: .failure(.rejectedByPeer), into: &effects)
            }
        }
    }

    /// Receives a frame for a dynamic channel identifier, whether or not this side has allocated it.
    func receiveChannelFrame(_ payload: RawSpan, on local: L2CAPChannelIdentifier, into effects: inout Effects) {
        if !signalling.receiveFrame(payload, on: local, at: effects.now) { effects.counters.strayPackets &+= 1 }
        performChannelActions(into: &effects)
    }

    // MARK: Time

    func advanceSignalling(into effects: inout Effects) {
        if signalling.advance(to: effects.now) {
            finish(LEConnectionUpdate.opcode, with: .failure(.rejectedByPeer), into: &effects)
        }
        performChannelActions(into: &effects)
    }

    // MARK: Security

    /// The link is as secure as it will get: refused attempts are repeated, or fail with the peer's refusal.
    /// - Parameter client: only the attempts of this client; `nil`: all.
    func channelsSecured(_ failure: SecurityFailure?, of client: ClientID? = nil, into effects: inout Effects) {
        if failure == nil, security.isGated { return }
        for opening in security.channelOpenings where opening.isWaiting && client ?? opening.client == opening.client {
            guard let index = security.channelOpenings.firstIndex(where: { $0.operation == opening.operation }) else {
                continue
            }
            guard failure == nil, !isClosing else {
                security.channelOpenings.remove(at: index)
                let told: HostFailure? = opening.refusal.map { .channel($0) } ?? failure.map { .security($0) }
                effects.complete(opening.operation, .failure(told ?? .channel(.notOpen)))
                continue
            }
            security.channelOpenings[index].isWaiting = false
            begin(opening, into: &effects)
        }
    }

    /// If a peer refuses a channel because the link is not secure enough, it is asked once more when the link is secure
    /// (Core 5.4, Vol 3, Part C, 10.3.1).
    /// - Returns: whether the operation now waits for security.
    private func waitForSecurity(
        _ operation: OperationID, _ failure: ChannelFailure, into effects: inout Effects
    ) -> Bool {
        guard let index = security.channelOpenings.firstIndex(where: { $0.operation == operation }) else {
            return false
        }
        guard let error = failure.attError, security.channelOpenings[index].refusal == nil, !isClosing else {
            security.channelOpenings.remove(at: index)
            return false
        }
        security.channelOpenings[index].refusal = failure
        security.channelOpenings[index].isWaiting = true
        effects.deferred.append((self, .secure(error, for: security.channelOpenings[index].client)))
        return true
    }

    // MARK: Outputs

    /// Carries out the actions of the channels.
    func performChannelActions(into effects: inout Effects) {
        while let action = signalling.nextChannelAction() {
            if bearers.concerns(action) {
                bearersChanged(action, into: &effects)
                continue
            }
            switch action {
            case .signal(let command, let identifier): send(command, identifier: identifier, into: &effects)
            case .frame(let channel, let payload, let number):
                send(payload, on: channel, tag: .channel(number), into: &effects)
            case .opened(let terms, let client):
                effects.events.append(.channel(.opened(ChannelInformation(terms, on: id), client)))
            case .received(let number, let octets):
                effects.events.append(.channel(.received(ChannelID(link: id, number: number), octets)))
            case .closed(let number, let end):
                effects.events.append(.channel(.closed(ChannelID(link: id, number: number), end)))
            case .unitSent: break
            case .reconfigured(let terms):
                effects.events.append(.channel(.reconfigured(ChannelInformation(terms, on: id))))
            case .completed(let operation, .success(let answer)):
                security.channelOpenings.removeAll { $0.operation == operation }
                let result: HostResult =
                    switch answer {
                    case .done: .done
                    case .opened(let terms): .channel(ChannelInformation(terms, on: id))
                    case .openedSeveral(let terms): .channels(terms.map { ChannelInformation($0, on: id) })
                    }
                effects.complete(operation, .success(result))
            case .completed(let operation, .failure(let failure)):
                if waitForSecurity(operation, failure, into: &effects) { continue }
                effects.complete(operation, .failure(.channel(failure)))
            }
        }
    }
}

extension ChannelFailure {
    /// The attribute protocol's error for a refusal that better security can resolve; `nil` for any other failure.
    var attError: ATTError? {
        switch self {
        case .refused(.insufficientAuthentication): .insufficientAuthentication
        case .refused(.insufficientEncryption): .insufficientEncryption
        case .refused(.insufficientEncryptionKeySize): .insufficientEncryptionKeySize
        case .refused, .notReconfigurable, .invalidAnswer, .notOpen, .noResources, .unitTooLong, .invalidSPSM: nil
        }
    }
}

extension ChannelSecurity {
    /// Why a key is not sufficient; `nil` if it is. A peer without keys has to pair, a peer with keys has to encrypt
    /// (Core 5.4, Vol 3, Part C, 10.3.1).
    /// - Parameter policy: what this side requires of every key.
    fileprivate func refusal(
        of key: KeyProperties?, hasKeys: Bool, _ policy: PairingOptions
    ) -> L2CAPCreditBasedConnectionResult? {
        guard let key else { return hasKeys ? .insufficientEncryption : .insufficientAuthentication }
        return key.shortfall(of: KeyDemand(policy).raised(by: self)).map {
            switch $0 {
            case .authentication: .insufficientAuthentication
            case .size: .insufficientEncryptionKeySize
            }
        }
    }
}

extension ChannelInformation {
    fileprivate init(_ terms: CreditBasedChannels.Terms, on link: LinkID) {
        self.init(
            id: ChannelID(link: link, number: terms.number), spsm: terms.spsm, sendMTU: terms.sendMTU,
            receiveMTU: terms.receiveMTU)
    }
}
