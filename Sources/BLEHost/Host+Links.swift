import BLEPackets

/// Links: from Connection Complete to Disconnection Complete.
extension Host {
    /// How long the peer may take to exchange ATT_MTU before the clients get the link with 23.
    private static let setupPatience: Microseconds = .seconds(5)
    /// How long the controller may take to confirm a disconnection beyond the supervision timeout.
    private static let closingPatience: Microseconds = .seconds(5)

    // MARK: Connecting

    mutating func connect(_ request: ConnectRequest, operation: OperationID, client: ClientID, at now: Instant) {
        if let parameters = request.parameters, !parameters.isValid {
            return complete(operation, .failure(.invalidRequest(.connectionParameters)))
        }
        if let slot = links.slot(ofPeer: request.peer) {
            let pending = Connector.Pending(
                operation: operation, client: client, request: request, retriesLeft: request.establishmentRetries)
            let peer = links[slot].peer.withoutIdentityMark
            if peer != request.peer.withoutIdentityMark {
                events.append(.identityFound(peer, behind: request.peer.withoutIdentityMark))
            }
            links[slot].waiting.append(pending)
            if links[slot].state == .open { announce(slot) }
            return
        }
        guard radio.connector.pending.count < configuration.limits.pendingConnections else {
            return complete(operation, .failure(.limitReached))
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
        commands.removeWaiting(on: handle)
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
            resolver.wait(
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
        if let stale = links.slot(of: handle) {
            // The controller gave the handle out again without saying that the old link ended.
            counters.unexpectedEvents &+= 1
            linkEnded(stale, reason: .controller(.unspecifiedError), at: now)
        }
        if let address = privateAddresses.peer, role == .central, radio.connector.waits(for: address) {
            identityFound(peer, behind: address)
        }
        let waiting = role == .central ? radio.connector.take(peer) : []
        guard !links.isFull, role == .peripheral || !waiting.isEmpty else {
            // Nobody waits for it any more: the connection won the race against its cancellation.
            for pending in waiting { complete(pending.operation, .failure(.limitReached)) }
            commands.append(Disconnect(connectionHandle: handle), purpose: .unattendedOnLink(handle))
            return
        }
        var link = Link(
            id: links.nextID(for: handle), peer: peer, role: role,
            state: .settingUp(deadline: now.advanced(by: Self.setupPatience)), parameters: parameters,
            security: LinkSecurityState(
                localAddress: privateAddresses.local ?? information.ownAddress
                    ?? DeviceAddress(value: 0, kind: .public),
                peerAddress: privateAddresses.peer ?? peer.withoutIdentityMark),
            gatt: GATTClient(settings: gattSettings))
        link.waiting = waiting
        link.gatt.holdingClients = holdingClients
        let slot = links.insert(link)
        if configuration.ownership == .exclusive {
            gattServer.connected(
                link.id, security: serverSecurity(of: slot), at: now)
            closeGate(slot)
            secureAtConnection(slot, at: now)
        }
        setUp(slot, at: now)
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
        settings.handsOverServerPDUs = configuration.ownership == .exclusive
        settings.asksForSecurity = configuration.hasToolbox
        return settings
    }

    private mutating func setUp(_ slot: Int, at now: Instant) {
        let link = links[slot].id
        if configuration.ownership == .shared {
            // The channels on it belong to the other owner's L2CAP; here the link layer alone is used.
            links[slot].state = .open
            announce(slot)
            beginOwnOperation(.readRemoteFeatures, on: slot, at: now)
            return
        }
        if links[slot].role == .central {
            exchangeMTU(slot, at: now)
            if links[slot].security.isGated, !links[slot].security.isChanging {
                // The exchange waits until somebody wants something of the peer that it has to prove itself for.
                links[slot].state = .open
                announce(slot)
            }
            beginOwnOperation(.readRemoteFeatures, on: slot, at: now)
        } else {
            links[slot].state = .open
            events.append(.centralConnected(links[slot].information))
        }
        if information.features.contains(.dataPacketLengthExtension), information.maximumTransmitOctets > 27 {
            commands.append(
                LESetDataLength(
                    connectionHandle: link.handle, transmitOctets: information.maximumTransmitOctets,
                    transmitTime: information.maximumTransmitMicroseconds),
                purpose: .unattendedOnLink(link.handle))
        }
    }

    mutating func exchangeMTU(_ slot: Int, at now: Instant) {
        lastOperation += 1
        let exchange = OperationID(rawValue: lastOperation)
        links[slot].mtuExchange = exchange
        links[slot].gatt.start(
            .exchangeMTU(preferred: configuration.timing.attMTU), id: exchange, client: .local, at: now)
        drainGATT(slot, at: now)
    }

    private mutating func connectionFailed(_ status: HCIStatus, target: Initiator.Plan?, at now: Instant) {
        // 0x02 is the answer to our own cancellation (Core 5.4, Vol 4, Part E, 7.8.13).
        guard status != .unknownConnectionIdentifier, case .directed(let peer, _)? = target else {
            if status != .unknownConnectionIdentifier { radio.connector.pause(at: now) }
            return
        }
        retry(radio.connector.take(peer), after: status, at: now)
    }

    /// A link that could not be established (0x3E) is tried again; another reason, or too many tries, end the operations.
    private mutating func retry(_ operations: [Connector.Pending], after status: HCIStatus, at now: Instant) {
        var again: [Connector.Pending] = []
        for var pending in operations {
            if status == .connectionFailedToBeEstablished, pending.retriesLeft > 0 {
                pending.retriesLeft -= 1
                counters.connectionRetries &+= 1
                again.append(pending)
            } else {
                complete(pending.operation, .failure(.connectionFailed(status)))
            }
        }
        radio.connector.putBack(again)
        effects.needsConvergence = true
    }

    /// Gives an open link to those that wait for it.
    mutating func announce(_ slot: Int) {
        setSigningNumbersAside(slot)
        let waiting = links[slot].waiting
        links[slot].waiting = []
        let information = links[slot].information
        for pending in waiting {
            if !links[slot].holders.contains(pending.client) {
                links[slot].holders.append(pending.client)
                events.append(.connected(information, pending.client))
            }
            complete(pending.operation, .success(.connected(information.id)))
        }
    }

    // MARK: Disconnecting

    mutating func disconnect(_ id: LinkID, operation: OperationID, client: ClientID, at now: Instant) {
        guard let slot = links.slot(of: id) else {
            return complete(operation, .failure(.notConnected))
        }
        let holder = links[slot].holders.firstIndex(of: client)
        let wasHolder = holder != nil
        if let index = holder {
            links[slot].holders.remove(at: index)
            links[slot].gatt.clientLeft(client, at: now)
            drainGATT(slot, at: now)
            for opening in links[slot].security.channelOpenings where opening.client == client {
                _ = cancelChannelOpening(opening.operation, slot: slot)
            }
            links[slot].signalling.closeChannels(of: client, at: now)
            drainChannels(slot, at: now)
            for ended in links[slot].operations.cancelAll(of: client) {
                complete(ended.id, .failure(.cancelled))
            }
            events.append(.disconnected(id, client, reason: .releasedByClient))
        }
        // A link that a central made is the central's to end, unless who holds nothing of it asks for that.
        let isServed = links[slot].role == .peripheral && wasHolder
        guard links[slot].holders.isEmpty, links[slot].waiting.isEmpty, !isServed else {
            return complete(operation, .success(.done))
        }
        links[slot].closers.append(operation)
        close(slot, reason: .remoteUserTerminatedConnection, isAsked: true, at: now)
    }

    /// Asks the controller to end the link, once.
    /// - Parameter isAsked: whether a client wants the end, and so what was queued before it to arrive.
    mutating func close(_ slot: Int, reason: HCIStatus, isAsked: Bool = false, at now: Instant) {
        guard !links[slot].isClosing else { return }
        let link = links[slot].id
        let patience =
            Self.closingPatience.rawValue + Int64(links[slot].parameters.supervisionTimeout.rawValue) * 10_000
        links[slot].state = .closing(deadline: now.advanced(by: .microseconds(patience)))
        // The bond that it would leave behind, nobody wants any more.
        pairingLost(slot, at: now)
        if holdDisconnect(slot, reason: reason, isAsked: isAsked, at: now) { return }
        commands.append(
            Disconnect(connectionHandle: link.handle, reason: reason), purpose: .link(link, .disconnect))
    }

    mutating func disconnectionCompleted(_ event: DisconnectionComplete, at now: Instant) {
        guard event.status.isSuccess else { return }
        commands.removeWaiting(on: event.connectionHandle)
        if resolver.forget(event.connectionHandle) { return parked.linkClosed(event.connectionHandle, at: now) }
        guard let slot = links.slot(of: event.connectionHandle) else { return }
        linkEnded(slot, reason: .controller(event.reason), at: now)
    }

    /// The link is no more: everything on it ends, once.
    mutating func linkEnded(_ slot: Int, reason: DisconnectionReason, at now: Instant) {
        let proof = failure(ofProofEndedBy: reason, on: slot)
        links[slot].gatt.bearerClosed(proof.map { .security($0) } ?? reason.gattFailure)
        drainGATT(slot, at: now)
        links[slot].signalling.linkLost()
        drainChannels(slot, at: now)
        tellOfLostSecurity(slot, reason, at: now)
        let bond = bond(of: slot)
        let link = links.remove(slot)
        counters.malformedATTPDUs &+= link.gatt.counters.malformedPDUs
        counters.unexpectedATTResponses &+= link.gatt.counters.unexpectedResponses
        counters.droppedEarlyNotifications &+= link.gatt.counters.earlyNotificationsDropped
        acl.reclaim(link, slot: slot)
        parked.linkClosed(link.id.handle, at: now)
        var operations = link.operations
        for operation in operations.removeAll() {
            complete(operation.id, .failure(.linkLost(reason)))
        }
        for operation in link.security.pairOperations { complete(operation, .failure(.linkLost(reason))) }
        for operation in link.security.encryptOperations {
            complete(operation, .failure(proof.map { .security($0) } ?? .linkLost(reason)))
        }
        for opening in link.security.channelOpenings where opening.isWaiting {
            complete(opening.operation, .failure(proof.map { .security($0) } ?? .linkLost(reason)))
        }
        let record = gattServer.disconnected(
            link.id, isBonded: bond != nil && link.security.isBondProven, at: now)
        if var bond, let record, record != bond.clientRecord {
            bond.clientRecord = record
            update(bond)
        }
        drainServer(at: now)
        if link.role == .peripheral {
            events.append(.centralDisconnected(link.id, reason: reason))
            radio.centralLeft(into: &effects)
        }
        for client in link.holders { events.append(.disconnected(link.id, client, reason: reason)) }
        if let proof {
            for pending in link.waiting { complete(pending.operation, .failure(.security(proof))) }
        } else if case .controller(let status) = reason {
            retry(link.waiting, after: status, at: now)
        } else {
            radio.connector.putBack(link.waiting)
        }
        for operation in link.closers { complete(operation, .success(.done)) }
        effects.needsConvergence = true
    }

    // MARK: Time

    mutating func advanceLinks(to now: Instant) {
        for slot in links.slotRange where links.isOccupied(slot) {
            if let deadline = links[slot].gatt.nextDeadline, deadline <= now {
                links[slot].gatt.advance(to: now)
                drainGATT(slot, at: now)
            }
            while let expired = links[slot].operations.expired(at: now) {
                finishLinkOperation(expired, on: slot, with: .failure(.procedureTimeout), at: now)
            }
            if links[slot].signalling.advance(to: now) {
                finishLinkOperation(
                    .updateParameters, on: slot, with: .failure(.rejectedByPeer), at: now)
            }
            drainChannels(slot, at: now)
            if let deadline = links[slot].security.nextDeadline, deadline <= now { advanceSecurity(slot, to: now) }
            if links[slot].isStalled(at: now), !links[slot].isClosing {
                counters.stalledLinks &+= 1
                close(slot, reason: .remoteUserTerminatedConnection, at: now)
            }
            switch links[slot].state {
            case .settingUp(let limit) where limit <= now:
                links[slot].state = .open
                announce(slot)
            case .closing(let limit) where limit <= now:
                linkEnded(slot, reason: .controllerLost, at: now)
            default: break
            }
        }
    }

    // MARK: Cancelling

    mutating func cancelOnLinks(_ operation: OperationID, at now: Instant) {
        for slot in links.slotRange where links.isOccupied(slot) {
            if let index = links[slot].waiting.firstIndex(where: { $0.operation == operation }) {
                links[slot].waiting.remove(at: index)
                complete(operation, .failure(.cancelled))
                if links[slot].waiting.isEmpty, links[slot].holders.isEmpty {
                    close(slot, reason: .remoteUserTerminatedConnection, at: now)
                }
                return
            }
            if cancelChannelOpening(operation, slot: slot) { return }
            if links[slot].signalling.cancelChannel(operation) { return drainChannels(slot, at: now) }
            if links[slot].operations.cancel(operation) != nil {
                return complete(operation, .failure(.cancelled))
            }
            if cancelPairing(operation, slot: slot, at: now) { return }
            links[slot].gatt.cancel(operation, at: now)
            drainGATT(slot, at: now)
        }
    }
}
