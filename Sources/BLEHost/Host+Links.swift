import BLEPackets

/// Links: from Connection Complete to Disconnection Complete.
extension Host {
    /// How long the peer may take to exchange ATT_MTU before the clients get the link with 23.
    private static let setupTimeout: Microseconds = .seconds(5)

    // MARK: Connecting

    mutating func connect(_ request: ConnectRequest, operation: OperationID, client: ClientID, at now: Instant) {
        if let parameters = request.parameters, !parameters.isValid {
            return effects.complete(operation, .failure(.invalidRequest(.connectionParameters)))
        }
        if let link = links.link(to: request.peer) {
            let pending = Connector.Pending(
                operation: operation, client: client, request: request, retriesLeft: request.establishmentRetries)
            let peer = link.peer.withoutIdentityMark
            if peer != request.peer.withoutIdentityMark {
                effects.events.append(.identityFound(peer, behind: request.peer.withoutIdentityMark))
            }
            link.waiting.append(pending)
            if link.state == .open { announce(link) }
            return
        }
        guard radio.connector.pending.count < configuration.limits.pendingConnections else {
            return effects.complete(operation, .failure(.limitReached))
        }
        radio.connector.add(request, operation: operation, client: client)
        effects.needsConvergence = true
    }

    /// LE (Enhanced) Connection Complete, successful or not.
    mutating func connectionCompleted(
        _ status: HCIStatus, handle: ConnectionHandle, peer: DeviceAddress,
        privateAddresses: (local: DeviceAddress?, peer: DeviceAddress?) = (nil, nil), role: LinkRole,
        parameters: ConnectionParameters, at now: Instant
    ) {
        if status == .advertisingTimeout {
            // A call that nobody answered; not every controller names the role then.
            return radio.advertisingEnded(byConnection: false, at: now, into: &effects)
        }
        if role == .central {
            let target = radio.initiator.planInForce
            guard configuration.ownership == .exclusive || target?.includes(peer) ?? false || !status.isSuccess else {
                return
            }
            radio.attemptEnded(status, at: now, into: &effects)
            guard status.isSuccess else { return connectionFailed(status, target: target, at: now) }
        } else {
            guard configuration.ownership == .exclusive else { return }
            radio.advertisingEnded(byConnection: status.isSuccess, at: now, into: &effects)
            guard status.isSuccess else { return }
        }
        effects.commands.removeWaiting(on: handle)
        radio.noteNaming(of: peer, into: &effects)
        switch identity(behind: peer) {
        case .identity(let identity):
            linkMade(
                handle, peer: identity.asIdentity, privateAddresses: (privateAddresses.local, peer), role: role,
                parameters: parameters, at: now)
        case .stranger, .several:
            linkMade(
                handle, peer: peer, privateAddresses: privateAddresses, role: role, parameters: parameters, at: now)
        case .pending(let pass):
            // What comes on the link until then is parked as if the link were not known yet.
            bonds.resolver.wait(
                IdentityResolver.Connection(
                    handle: handle, peer: peer, privateAddresses: privateAddresses, role: role,
                    parameters: parameters), for: pass)
        }
    }

    /// A link is there, and it is known with whom as far as that can be known.
    mutating func linkMade(
        _ handle: ConnectionHandle, peer: DeviceAddress,
        privateAddresses: (local: DeviceAddress?, peer: DeviceAddress?), role: LinkRole,
        parameters: ConnectionParameters, at now: Instant
    ) {
        if let stale = links[handle] {
            // The controller gave the handle out again without saying that the old link ended.
            effects.counters.unexpectedEvents &+= 1
            linkEnded(stale, reason: .controller(.unspecifiedError), at: now)
        }
        if let address = privateAddresses.peer, role == .central, radio.connector.waits(for: address) {
            identityFound(peer, behind: address)
        }
        let waiting = role == .central ? radio.connector.take(peer) : []
        guard !links.isFull, role == .peripheral || !waiting.isEmpty else {
            // Nobody waits for it any more: the connection won the race against its cancellation.
            for pending in waiting { effects.complete(pending.operation, .failure(.limitReached)) }
            effects.commands.append(Disconnect(connectionHandle: handle), purpose: .unattendedOnLink(handle))
            return
        }
        let link = Link(
            id: links.nextID(for: handle), peer: peer, role: role,
            state: .settingUp(deadline: now.advanced(by: Self.setupTimeout)), parameters: parameters,
            localFeatures: information.features,
            localAddress: privateAddresses.local ?? information.ownAddress ?? DeviceAddress(value: 0, kind: .public),
            peerAddress: privateAddresses.peer ?? peer.withoutIdentityMark, gatt: gattSettings)
        link.waiting = waiting
        link.gatt.holdingClients = holdingClients
        links.insert(link)
        if configuration.ownership == .exclusive {
            gattServer.connected(
                link.id, security: serverSecurity(of: link), at: now)
            closeGate(link)
            secureAtConnection(link, at: now)
        }
        if !waiting.isEmpty { bonds.setSigningNumbersAside(for: link.security.identity, into: &effects) }
        setUp(link, at: now)
        drainServer(at: now)
        for packet in parked.take(for: handle, at: now) {
            do throws(DecodingError) {
                try receiveACL(packet.span.bytes, at: now)
            } catch {
                noteMalformedPacket(error)
            }
        }
    }

    private var gattSettings: GATTClientSettings {
        var settings = GATTClientSettings()
        settings.receiveMTU = configuration.timing.attMTU
        settings.asksForSecurity = configuration.hasToolbox
        return settings
    }

    private mutating func setUp(_ link: Link, at now: Instant) {
        if configuration.ownership == .shared {
            // The channels on it belong to the other owner's L2CAP; here the link layer alone is used.
            link.open(into: &effects)
            link.startOwn(.readRemoteFeatures, at: now, into: &effects)
            return
        }
        if link.role == .central {
            exchangeMTU(link, at: now)
            if link.security.isGated, !link.security.isChanging {
                // The exchange waits until somebody wants something of the peer that it has to prove itself for.
                link.open(into: &effects)
            }
            link.startOwn(.readRemoteFeatures, at: now, into: &effects)
        } else {
            link.state = .open
            effects.events.append(.centralConnected(link.information))
        }
        if information.features.contains(.dataPacketLengthExtension), information.maximumTransmitOctets > 27 {
            effects.commands.append(
                LESetDataLength(
                    connectionHandle: link.id.handle, transmitOctets: information.maximumTransmitOctets,
                    transmitTime: information.maximumTransmitMicroseconds),
                purpose: .unattendedOnLink(link.id.handle))
        }
    }

    mutating func exchangeMTU(_ link: Link, at now: Instant) {
        lastOperation += 1
        link.exchangeMTU(
            preferred: configuration.timing.attMTU, operation: OperationID(rawValue: lastOperation), at: now,
            into: &effects)
    }

    private mutating func connectionFailed(_ status: HCIStatus, target: Initiator.Plan?, at now: Instant) {
        // 0x02 is the answer to our own cancellation (Core 5.4, Vol 4, Part E, 7.8.13).
        guard status != .unknownConnectionIdentifier, case .directed(let peer, _)? = target else {
            if status != .unknownConnectionIdentifier { radio.connector.pause(at: now) }
            return
        }
        retry(radio.connector.take(peer), after: status, at: now)
    }

    /// A link that could not be established (0x3E) is tried again; another reason, or too many tries, end the
    /// operations.
    private mutating func retry(_ operations: [Connector.Pending], after status: HCIStatus, at now: Instant) {
        var again: [Connector.Pending] = []
        for var pending in operations {
            if status == .connectionFailedToBeEstablished, pending.retriesLeft > 0 {
                pending.retriesLeft -= 1
                effects.counters.connectionRetries &+= 1
                again.append(pending)
            } else {
                effects.complete(pending.operation, .failure(.connectionFailed(status)))
            }
        }
        radio.connector.putBack(again)
        effects.needsConvergence = true
    }

    /// Gives an open link to those that have come to wait for it.
    mutating func announce(_ link: Link) {
        bonds.setSigningNumbersAside(for: link.security.identity, into: &effects)
        link.announce(into: &effects)
    }

    // MARK: Disconnecting

    mutating func disconnect(_ id: LinkID, operation: OperationID, client: ClientID, at now: Instant) {
        guard let link = links[id] else {
            return effects.complete(operation, .failure(.notConnected))
        }
        let wasHolder = link.release(client, at: now, into: &effects)
        // A link that a central made is the central's to end, unless who holds nothing of it asks for that.
        let isServed = link.role == .peripheral && wasHolder
        guard link.holders.isEmpty, link.waiting.isEmpty, !isServed else {
            return effects.complete(operation, .success(.done))
        }
        link.closers.append(operation)
        close(link, reason: .remoteUserTerminatedConnection, isAsked: true, at: now)
    }

    /// Asks the controller to end a link, once.
    /// - Parameter isAsked: whether a client wants the end, and so what was queued before it to arrive.
    mutating func close(_ link: Link, reason: HCIStatus, isAsked: Bool = false, at now: Instant) {
        link.close(reason: reason, isAsked: isAsked, &pairings, at: now, into: &effects)
    }

    /// Does what links want that they cannot do by themselves.
    mutating func fulfilWishes(at now: Instant) {
        while let (link, wish) = effects.wishes.popFirst() {
            // It may have ended meanwhile.
            guard link.place != nil else { continue }
            switch wish {
            case .secure(let error): secureOnDemand(link, error, at: now)
            case .end(let reason): close(link, reason: reason, at: now)
            }
        }
    }

    mutating func disconnectionCompleted(_ event: DisconnectionComplete, at now: Instant) {
        guard event.status.isSuccess else { return }
        effects.commands.removeWaiting(on: event.connectionHandle)
        if bonds.resolver.forget(event.connectionHandle) { return parked.linkClosed(event.connectionHandle, at: now) }
        guard let link = links[event.connectionHandle] else { return }
        linkEnded(link, reason: .controller(event.reason), at: now)
    }

    /// The link is no more: everything on it ends, once.
    mutating func linkEnded(_ link: Link, reason: DisconnectionReason, at now: Instant) {
        let proof = failure(ofProofEndedBy: reason, on: link)
        link.endTraffic(proof.map { .security($0) } ?? reason.gattFailure, into: &effects)
        tellOfLostSecurity(link, reason, at: now)
        let bond = bond(of: link)
        links.remove(link)
        effects.counters.malformedATTPDUs &+= link.gatt.counters.malformedPDUs
        effects.counters.unexpectedATTResponses &+= link.gatt.counters.unexpectedResponses
        effects.counters.droppedEarlyNotifications &+= link.gatt.counters.earlyNotificationsDropped
        effects.data.reclaim(link)
        parked.linkClosed(link.id.handle, at: now)
        link.endOperations(reason, proof: proof, into: &effects)
        let record = gattServer.disconnected(
            link.id, isBonded: bond != nil && link.security.isBondProven, at: now)
        if var bond, let record, record != bond.clientRecord {
            bond.clientRecord = record
            bonds.update(bond, into: &effects)
        }
        drainServer(at: now)
        if link.role == .peripheral {
            effects.events.append(.centralDisconnected(link.id, reason: reason))
            radio.centralLeft(into: &effects)
        }
        for client in link.holders { effects.events.append(.disconnected(link.id, client, reason: reason)) }
        if let proof {
            for pending in link.waiting { effects.complete(pending.operation, .failure(.security(proof))) }
        } else if case .controller(let status) = reason {
            retry(link.waiting, after: status, at: now)
        } else {
            radio.connector.putBack(link.waiting)
        }
        for operation in link.closers { effects.complete(operation, .success(.done)) }
        effects.needsConvergence = true
    }

    // MARK: Time

    mutating func advanceLinks(to now: Instant) {
        guard let due = links.nextDeadline, due <= now else { return }
        for link in links.all {
            link.advanceAttributes(to: now, into: &effects)
            link.advanceProcedures(to: now, into: &effects)
            link.advanceSignalling(to: now, into: &effects)
            // What is to end for one of these must not be taken for stalled, nor its pairing for late.
            fulfilWishes(at: now)
            if let deadline = link.security.nextDeadline, deadline <= now { advanceSecurity(link, to: now) }
            if link.isStalled(at: now), !link.isClosing {
                effects.counters.stalledLinks &+= 1
                close(link, reason: .remoteUserTerminatedConnection, at: now)
            }
            switch link.state {
            case .settingUp(let limit) where limit <= now:
                link.open(into: &effects)
            case .closing(let limit) where limit <= now:
                linkEnded(link, reason: .controllerLost, at: now)
            case .settingUp, .open, .closing: break
            }
        }
    }

    // MARK: Cancelling

    mutating func cancelOnLinks(_ operation: OperationID, at now: Instant) {
        for link in links.all {
            if let index = link.waiting.firstIndex(where: { $0.operation == operation }) {
                link.waiting.remove(at: index)
                effects.complete(operation, .failure(.cancelled))
                if link.waiting.isEmpty, link.holders.isEmpty {
                    close(link, reason: .remoteUserTerminatedConnection, at: now)
                }
                return
            }
            if link.cancelChannel(operation, into: &effects) { return }
            if link.operations.cancel(operation) != nil {
                return effects.complete(operation, .failure(.cancelled))
            }
            if cancelPairing(operation, link: link, at: now) { return }
            link.cancelAttributeOperation(operation, at: now, into: &effects)
        }
    }
}
