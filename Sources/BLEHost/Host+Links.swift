import BLEPackets

/// Links from Connection Complete to Disconnection Complete. `Link` has what a link does by itself. Here is what its
/// start and end mean for the radio, the bonds, the server and packets that came too early.
extension Host {
    // MARK: Connecting

    mutating func connect(_ request: ConnectRequest, operation: OperationID, client: ClientID) {
        guard Features.links else { return effects.complete(operation, .failure(.limitReached)) }
        if let parameters = request.parameters, !parameters.isValid {
            return effects.complete(operation, .failure(.invalidRequest(.connectionParameters)))
        }
        if let pace = request.pace, !pace.isValid {
            return effects.complete(operation, .failure(.invalidRequest(.connectionParameters)))
        }
        guard let link = rooms.links.link(to: request.peer) else {
            return radio.perform(
                .connect(request), operation: operation, client: client, isPresent: false, into: &effects)
        }
        let peer = link.peer.withoutIdentityMark
        if peer != request.peer.withoutIdentityMark {
            effects.events.append(.identityFound(peer, behind: request.peer.withoutIdentityMark))
        }
        let pending = Connector.Pending(
            operation: operation, client: client, request: request, retriesLeft: request.establishmentRetries)
        link.follow(request.parameterPolicy, of: client)
        link.join([pending], &rooms.pairings.bonds, into: &effects)
        link.wantBearers(request.enhancedBearers)
        link.openBearers(into: &effects)
    }

    /// LE (Enhanced) Connection Complete, successful or not.
    mutating func connectionCompleted(_ new: NewLink, _ status: HCIStatus) {
        guard Features.links else { return }
        if status.isSuccess, isReportedAgain(new) {
            effects.counters.unexpectedEvents &+= 1
            return
        }
        if status == .advertisingTimeout {
            // Directed advertising ended without a connection; some controllers do not state the role in this case.
            // That of a guest has another event, which says whose it was.
            if radio.isGuestDirected { return }
            return radio.advertisingEnded(byConnection: false, into: &effects)
        }
        if new.role == .central {
            let target = radio.initiator.planInForce
            guard configuration.ownership == .exclusive || target?.includes(new.peer) ?? false || !status.isSuccess
            else {
                return
            }
            radio.attemptEnded(status, into: &effects)
            guard status.isSuccess else {
                return radio.connectionFailed(status, target: target, into: &effects)
            }
        } else {
            guard configuration.ownership == .exclusive else { return }
            if status.isSuccess, radio.knowsEndedSet {
                // With several sets, another event says which one it was.
                radio.sets.recordOpenEnd(by: new.handle)
            } else {
                radio.advertisingEnded(byConnection: status.isSuccess, into: &effects)
            }
            guard status.isSuccess else { return }
        }
        dropCommands(on: new.handle)
        // They were sent on the link that is reported only now (CachyOS/kernel-patches#180).
        if effects.adapts, parked.hasPackets(for: new.handle, at: effects.now) { effects.learn(.sendsDataBeforeEvents) }
        if configuration.ownership == .exclusive { radio.setupBegan(new.handle, role: new.role, into: &effects) }
        radio.recordNaming(of: new.peer)
        switch identity(behind: new.peer) {
        case .identity(let identity): linkMade(new.with(identity, behind: new.peer))
        case .stranger, .several: linkMade(new)
        // Until then, data on the link are parked as if the link were not known yet.
        case .pending(let pass): rooms.pairings.bonds.resolver.wait(new, for: pass)
        }
    }

    /// Whether a controller reports a link a second time, as LE Connection Complete and as LE Enhanced Connection
    /// Complete: one with this handle and peer has just been made, or its peer is being resolved.
    private mutating func isReportedAgain(_ new: NewLink) -> Bool {
        if effects.adapts, rooms.pairings.bonds.resolver.resolves(new) { return true }
        guard let link = rooms.links[new.handle], link.role == new.role else { return false }
        let peers = [new.peer, new.privateAddresses.peer].compactMap { $0?.withoutIdentityMark }
        guard peers.contains(where: { link.isWith($0) }) else { return false }
        if case .settingUp = link.state { return true }
        return effects.adapts && link.began.advanced(by: Link.repetitionSpan) > effects.now
    }

    /// A link exists, and the identity of its peer is known if it can be.
    mutating func linkMade(_ new: NewLink) {
        guard Features.links else { return }
        let (handle, peer, role) = (new.handle, new.peer, new.role)
        if let stale = rooms.links[handle] {
            // The controller assigned the handle again without reporting the end of the old link.
            effects.counters.unexpectedEvents &+= 1
            linkEnded(stale, reason: .controller(.unspecifiedError))
        }
        if let address = new.privateAddresses.peer, role == .central, radio.connector.waits(for: address) {
            identityFound(peer, behind: address)
        }
        let waiting = role == .central ? radio.connector.removePending(peer) : []
        let endedSet = Features.sets && role == .peripheral ? radio.sets.removeEarlyEnd(by: handle) : nil
        guard !rooms.links.isFull, role == .peripheral || !waiting.isEmpty else {
            // No client waits for it any more: the connection won the race against its cancellation.
            for pending in waiting { effects.complete(pending.operation, .failure(.limitReached)) }
            effects.commands.append(Disconnect(connectionHandle: handle), purpose: .unattendedOnLink(handle))
            if let endedSet { radio.setEnded(endedSet, byConnection: true, link: nil, into: &effects) }
            return
        }
        let link = Link(
            id: rooms.links.nextID(for: handle), peer: peer, role: role,
            state: .settingUp(deadline: effects.now.advanced(by: Link.setupTimeout)), began: effects.now,
            parameters: new.parameters,
            localFeatures: session.information.features,
            localAddress: new.privateAddresses.local ?? session.information.ownAddress
                ?? DeviceAddress(value: 0, kind: .public),
            peerAddress: new.privateAddresses.peer ?? peer.withoutIdentityMark, gatt: gattSettings)
        link.usualParameterPolicy = configuration.timing.parameterPolicy
        link.reassembler.limit = configuration.limits.reassembledBytes
        link.waiting = waiting
        for pending in waiting { link.follow(pending.request.parameterPolicy, of: pending.client) }
        link.gatt.holdingClients = holdingClients
        link.bearers.settings = configuration.usedEnhancedBearers
        if Features.enhancedBearers { for request in waiting { link.wantBearers(request.request.enhancedBearers) } }
        link.security.holdsValues = effects.expects(.sendsDataBeforeEvents)
        rooms.links.insert(link)
        if let endedSet { setEnded(endedSet, by: link) }
        if rooms.pairings.isExclusive {
            if Features.pace, !link.isOfSeveralUsers(effects.commands.users) {
                link.begin(
                    waiting.lazy.compactMap { $0.request.pace }.first ?? configuration.timing.pace, at: effects.now)
            }
            if Features.server {
                rooms.server.connected(link.id, at: effects.now)
                link.reportSecurityToServer(&rooms)
            }
            link.closeGate(&rooms.pairings)
            link.secureAtConnection(&rooms.pairings, into: &effects)
        }
        if !waiting.isEmpty { rooms.pairings.bonds.setSigningNumbersAside(for: link.security.identity, into: &effects) }
        link.setUp(session.information, isExclusive: rooms.pairings.isExclusive, into: &effects)
        receiveParked(on: link)
    }

    /// What came before the link was reported, and so before this side could encrypt it.
    @inline(never)
    private mutating func receiveParked(on link: Link) {
        let holdsValues = link.security.holdsValues
        link.security.holdsValues = false
        for packet in parked.remove(for: link.id.handle, at: effects.now) {
            do throws(DecodingError) {
                try receiveACL(packet.span.bytes)
            } catch {
                effects.recordMalformedPacket(error)
            }
        }
        link.security.holdsValues = holdsValues
    }

    private var gattSettings: GATTClientSettings {
        var settings = GATTClientSettings()
        settings.receiveMTU = configuration.timing.attMTU
        settings.asksForSecurity = configuration.usesCryptoProvider
        return settings
    }

    // MARK: Disconnecting

    mutating func disconnectionCompleted(_ event: DisconnectionComplete) {
        guard Features.links else { return }
        guard event.status.isSuccess else { return }
        let mayRepeat = effects.adapts && recentEnds.record(event, at: effects.now)
        dropCommands(on: event.connectionHandle)
        if rooms.pairings.bonds.resolver.forget(event.connectionHandle) {
            if Features.sets, let set = radio.sets.removeEarlyEnd(by: event.connectionHandle) {
                radio.setEnded(set, byConnection: true, link: nil, into: &effects)
            }
            return parked.linkClosed(event.connectionHandle, at: effects.now)
        }
        guard let link = rooms.links[event.connectionHandle] else { return }
        // It may be about the link before, and nothing tells: a link that is believed to live is the worse mistake.
        if mayRepeat, link.closers.isEmpty { effects.counters.unexpectedEvents &+= 1 }
        linkEnded(link, reason: .controller(event.reason))
    }

    /// The link with this handle has ended: what waits must not reach the next one.
    private mutating func dropCommands(on handle: ConnectionHandle) {
        for purpose in effects.commands.removeWaiting(on: handle) {
            if case .trainTransfer(let operation, _) = purpose {
                effects.complete(operation, .failure(.notConnected))
            }
        }
    }

    /// The link has ended: everything on it ends, once.
    mutating func linkEnded(_ link: Link, reason: DisconnectionReason) {
        guard Features.links else { return }
        let proof = link.failure(ofProofEndedBy: reason)
        link.endTraffic(proof.map { .security($0) } ?? reason.gattFailure, into: &effects)
        link.securityLost(reason, &rooms.pairings, into: &effects)
        rooms.links.remove(link)
        if rooms.links.isEmpty { radio.linksEnded(into: &effects) }
        radio.setupEnded(link.id.handle)
        effects.counters.malformedATTPDUs &+= link.gatt.counters.malformedPDUs
        effects.counters.unexpectedATTResponses &+= link.gatt.counters.unexpectedResponses
        effects.counters.droppedEarlyNotifications &+= link.gatt.counters.earlyNotificationsDropped
        effects.data.reclaim(link)
        parked.linkClosed(link.id.handle, at: effects.now)
        link.endOperations(reason, proof: proof, into: &effects)
        if Features.server {
            let identity = link.security.identity
            let isBonded = link.security.isBondProven && rooms.pairings.bonds.hasBond(with: identity)
            let record = rooms.server.disconnected(link.id, isBonded: isBonded, at: effects.now)
            if let record { rooms.pairings.bonds.store(record, of: identity, into: &effects) }
        }
        // Clients get the server's events for the link before the end of the link.
        performServerActions()
        if link.role == .peripheral {
            effects.events.append(.centralDisconnected(link.id, reason: reason))
            radio.centralLeft(into: &effects)
            radio.proceedWithSets(into: &effects)
        }
        for client in link.holders { effects.events.append(.disconnected(link.id, client, reason: reason)) }
        if let proof {
            for pending in link.waiting { effects.complete(pending.operation, .failure(.security(proof))) }
        } else if case .controller(let status) = reason {
            radio.retry(link.waiting, after: status, into: &effects)
        } else {
            radio.connector.putBack(link.waiting)
        }
        radio.trainsEnded(with: link.id, reason, into: &effects)
        for operation in link.closers { effects.complete(operation, .success(.done)) }
    }

    // MARK: Time

    mutating func advanceLinks() {
        guard Features.links else { return }
        guard let due = rooms.links.nextDeadline, due <= effects.now else { return }
        for link in rooms.links.all {
            if link.advance(&rooms, into: &effects) {
                linkEnded(link, reason: .controllerLost)
            }
        }
    }
}
