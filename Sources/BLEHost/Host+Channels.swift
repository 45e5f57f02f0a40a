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
        case .listenForChannels(let spsm, let settings, let requiresEncryption):
            do throws(ChannelFailure) {
                let chosen = try channelListeners.add(
                    spsm, settings, requiresEncryption: requiresEncryption, operation: operation, client: client)
                complete(operation, .success(.listening(spsm: chosen)))
            } catch { complete(operation, .failure(.channel(error))) }
        case .stopListeningForChannels(let spsm):
            let isRemoved = channelListeners.remove(spsm, of: client)
            complete(operation, isRemoved ? .success(.done) : .failure(.channel(.invalidSPSM)))
        case .openChannel(let link, let spsm, let settings):
            guard let slot = openSlot(of: link) else { return complete(operation, .failure(.notConnected)) }
            guard (0x0001...0x00FF).contains(spsm) else { return complete(operation, .failure(.channel(.invalidSPSM))) }
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
        let security = gattServer.security(of: links[slot].id)
        let listeners = channelListeners
        links[slot].signalling.receiveOnChannels(
            command, identifier: identifier,
            listener: { spsm in
                guard let listener = listeners[spsm] else { return .failure(.refused(.spsmNotSupported)) }
                guard !listener.requiresEncryption || security.isEncrypted else {
                    // Whoever has no keys pairs, whoever has them encrypts (Core 5.4, Vol 3, Part C, 10.3.1).
                    return .failure(
                        .refused(security.keys == .none ? .insufficientAuthentication : .insufficientEncryption))
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
                let opened = terms.map { HostResult.channel(ChannelInformation($0, on: link)) }
                complete(operation, .success(opened ?? .done))
            case .completed(let operation, .failure(let failure)):
                complete(operation, .failure(.channel(failure)))
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
