import BLEPackets

/// The clients' commands, each passed to its room.
extension Host {
    mutating func perform(_ command: HostCommand, operation: OperationID, client: ClientID) {
        switch phase {
        case .failed(let failure):
            return effects.complete(operation, .failure(failure))
        case .stopping, .stopped:
            switch command {
            // The database, bonds, out-of-band data, what pairings demand and who accepts channels need no controller,
            // and are still there when the next transport starts the engine again.
            case .stop, .server, .channel(.stopListening), .security(.setSecurity),
                .security(.setOutOfBandData),
                .security(.removeBond), .security(.nameBond), .security(.restoreBonds):
                break
            default: return effects.complete(operation, .failure(.invalidRequest(.stopped)))
            }
        case .closed, .awaitingTransport, .starting, .ready: break
        }
        switch command {
        case .radio(.connect(let request)): connect(request, operation: operation, client: client)
        case .radio(.receivePeriodicSyncs(let link, let settings)):
            guard canTransferTrains(over: link, operation) else { return }
            radio.receivePeriodicSyncs(on: link, settings, operation: operation, client: client, into: &effects)
        case .radio(.transferPeriodicSync(let source, let link, let serviceData)):
            guard canTransferTrains(over: link, operation) else { return }
            radio.transferPeriodicSync(
                of: source, to: link, serviceData: serviceData, operation: operation, client: client, into: &effects)
        case .radio(let command):
            guard HostCommand.radio(command).isBuiltIn else {
                return effects.complete(operation, .failure(.limitReached))
            }
            radio.perform(
                command, operation: operation, client: client, isPresent: isTargetPresent(command), into: &effects)
        case .link(let link, let command): perform(command, on: link, operation: operation, client: client)
        case .channel(let command):
            guard isExclusive(operation) else { return }
            perform(command, operation: operation, client: client)
        case .server(let command):
            guard isExclusive(operation) else { return }
            guard Features.server else { return effects.complete(operation, .failure(.limitReached)) }
            do throws(GATTPublishError) {
                effects.complete(
                    operation, .success(try rooms.server.perform(command, client: client, at: effects.now)))
            } catch { effects.complete(operation, .failure(.publishing(error))) }
        case .security(let command): perform(command, operation: operation, client: client)
        case .cancel(let target):
            cancel(target)
            effects.complete(operation, .success(.done))
        case .withholdConfirmations(let isHeld):
            withholdConfirmations(isHeld, of: client)
            effects.complete(operation, .success(.done))
        case .sendHCICommand(let opcode, let parameters):
            guard parameters.count <= 255 else {
                return effects.complete(operation, .failure(.invalidRequest(.parametersTooLong)))
            }
            guard phase == .ready else { return effects.complete(operation, .failure(.controllerLost)) }
            effects.commands.append(opcode: opcode, parameters: parameters, purpose: .client(operation), of: client)
        case .stop:
            stop(operation)
        }
    }

    /// Whether the target of directed advertising is already connected.
    private func isTargetPresent(_ command: RadioCommand) -> Bool {
        guard Features.server, case .advertise(let request) = command, let target = request.target else { return false }
        return isConnected(to: target.peer)
    }

    /// Whether only this engine uses the controller; otherwise the operation fails.
    mutating func isExclusive(_ operation: OperationID) -> Bool {
        if rooms.pairings.isExclusive { return true }
        effects.complete(operation, .failure(.invalidRequest(.notAvailableOnSharedController)))
        return false
    }

    // MARK: Links

    private mutating func perform(_ command: LinkCommand, on id: LinkID, operation: OperationID, client: ClientID) {
        guard Features.links else { return effects.complete(operation, .failure(.notConnected)) }
        switch command {
        case .disconnect:
            guard let link = rooms.links[id] else { return effects.complete(operation, .failure(.notConnected)) }
            link.disconnect(operation: operation, client: client, &rooms.pairings, into: &effects)
        case .gatt(let request):
            guard isExclusive(operation), let link = openLink(id, operation) else { return }
            link.perform(request, operation: operation, client: client, &rooms.pairings, into: &effects)
        case .procedure(let procedure):
            openLink(id, operation)?.start(procedure, operation: operation, client: client, into: &effects)
        }
    }

    /// A link that is not about to end; if there is none, the operation fails.
    mutating func openLink(_ id: LinkID, _ operation: OperationID, else failure: HostFailure = .notConnected) -> Link? {
        if let link = rooms.links[id], !link.isClosing { return link }
        effects.complete(operation, .failure(failure))
        return nil
    }

    /// Whether trains can be transferred over the link; otherwise the operation fails.
    private mutating func canTransferTrains(over id: LinkID, _ operation: OperationID) -> Bool {
        guard Features.links, Features.trains else {
            effects.complete(operation, .failure(.limitReached))
            return false
        }
        return isExclusive(operation) && openLink(id, operation) != nil
    }

    /// A client cannot receive more for now, or can again.
    private mutating func withholdConfirmations(_ isHeld: Bool, of client: ClientID) {
        guard Features.links else { return }
        holdingClients.removeAll { $0 == client }
        if isHeld { holdingClients.append(client) }
        for link in rooms.links.all { link.withholdConfirmations(of: holdingClients, into: &effects) }
    }

    private mutating func perform(_ command: ChannelCommand, operation: OperationID, client: ClientID) {
        guard Features.channels else { return effects.complete(operation, .failure(.notConnected)) }
        switch command {
        case .listen(let spsm, let settings, let requiresEncryption, let demanded):
            let demand = demanded ?? (requiresEncryption ? ChannelSecurity() : nil)
            do throws(ChannelFailure) {
                let chosen = try rooms.listeners.add(
                    spsm, settings, demand: demand, operation: operation, client: client)
                effects.complete(operation, .success(.listening(spsm: chosen)))
            } catch { effects.complete(operation, .failure(.channel(error))) }
        case .stopListening(let spsm):
            let isRemoved = rooms.listeners.remove(spsm, of: client)
            effects.complete(operation, isRemoved ? .success(.done) : .failure(.channel(.invalidSPSM)))
        case .open(let link, let spsm, let settings):
            openLink(link, operation)?.openChannel(
                spsm, settings, operation: operation, client: client, &rooms.pairings, into: &effects)
        case .openEnhanced(let link, let spsm, let settings, let count):
            openLink(link, operation)?.openChannel(
                spsm, settings, enhancedCount: count, operation: operation, client: client, &rooms.pairings,
                into: &effects)
        case .reconfigure(let channels, let maximumTransmissionUnit, let maximumPayloadSize):
            guard let link = channels.first?.link, channels.allSatisfy({ $0.link == link }) else {
                return effects.complete(operation, .failure(.channel(.notOpen)))
            }
            openLink(link, operation, else: .channel(.notOpen))?.reconfigureChannels(
                channels.map { $0.number }, maximumTransmissionUnit: maximumTransmissionUnit,
                maximumPayloadSize: maximumPayloadSize, operation: operation, into: &effects)
        case .send(let channel, let octets):
            openLink(channel.link, operation, else: .channel(.notOpen))?.sendUnit(
                octets, on: channel.number, operation: operation, into: &effects)
        case .consume(let channel, let units):
            if let link = rooms.links[channel.link], !link.isClosing {
                link.consumeUnits(units, on: channel.number, into: &effects)
            }
            effects.complete(operation, .success(.done))
        case .close(let channel):
            openLink(channel.link, operation, else: .channel(.notOpen))?.closeChannel(
                channel.number, operation: operation, into: &effects)
        }
    }

    // MARK: Security

    private mutating func perform(_ command: SecurityCommand, operation: OperationID, client: ClientID) {
        guard Features.pairing else { return effects.complete(operation, .failure(.security(.notAvailable))) }
        switch command {
        case .pair(let link, let options):
            openLink(link, operation)?.pair(options, operation: operation, client: client, &rooms, into: &effects)
        case .encrypt(let link):
            openLink(link, operation)?.encrypt(operation: operation, &rooms.pairings, into: &effects)
        case .answerPairing(let question, let answer):
            let asking = rooms.links.all.first { $0.security.question?.id == question }
            let isTaken =
                asking?.answerPairing(answer, &rooms, into: &effects) ?? false
            effects.complete(operation, .success(.accepted(isTaken)))
        case .setSecurity(let settings):
            let earlier = rooms.pairings.settings.clients
            rooms.pairings.settings = settings
            for link in rooms.links.all { link.clientsChanged(from: earlier, &rooms.pairings, into: &effects) }
            // The security requirements may have changed.
            for link in rooms.links.all { link.reportSecurityToServer(&rooms) }
            effects.complete(operation, .success(.done))
        case .restoreBonds(let restored):
            rooms.pairings.bonds.restore(restored)
            for link in rooms.links.all {
                link.reportSecurityToServer(&rooms)
                link.closeGate(&rooms.pairings)
            }
            effects.complete(operation, .success(.done))
        case .removeBond(let identity):
            let wasThere = rooms.pairings.bonds.remove(identity, into: &effects)
            let identity = identity.withoutIdentityMark
            for link in rooms.links.all where link.security.identity == identity {
                // A pairing in progress would restore the bond.
                guard wasThere || link.security.isPairing else { continue }
                link.close(reason: .remoteUserTerminatedConnection, &rooms.pairings.attempts, into: &effects)
            }
            effects.complete(operation, .success(.accepted(wasThere)))
        case .nameBond(let identity, let name):
            let isKept = rooms.pairings.bonds.name(identity, name, into: &effects)
            effects.complete(operation, .success(.accepted(isKept)))
        case .setOutOfBandData(let peer, let data):
            rooms.pairings.attempts.outOfBand.set(data, for: peer)
            effects.complete(operation, .success(.done))
        case .createOutOfBandData:
            guard rooms.pairings.attempts.areAvailable else {
                return effects.complete(operation, .failure(.security(.notAvailable)))
            }
            rooms.pairings.attempts.outOfBand.create(for: operation, into: &effects)
        case .unlockPasskey:
            rooms.pairings.attempts.failures.reset()
            effects.complete(operation, .success(.done))
        }
    }

    // MARK: Cancelling

    /// Ends an operation wherever it runs.
    private mutating func cancel(_ operation: OperationID) {
        if radio.cancel(operation, into: &effects) { return }
        if let (_, failure) = effects.cryptoRequests.cancel(operation) {
            return effects.complete(operation, .failure(failure))
        }
        if effects.commands.cancel(operation) { return effects.complete(operation, .failure(.cancelled)) }
        guard Features.links else { return }
        for link in rooms.links.all where link.cancel(operation, &rooms.pairings, into: &effects) { return }
    }
}
