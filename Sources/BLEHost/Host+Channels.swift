import BLEPackets

/// Credit-based channels: who listens, what goes out and what comes in.
extension Host {
    mutating func performOnChannels(
        _ command: HostCommand, operation: OperationID, client: ClientID, at now: Instant
    ) {
        guard configuration.ownership == .exclusive else {
            return complete(operation, .failure(.invalidRequest(.notAvailableOnSharedController)))
        }
        switch command {
        case .listenForChannels(let spsm, let settings, let requiresEncryption, let demanded):
            let demand = demanded ?? (requiresEncryption ? ChannelSecurity() : nil)
            do throws(ChannelFailure) {
                let chosen = try channelListeners.add(
                    spsm, settings, demand: demand, operation: operation, client: client)
                complete(operation, .success(.listening(spsm: chosen)))
            } catch { complete(operation, .failure(.channel(error))) }
        case .stopListeningForChannels(let spsm):
            let isRemoved = channelListeners.remove(spsm, of: client)
            complete(operation, isRemoved ? .success(.done) : .failure(.channel(.invalidSPSM)))
        case .openChannel(let link, let spsm, let settings):
            guard let slot = openSlot(of: link) else { return complete(operation, .failure(.notConnected)) }
            guard (0x0001...0x00FF).contains(spsm) else { return complete(operation, .failure(.channel(.invalidSPSM))) }
            if links[slot].security.isGated {
                return openWhenProven(
                    .init(
                        operation: operation, client: client, spsm: spsm, settings: settings, isWaiting: true), slot,
                    at: now)
            }
            if security.pairsOnDemand, configuration.hasToolbox {
                links[slot].security.channelOpenings.append(
                    .init(operation: operation, client: client, spsm: spsm, settings: settings))
            }
            links[slot].signalling.openChannel(spsm, settings, operation: operation, client: client, at: now)
            drainChannels(slot, at: now)
        case .sendOnChannel(let channel, let octets):
            guard let slot = openSlot(of: channel.link) else {
                return complete(operation, .failure(.channel(.notOpen)))
            }
            links[slot].signalling.sendUnit(octets, on: channel.number, operation: operation)
            drainChannels(slot, at: now)
        case .consumeChannelData(let channel, let units):
            if let slot = openSlot(of: channel.link) {
                links[slot].signalling.consumeUnits(units, on: channel.number)
                drainChannels(slot, at: now)
            }
            complete(operation, .success(.done))
        case .closeChannel(let channel):
            guard let slot = openSlot(of: channel.link) else {
                return complete(operation, .failure(.channel(.notOpen)))
            }
            links[slot].signalling.closeChannel(channel.number, operation: operation, at: now)
            drainChannels(slot, at: now)
        default: break
        }
    }

    private func openSlot(of link: LinkID) -> Int? {
        guard let slot = links.slot(of: link), !links[slot].isClosing else { return nil }
        return slot
    }

    mutating func receiveOnChannels(
        _ command: LESignallingCommand, identifier: UInt8, on slot: Int, at now: Instant
    ) {
        let listeners = channelListeners
        let isUnproven = links[slot].security.isGated && links[slot].role == .central
        if isUnproven { noteCleartext(slot) }
        let (key, hasKeys) = (links[slot].security.keyInUse, bond(of: slot) != nil)
        let policy = security.pairing
        links[slot].signalling.receiveOnChannels(
            command, identifier: identifier,
            listener: { spsm in
                guard let listener = listeners[spsm] else { return .failure(.refused(.spsmNotSupported)) }
                // A peripheral that has not proved itself is nobody from whom a client here wants data.
                if isUnproven { return .failure(.refused(.insufficientEncryption)) }
                if let demand = listener.demand, let refusal = demand.refusal(of: key, hasKeys: hasKeys, policy) {
                    return .failure(.refused(refusal))
                }
                return .success((listener.client, listener.settings))
            }, at: now)
        drainChannels(slot, at: now)
    }

    /// A frame on a channel identifier that this side has given out, or has not.
    mutating func receiveChannelFrame(
        _ payload: RawSpan, on local: L2CAPChannelIdentifier, slot: Int, at now: Instant
    ) {
        if !links[slot].signalling.receiveFrame(payload, on: local, at: now) { counters.strayPackets &+= 1 }
        drainChannels(slot, at: now)
    }

    /// Takes what the channels of a link want done.
    mutating func drainChannels(_ slot: Int, at now: Instant) {
        let link = links[slot].id
        while let action = links[slot].signalling.nextChannelAction() {
            switch action {
            case .signal(let command, let identifier):
                sendSignalling(command, identifier: identifier, slot: slot, at: now)
            case .frame(let channel, let payload, let number):
                send(payload, on: channel, slot: slot, tag: .channel(number), at: now)
            case .opened(let terms, let client):
                events.append(.channel(.opened(ChannelInformation(terms, on: link), client)))
            case .received(let number, let octets):
                events.append(.channel(.received(ChannelID(link: link, number: number), octets)))
            case .closed(let number, let end):
                events.append(.channel(.closed(ChannelID(link: link, number: number), end)))
            case .completed(let operation, .success(let terms)):
                links[slot].security.channelOpenings.removeAll { $0.operation == operation }
                let opened = terms.map { HostResult.channel(ChannelInformation($0, on: link)) }
                complete(operation, .success(opened ?? .done))
            case .completed(let operation, .failure(let failure)):
                if secureForChannel(operation, failure, slot: slot, at: now) { continue }
                complete(operation, .failure(.channel(failure)))
            }
        }
    }
}

/// Channels that the peer wants better protected (Core 5.4, Vol 3, Part C, 10.3.1).
extension Host {
    /// A peer that refuses a channel for want of security is asked once more when the link is secure.
    /// - Returns: whether the operation waits for that.
    private mutating func secureForChannel(
        _ operation: OperationID, _ failure: ChannelFailure, slot: Int, at now: Instant
    ) -> Bool {
        let openings = links[slot].security.channelOpenings
        guard let index = openings.firstIndex(where: { $0.operation == operation }) else { return false }
        let error: ATTError
        switch failure {
        case .refused(.insufficientAuthentication): error = .insufficientAuthentication
        case .refused(.insufficientEncryption): error = .insufficientEncryption
        case .refused(.insufficientEncryptionKeySize): error = .insufficientEncryptionKeySize
        default:
            links[slot].security.channelOpenings.remove(at: index)
            return false
        }
        guard openings[index].refusal == nil, !links[slot].isClosing else {
            links[slot].security.channelOpenings.remove(at: index)
            return false
        }
        links[slot].security.channelOpenings[index].refusal = failure
        links[slot].security.channelOpenings[index].isWaiting = true
        secureOnDemand(slot, error, at: now)
        return true
    }

    /// A channel to a bonded peer is opened once the peer has proved itself.
    private mutating func openWhenProven(
        _ opening: LinkSecurityState.ChannelOpening, _ slot: Int, at now: Instant
    ) {
        if let failure = links[slot].security.proofFailure {
            return complete(opening.operation, .failure(.security(failure)))
        }
        links[slot].security.channelOpenings.append(opening)
        proveBond(slot, at: now)
    }

    /// The link is as secure as it will be: what was refused is tried again, or fails with what the peer said.
    mutating func securedForChannels(_ slot: Int, _ failure: SecurityFailure?, at now: Instant) {
        let link = links[slot].id
        if failure == nil, links[slot].security.isGated { return }
        for opening in links[slot].security.channelOpenings where opening.isWaiting {
            guard links.slot(of: link) != nil else { return }
            guard
                let index = links[slot].security.channelOpenings.firstIndex(where: {
                    $0.operation == opening.operation
                })
            else { continue }
            guard failure == nil, !links[slot].isClosing else {
                links[slot].security.channelOpenings.remove(at: index)
                let told: HostFailure? = opening.refusal.map { .channel($0) } ?? failure.map { .security($0) }
                complete(opening.operation, .failure(told ?? .channel(.notOpen)))
                continue
            }
            links[slot].security.channelOpenings[index].isWaiting = false
            links[slot].signalling.openChannel(
                opening.spsm, opening.settings, operation: opening.operation, client: opening.client, at: now)
            drainChannels(slot, at: now)
        }
    }

    /// - Returns: whether the operation waited for security.
    mutating func cancelChannelOpening(_ operation: OperationID, slot: Int) -> Bool {
        guard let index = links[slot].security.channelOpenings.firstIndex(where: { $0.operation == operation }) else {
            return false
        }
        let isWaiting = links[slot].security.channelOpenings.remove(at: index).isWaiting
        if isWaiting { complete(operation, .failure(.cancelled)) }
        return isWaiting
    }
}

extension ChannelSecurity {
    /// Why a key does not do; `nil` where it does. Whoever has no keys pairs, whoever has them encrypts
    /// (Core 5.4, Vol 3, Part C, 10.3.1).
    /// - Parameter policy: what this side demands of every key.
    fileprivate func refusal(
        of key: LinkSecurityState.Key?, hasKeys: Bool, _ policy: PairingOptions
    ) -> L2CAPCreditBasedConnectionResult? {
        guard let key else { return hasKeys ? .insufficientEncryption : .insufficientAuthentication }
        if policy.requiresSecureConnections, !key.isSecureConnections { return .insufficientAuthentication }
        if requiresAuthentication || policy.requiresAuthentication, !key.isAuthenticated {
            return .insufficientAuthentication
        }
        return key.size < max(minimumKeySize, policy.leastKeySize) ? .insufficientEncryptionKeySize : nil
    }
}

extension ChannelInformation {
    fileprivate init(_ terms: CreditBasedChannels.Terms, on link: LinkID) {
        self.init(
            id: ChannelID(link: link, number: terms.number), spsm: terms.spsm, sendMTU: terms.sendMTU,
            receiveMTU: terms.receiveMTU)
    }
}
