import BLEPackets

/// What goes over links: ACL data up to the channels, frames of the channels down, and the attribute protocol between.
extension Host {
    /// Requests of ours and answers to the peer that may wait for the controller; a peer that asks on without hearing
    /// is given up.
    private static let unsentAnswerLimit = 64

    // MARK: ACL data

    mutating func receiveACL(_ packet: RawSpan, at now: Instant) throws(DecodingError) {
        guard configuration.ownership == .exclusive else { return }
        let data = try ACLDataPacket(decoding: packet)
        guard let link = links[data.connectionHandle] else {
            if parked.park(packet, for: data.connectionHandle, at: now) {
                effects.counters.parkedPackets &+= 1
            } else {
                effects.counters.strayPackets &+= 1
            }
            return
        }
        let limit = configuration.limits.reassembledBytes
        switch link.reassembler.receive(data.data, isStart: data.boundary.isFirst, limit: limit) {
        case .whole:
            try receiveFrame(data.data, on: link, at: now)
        case .assembled:
            let frame = link.reassembler.takeFrame()
            try receiveFrame(frame.span.bytes, on: link, at: now)
            link.reassembler.recycle(frame)
        case .incomplete: break
        case .dropped: effects.counters.oversizedFrames &+= 1
        }
    }

    private mutating func receiveFrame(_ bytes: RawSpan, on link: Link, at now: Instant) throws(DecodingError) {
        let frame = try L2CAPBasicFrame(decoding: bytes)
        if link.security.isForfeited { return link.security.noteCleartext(into: &effects) }
        switch frame.channelIdentifier {
        case .attributeProtocol:
            if !hold(frame.payload, link: link, at: now) { receiveATT(frame.payload, on: link, at: now) }
        case .leSignalling:
            try receiveSignalling(frame.payload, on: link, at: now)
        case .securityManager:
            receiveSecurityPDU(frame.payload, on: link, at: now)
        default:
            receiveChannelFrame(frame.payload, on: frame.channelIdentifier, link: link, at: now)
        }
    }

    mutating func receiveATT(_ pdu: RawSpan, on link: Link, at now: Instant) {
        if link.security.isGated, !isAdmitted(pdu, link: link, at: now) { return }
        if !ATTBearer.isForServer(pdu) {
            link.gatt.receive(pdu, at: now)
        } else if link.gatt.carries(pdu, at: now) {
            serverReceived(pdu, on: link, at: now)
        }
        drainGATT(link, at: now)
    }

    mutating func send(
        _ payload: [UInt8], on channel: L2CAPChannelIdentifier, link: Link, tag: ATTSendTag = .none, at now: Instant
    ) {
        if tag == .none {
            // One answer is unsent at a time where both sides keep to the protocol (Core 5.4, Vol 3, Part F, 3.3.2).
            guard link.unsentAnswers < Self.unsentAnswerLimit else {
                effects.counters.floodedLinks &+= 1
                return close(link, reason: .remoteDeviceLowResources, at: now)
            }
            link.unsentAnswers += 1
        }
        if link.security.isForfeited { return }
        if channel == .attributeProtocol, link.security.hold(payload, tag: tag) { return }
        acl.append(.init(channel: channel, payload: payload, tag: tag), to: link)
    }

    // MARK: Commands

    mutating func perform(
        _ command: LinkCommand, on id: LinkID, operation: OperationID, client: ClientID, at now: Instant
    ) {
        switch command {
        case .disconnect: disconnect(id, operation: operation, client: client, at: now)
        case .gatt(let request): start(request, on: id, operation: operation, client: client, at: now)
        case .procedure(let procedure):
            guard let link = links[id], !link.isClosing else {
                return effects.complete(operation, .failure(.notConnected))
            }
            link.start(procedure, operation: operation, client: client, at: now, into: &effects)
        }
    }

    private mutating func start(
        _ request: GATTOperation, on id: LinkID, operation: OperationID, client: ClientID, at now: Instant
    ) {
        guard configuration.ownership == .exclusive else {
            return effects.complete(operation, .failure(.invalidRequest(.notAvailableOnSharedController)))
        }
        guard let link = links[id], !link.isClosing else {
            return effects.complete(operation, .failure(.notConnected))
        }
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
        withGATT(of: link, at: now) { $0.start(request, id: operation, client: client, at: now) }
    }

    // MARK: GATT

    /// Has the GATT client of a link do something, and takes what it wants done.
    mutating func withGATT(of link: Link, at now: Instant, _ change: (inout GATTClient) -> Void) {
        change(&link.gatt)
        drainGATT(link, at: now)
    }

    private mutating func drainGATT(_ link: Link, at now: Instant) {
        let id = link.id
        while let action = link.gatt.nextAction() {
            switch action {
            case .send(let pdu, let tag):
                send(pdu, on: .attributeProtocol, link: link, tag: tag, at: now)
            case .event(.completed(let operation, let result)):
                gattCompleted(operation, result, link: link)
            case .secure(let error): secureOnDemand(link, error, at: now)
            case .event(let event):
                if case .mtuChanged(let mtu) = event { gattServer.mtuChanged(to: mtu, on: id) }
                effects.events.append(.gatt(id, event))
            case .disconnect:
                close(link, reason: .remoteUserTerminatedConnection, at: now)
            }
        }
    }

    /// A client cannot take more for now, or can again.
    mutating func holdIndications(_ isHeld: Bool, of client: ClientID, at now: Instant) {
        holdingClients.removeAll { $0 == client }
        if isHeld { holdingClients.append(client) }
        let holdingClients = holdingClients
        for link in links.all {
            withGATT(of: link, at: now) { $0.hold(for: holdingClients) }
        }
    }

    private mutating func serverReceived(_ pdu: RawSpan, on link: Link, at now: Instant) {
        let opcode = pdu.byte(at: 0).map { ATTOpcode(rawValue: $0) }
        if opcode == .signedWriteCommand { return signedWriteReceived(pdu.copied(), link: link) }
        gattServer.receive(pdu, from: link.id, at: now)
        drainServer(at: now)
        if opcode == .writeRequest, gattServer.keepsPerClient(pdu) { noteClientRecord(of: link, at: now) }
    }

    private mutating func gattCompleted(
        _ operation: OperationID, _ result: Result<GATTResult, GATTFailure>, link: Link
    ) {
        guard operation != link.mtuExchange else {
            // Our own exchange of ATT_MTU: whatever came of it, the link can be used. A peer that proves itself later
            // is asked again.
            if case .failure(.security) = result { link.mtuExchange = nil }
            guard case .settingUp = link.state else { return }
            if link.gatt.isUnlinked { return }
            link.state = .open
            return announce(link)
        }
        switch result {
        case .success(let value): effects.complete(operation, .success(.gatt(value)))
        case .failure(let failure): effects.complete(operation, .failure(.gatt(failure)))
        }
    }

    /// Tells write queues and the attribute server what of theirs has gone.
    mutating func notePassedFrames(at now: Instant) {
        while let link = acl.popLinkWithPassedFrames() {
            links.note(link)
            let passed = link.passedTags
            link.passedTags.removeAll(keepingCapacity: true)
            for tag in passed {
                switch tag {
                case .none: break
                case .command(let command): link.gatt.commandSent(command)
                case .server(let tag): gattServer.sent(tag, to: link.id, at: now)
                case .channel(let number): link.signalling.channelFrameGone(number, at: now)
                }
            }
            drainGATT(link, at: now)
            drainServer(at: now)
            drainChannels(link, at: now)
            acl.pump(&links, into: &effects.packets, at: now)
        }
    }
}
