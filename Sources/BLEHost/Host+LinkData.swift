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
        guard let slot = links.slot(of: data.connectionHandle) else {
            if parked.park(packet, for: data.connectionHandle, at: now) {
                counters.parkedPackets &+= 1
            } else {
                counters.strayPackets &+= 1
            }
            return
        }
        let limit = configuration.limits.reassembledBytes
        switch links[slot].reassembler.receive(data.data, isStart: data.boundary.isFirst, limit: limit) {
        case .whole:
            try receiveFrame(data.data, on: slot, at: now)
        case .assembled:
            let frame = links[slot].reassembler.takeFrame()
            let id = links[slot].id
            try receiveFrame(frame.span.bytes, on: slot, at: now)
            if links.slot(of: id) != nil { links[slot].reassembler.recycle(frame) }
        case .incomplete: break
        case .dropped: counters.oversizedFrames &+= 1
        }
    }

    private mutating func receiveFrame(_ bytes: RawSpan, on slot: Int, at now: Instant) throws(DecodingError) {
        let frame = try L2CAPBasicFrame(decoding: bytes)
        if links[slot].security.isForfeited { return noteCleartext(slot) }
        switch frame.channelIdentifier {
        case .attributeProtocol:
            if !hold(frame.payload, slot: slot, at: now) { receiveATT(frame.payload, on: slot, at: now) }
        case .leSignalling:
            try receiveSignalling(frame.payload, on: slot, at: now)
        case .securityManager:
            receiveSecurityPDU(frame.payload, on: slot, at: now)
        default:
            receiveChannelFrame(frame.payload, on: frame.channelIdentifier, slot: slot, at: now)
        }
    }

    mutating func receiveATT(_ pdu: RawSpan, on slot: Int, at now: Instant) {
        if links[slot].security.isGated, !isAdmitted(pdu, slot: slot, at: now) { return }
        links[slot].gatt.receive(pdu, at: now)
        drainGATT(slot, at: now)
    }

    mutating func send(
        _ payload: [UInt8], on channel: L2CAPChannelIdentifier, slot: Int, tag: ATTSendTag = .none, at now: Instant
    ) {
        if tag == .none {
            // One answer is unsent at a time where both sides keep to the protocol (Core 5.4, Vol 3, Part F, 3.3.2).
            guard links[slot].unsentAnswers < Self.unsentAnswerLimit else {
                counters.floodedLinks &+= 1
                return close(slot, reason: .remoteDeviceLowResources, at: now)
            }
            links[slot].unsentAnswers += 1
        }
        if links[slot].security.isForfeited { return }
        if channel == .attributeProtocol, hold(payload, tag: tag, slot: slot) { return }
        acl.append(.init(channel: channel, payload: payload, tag: tag), to: slot, of: &links)
    }

    // MARK: GATT

    /// Takes what the GATT client of a link wants done.
    mutating func drainGATT(_ slot: Int, at now: Instant) {
        let id = links[slot].id
        while let action = links[slot].gatt.nextAction() {
            switch action {
            case .send(let pdu, let tag):
                send(pdu, on: .attributeProtocol, slot: slot, tag: tag, at: now)
            case .event(.completed(let operation, let result)):
                gattCompleted(operation, result, slot: slot)
            case .event(.serverPDU(let pdu)): receiveServerPDU(pdu, on: slot, at: now)
            case .secure(let error): secureOnDemand(slot, error, at: now)
            case .event(let event):
                if case .mtuChanged(let mtu) = event { gattServer.mtuChanged(to: mtu, on: id) }
                events.append(.gatt(id, event))
            case .disconnect:
                close(slot, reason: .remoteUserTerminatedConnection, at: now)
            }
        }
    }

    /// A client cannot take more for now, or can again.
    mutating func holdIndications(_ isHeld: Bool, of client: ClientID, at now: Instant) {
        holdingClients.removeAll { $0 == client }
        if isHeld { holdingClients.append(client) }
        for slot in links.slotRange where links.isOccupied(slot) {
            links[slot].gatt.hold(for: holdingClients)
            drainGATT(slot, at: now)
        }
    }

    private mutating func receiveServerPDU(_ pdu: [UInt8], on slot: Int, at now: Instant) {
        guard let octet = pdu.first else { return }
        let opcode = ATTOpcode(rawValue: octet)
        if opcode == .signedWriteCommand { return signedWriteReceived(pdu, slot: slot) }
        let id = links[slot].id
        gattServer.receive(pdu.span.bytes, from: id, at: now)
        drainServer(at: now)
        if opcode == .writeRequest, gattServer.keepsPerClient(pdu), let slot = links.slot(of: id) {
            noteClientRecord(of: slot, at: now)
        }
    }

    private mutating func gattCompleted(
        _ operation: OperationID, _ result: Result<GATTResult, GATTFailure>, slot: Int
    ) {
        guard operation != links[slot].mtuExchange else {
            // Our own exchange of ATT_MTU: whatever came of it, the link can be used. A peer that proves itself later is
            // asked again.
            if case .failure(.security) = result { links[slot].mtuExchange = nil }
            guard case .settingUp = links[slot].state else { return }
            if links[slot].gatt.isUnlinked { return }
            links[slot].state = .open
            return announce(slot)
        }
        switch result {
        case .success(let value): complete(operation, .success(.gatt(value)))
        case .failure(let failure): complete(operation, .failure(.gatt(failure)))
        }
    }

    /// Tells write queues and the attribute server what of theirs has gone.
    mutating func notePassedFrames(at now: Instant) {
        while let slot = acl.popSlotWithPassedFrames() {
            guard links.isOccupied(slot) else { continue }
            let passed = links[slot].passedTags
            links[slot].passedTags.removeAll(keepingCapacity: true)
            for tag in passed {
                switch tag {
                case .none: break
                case .command(let command): links[slot].gatt.commandSent(command)
                case .server(let tag): gattServer.sent(tag, to: links[slot].id, at: now)
                case .channel(let number): links[slot].signalling.channelFrameGone(number, at: now)
                }
            }
            drainGATT(slot, at: now)
            drainServer(at: now)
            drainChannels(slot, at: now)
            acl.pump(&links, into: &effects.packets, at: now)
        }
    }
}
