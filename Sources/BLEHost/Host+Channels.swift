import BLEPackets

/// Credit-based channels: who listens, what goes out and what comes in.
extension Host {
    mutating func perform(
        _ command: ChannelCommand, operation: OperationID, client: ClientID, at now: Instant
    ) {
        guard configuration.ownership == .exclusive else {
            return effects.complete(operation, .failure(.invalidRequest(.notAvailableOnSharedController)))
        }
        switch command {
        case .listen(let spsm, let settings, let requiresEncryption, let demanded):
            let demand = demanded ?? (requiresEncryption ? ChannelSecurity() : nil)
            do throws(ChannelFailure) {
                let chosen = try channelListeners.add(
                    spsm, settings, demand: demand, operation: operation, client: client)
                effects.complete(operation, .success(.listening(spsm: chosen)))
            } catch { effects.complete(operation, .failure(.channel(error))) }
        case .stopListening(let spsm):
            let isRemoved = channelListeners.remove(spsm, of: client)
            effects.complete(operation, isRemoved ? .success(.done) : .failure(.channel(.invalidSPSM)))
        case .open(let link, let spsm, let settings):
            guard let link = openLink(link) else { return effects.complete(operation, .failure(.notConnected)) }
            guard (0x0001...0x00FF).contains(spsm) else {
                return effects.complete(operation, .failure(.channel(.invalidSPSM)))
            }
            if link.security.isGated {
                return openWhenProven(
                    .init(
                        operation: operation, client: client, spsm: spsm, settings: settings, isWaiting: true), link,
                    at: now)
            }
            if security.pairsOnDemand, configuration.hasToolbox {
                link.security.channelOpenings.append(
                    .init(operation: operation, client: client, spsm: spsm, settings: settings))
            }
            withChannels(of: link, at: now) {
                $0.openChannel(spsm, settings, operation: operation, client: client, at: now)
            }
        case .send(let channel, let octets):
            guard let link = openLink(channel.link) else {
                return effects.complete(operation, .failure(.channel(.notOpen)))
            }
            withChannels(of: link, at: now) { $0.sendUnit(octets, on: channel.number, operation: operation) }
        case .consume(let channel, let units):
            if let link = openLink(channel.link) {
                withChannels(of: link, at: now) { $0.consumeUnits(units, on: channel.number) }
            }
            effects.complete(operation, .success(.done))
        case .close(let channel):
            guard let link = openLink(channel.link) else {
                return effects.complete(operation, .failure(.channel(.notOpen)))
            }
            withChannels(of: link, at: now) { $0.closeChannel(channel.number, operation: operation, at: now) }
        }
    }

    private mutating func openLink(_ id: LinkID) -> Link? {
        guard let link = links[id], !link.isClosing else { return nil }
        return link
    }

    mutating func receiveOnChannels(
        _ command: LESignallingCommand, identifier: UInt8, on link: Link, at now: Instant
    ) {
        let listeners = channelListeners
        let isUnproven = link.security.isGated && link.role == .central
        if isUnproven { link.security.noteCleartext(into: &effects) }
        let (key, hasKeys) = (link.security.keyInUse, bond(of: link) != nil)
        let policy = security.pairing
        withChannels(of: link, at: now) {
            $0.receiveOnChannels(
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
        }
    }

    /// A frame on a channel identifier that this side has given out, or has not.
    mutating func receiveChannelFrame(
        _ payload: RawSpan, on local: L2CAPChannelIdentifier, link: Link, at now: Instant
    ) {
        if !link.signalling.receiveFrame(payload, on: local, at: now) { effects.counters.strayPackets &+= 1 }
        drainChannels(link, at: now)
    }

    /// Has the channels of a link do something, and takes what they want done.
    mutating func withChannels(of link: Link, at now: Instant, _ change: (inout SignallingChannel) -> Void) {
        change(&link.signalling)
        drainChannels(link, at: now)
    }

    mutating func drainChannels(_ link: Link, at now: Instant) {
        while let action = link.signalling.nextChannelAction() {
            switch action {
            case .signal(let command, let identifier):
                sendSignalling(command, identifier: identifier, link: link, at: now)
            case .frame(let channel, let payload, let number):
                send(payload, on: channel, link: link, tag: .channel(number), at: now)
            case .opened(let terms, let client):
                effects.events.append(.channel(.opened(ChannelInformation(terms, on: link.id), client)))
            case .received(let number, let octets):
                effects.events.append(.channel(.received(ChannelID(link: link.id, number: number), octets)))
            case .closed(let number, let end):
                effects.events.append(.channel(.closed(ChannelID(link: link.id, number: number), end)))
            case .completed(let operation, .success(let terms)):
                link.security.channelOpenings.removeAll { $0.operation == operation }
                let opened = terms.map { HostResult.channel(ChannelInformation($0, on: link.id)) }
                effects.complete(operation, .success(opened ?? .done))
            case .completed(let operation, .failure(let failure)):
                if secureForChannel(operation, failure, link: link, at: now) { continue }
                effects.complete(operation, .failure(.channel(failure)))
            }
        }
    }
}

/// Channels that the peer wants better protected (Core 5.4, Vol 3, Part C, 10.3.1).
extension Host {
    /// A peer that refuses a channel for lack of security is asked once more when the link is secure.
    /// - Returns: whether the operation waits for that.
    private mutating func secureForChannel(
        _ operation: OperationID, _ failure: ChannelFailure, link: Link, at now: Instant
    ) -> Bool {
        let openings = link.security.channelOpenings
        guard let index = openings.firstIndex(where: { $0.operation == operation }) else { return false }
        let error: ATTError
        switch failure {
        case .refused(.insufficientAuthentication): error = .insufficientAuthentication
        case .refused(.insufficientEncryption): error = .insufficientEncryption
        case .refused(.insufficientEncryptionKeySize): error = .insufficientEncryptionKeySize
        default:
            link.security.channelOpenings.remove(at: index)
            return false
        }
        guard openings[index].refusal == nil, !link.isClosing else {
            link.security.channelOpenings.remove(at: index)
            return false
        }
        link.security.channelOpenings[index].refusal = failure
        link.security.channelOpenings[index].isWaiting = true
        secureOnDemand(link, error, at: now)
        return true
    }

    /// A channel to a bonded peer is opened once the peer has proved itself.
    private mutating func openWhenProven(
        _ opening: LinkSecurityMachine.ChannelOpening, _ link: Link, at now: Instant
    ) {
        if let failure = link.security.proofFailure {
            return effects.complete(opening.operation, .failure(.security(failure)))
        }
        link.security.channelOpenings.append(opening)
        proveBond(link, at: now)
    }

    /// The link is as secure as it will be: what was refused is tried again, or fails with what the peer said.
    mutating func securedForChannels(_ link: Link, _ failure: SecurityFailure?, at now: Instant) {
        if failure == nil, link.security.isGated { return }
        for opening in link.security.channelOpenings where opening.isWaiting {
            guard
                let index = link.security.channelOpenings.firstIndex(where: {
                    $0.operation == opening.operation
                })
            else { continue }
            guard failure == nil, !link.isClosing else {
                link.security.channelOpenings.remove(at: index)
                let told: HostFailure? = opening.refusal.map { .channel($0) } ?? failure.map { .security($0) }
                effects.complete(opening.operation, .failure(told ?? .channel(.notOpen)))
                continue
            }
            link.security.channelOpenings[index].isWaiting = false
            withChannels(of: link, at: now) {
                $0.openChannel(
                    opening.spsm, opening.settings, operation: opening.operation, client: opening.client, at: now)
            }
        }
    }

    /// - Returns: whether the operation waited for security.
    mutating func cancelChannelOpening(_ operation: OperationID, link: Link) -> Bool {
        guard let index = link.security.channelOpenings.firstIndex(where: { $0.operation == operation }) else {
            return false
        }
        let isWaiting = link.security.channelOpenings.remove(at: index).isWaiting
        if isWaiting { effects.complete(operation, .failure(.cancelled)) }
        return isWaiting
    }
}

extension ChannelSecurity {
    /// Why a key does not do; `nil` where it does. Whoever has no keys pairs, whoever has them encrypts
    /// (Core 5.4, Vol 3, Part C, 10.3.1).
    /// - Parameter policy: what this side demands of every key.
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
