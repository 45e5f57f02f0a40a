import BLEPackets

/// What comes over links, each packet handed to the channel that it is for; and what has gone, told to its senders.
extension Host {
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
            if !link.hold(frame.payload, into: &effects) { receiveATT(frame.payload, on: link, at: now) }
        case .leSignalling:
            try link.receiveSignalling(
                frame.payload, listeners: channelListeners, bonds, policy: security.pairing, at: now, into: &effects)
        case .securityManager:
            receiveSecurityPDU(frame.payload, on: link, at: now)
        default:
            link.receiveChannelFrame(frame.payload, on: frame.channelIdentifier, at: now, into: &effects)
        }
    }

    mutating func receiveATT(_ pdu: RawSpan, on link: Link, at now: Instant) {
        if link.security.isGated, !link.admits(pdu, into: &effects) { return }
        let mtu = link.gatt.bearer.mtu
        if link.receiveAttributePDU(pdu, at: now, into: &effects) { return receiveServerPDU(pdu, on: link, at: now) }
        let agreed = link.gatt.bearer.mtu
        if agreed != mtu { gattServer.mtuChanged(to: agreed, on: link.id) }
    }

    private mutating func receiveServerPDU(_ pdu: RawSpan, on link: Link, at now: Instant) {
        let opcode = pdu.byte(at: 0).map { ATTOpcode(rawValue: $0) }
        if opcode == .signedWriteCommand { return signedWriteReceived(pdu.copied(), link: link) }
        gattServer.receive(pdu, from: link.id, at: now)
        // What a client is told of a value comes before what its bond keeps of that.
        drainServer(at: now)
        if opcode == .writeRequest, gattServer.keepsPerClient(pdu) { noteClientRecord(of: link, at: now) }
    }

    // MARK: Sent

    /// Tells write queues and the attribute server what of theirs has gone.
    mutating func notePassedFrames(at now: Instant) {
        while let link = effects.data.popLinkWithPassedFrames() {
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
            link.takeClientActions(into: &effects)
            drainServer(at: now)
            link.takeChannelActions(into: &effects)
            fulfilWishes(at: now)
            effects.sendData(&links, at: now)
        }
    }
}
