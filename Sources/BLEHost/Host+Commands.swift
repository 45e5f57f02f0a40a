import BLEPackets

/// What clients ask for, each command handed to its room.
extension Host {
    mutating func perform(
        _ command: HostCommand, operation: OperationID, client: ClientID, at now: Instant
    ) {
        switch phase {
        case .failed:
            return effects.complete(operation, .failure(.controllerUnresponsive))
        case .stopping, .stopped:
            guard case .stop = command else { return effects.complete(operation, .failure(.invalidRequest(.stopped))) }
        case .closed, .awaitingTransport, .starting, .ready: break
        }
        switch command {
        case .radio(let command): perform(command, operation: operation, client: client, at: now)
        case .link(let link, let command): perform(command, on: link, operation: operation, client: client, at: now)
        case .channel(let command): perform(command, operation: operation, client: client, at: now)
        case .server(let command): perform(command, operation: operation, client: client, at: now)
        case .security(let command): perform(command, operation: operation, client: client, at: now)
        case .cancel(let target):
            cancel(target, at: now)
            effects.complete(operation, .success(.done))
        case .holdIndications(let isHeld):
            holdIndications(isHeld, of: client)
            effects.complete(operation, .success(.done))
        case .sendHCICommand(let opcode, let parameters):
            guard parameters.count <= 255 else {
                return effects.complete(operation, .failure(.invalidRequest(.parametersTooLong)))
            }
            guard phase == .ready else { return effects.complete(operation, .failure(.controllerLost)) }
            effects.commands.append(opcode: opcode, parameters: parameters, purpose: .client(operation))
        case .stop:
            stop(operation, at: now)
        }
    }

    mutating func perform(
        _ command: RadioCommand, operation: OperationID, client: ClientID, at now: Instant
    ) {
        switch command {
        case .scan(let request):
            radio.scanner.add(request, operation: operation, client: client)
            effects.needsConvergence = true
        case .changeScan(let scan, let request):
            guard radio.scanner.change(scan, to: request) else {
                return effects.complete(operation, .failure(.cancelled))
            }
            effects.needsConvergence = true
            effects.complete(operation, .success(.done))
        case .changeAdvertising(let wish, let request):
            guard radio.advertiser.change(wish, to: request, at: now) else {
                return effects.complete(operation, .failure(.cancelled))
            }
            effects.needsConvergence = true
            effects.complete(operation, .success(.done))
        case .advertise(let request):
            radio.advertise(
                request, operation: operation, client: client,
                isPresent: request.target.map { isConnected(to: $0.peer) } ?? false, at: now, into: &effects)
        case .connect(let request):
            connect(request, operation: operation, client: client, at: now)
        }
    }

    mutating func perform(
        _ command: LinkCommand, on id: LinkID, operation: OperationID, client: ClientID, at now: Instant
    ) {
        switch command {
        case .disconnect: disconnect(id, operation: operation, client: client, at: now)
        case .gatt(let request): start(request, on: id, operation: operation, client: client, at: now)
        case .procedure(let procedure):
            guard let link = openLink(id) else { return effects.complete(operation, .failure(.notConnected)) }
            link.start(procedure, operation: operation, client: client, at: now, into: &effects)
        }
    }

    private mutating func start(
        _ request: GATTOperation, on id: LinkID, operation: OperationID, client: ClientID, at now: Instant
    ) {
        guard configuration.ownership == .exclusive else {
            return effects.complete(operation, .failure(.invalidRequest(.notAvailableOnSharedController)))
        }
        guard let link = openLink(id) else { return effects.complete(operation, .failure(.notConnected)) }
        if link.security.isGated {
            if let failure = link.security.proofFailure {
                return effects.complete(operation, .failure(.gatt(.security(failure))))
            }
            proveBond(link, at: now)
            guard !link.isClosing else { return effects.complete(operation, .failure(.notConnected)) }
        }
        if case .writeSigned(let handle, let value) = request {
            return writeSigned(handle, value, link: link, operation: operation, client: client, at: now)
        }
        link.start(request, operation: operation, client: client, at: now, into: &effects)
    }

    /// A link that is not about to end.
    private mutating func openLink(_ id: LinkID) -> Link? {
        guard let link = links[id], !link.isClosing else { return nil }
        return link
    }

    /// A client cannot take more for now, or can again.
    private mutating func holdIndications(_ isHeld: Bool, of client: ClientID) {
        holdingClients.removeAll { $0 == client }
        if isHeld { holdingClients.append(client) }
        for link in links.all { link.holdIndications(of: holdingClients, into: &effects) }
    }

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
            let opening = LinkSecurityMachine.ChannelOpening(
                operation: operation, client: client, spsm: spsm, settings: settings)
            if link.security.isGated {
                if link.openChannelWhenProven(opening, into: &effects) { proveBond(link, at: now) }
                return
            }
            link.openChannel(
                opening, mayBeSecured: security.pairsOnDemand && configuration.hasToolbox, at: now, into: &effects)
        case .send(let channel, let octets):
            guard let link = openLink(channel.link) else {
                return effects.complete(operation, .failure(.channel(.notOpen)))
            }
            link.sendUnit(octets, on: channel.number, operation: operation, into: &effects)
        case .consume(let channel, let units):
            openLink(channel.link)?.consumeUnits(units, on: channel.number, into: &effects)
            effects.complete(operation, .success(.done))
        case .close(let channel):
            guard let link = openLink(channel.link) else {
                return effects.complete(operation, .failure(.channel(.notOpen)))
            }
            link.closeChannel(channel.number, operation: operation, at: now, into: &effects)
        }
    }

    mutating func perform(
        _ command: ServerCommand, operation: OperationID, client: ClientID, at now: Instant
    ) {
        guard configuration.ownership == .exclusive else {
            return effects.complete(operation, .failure(.invalidRequest(.notAvailableOnSharedController)))
        }
        var result: Result<HostResult, HostFailure> = .success(.done)
        do throws(GATTPublishError) {
            switch command {
            case .publish(let service):
                result = .success(.published(try gattServer.publish(service, owner: client, at: now)))
            case .removeService(let handle):
                try gattServer.remove(handle, at: now)
            case .disableServices(let error):
                gattServer.disableServices(of: client, with: error)
            case .setDeviceName(let name):
                gattServer.setDeviceName(name)
            case .respond(let question, let answer):
                result = .success(.accepted(gattServer.respond(to: question, with: answer, at: now)))
            case .updateValue(let handle, let value, let links):
                result = .success(.accepted(gattServer.updateValue(value, of: handle, to: links, at: now)))
            }
        } catch {
            result = .failure(.publishing(error))
        }
        // First the result: whoever published hears what he has before he hears who is subscribed to it.
        effects.complete(operation, result)
    }

    /// Ends an operation wherever it runs.
    private mutating func cancel(_ operation: OperationID, at now: Instant) {
        if radio.cancel(operation, into: &effects) { return }
        cancelOnLinks(operation, at: now)
    }
}
