import BLEPackets

/// What comes over links, each packet handed to the channel that it is for; and what has gone, told to its senders.
extension Host {
    // MARK: ACL data

    mutating func receiveACL(_ packet: RawSpan, at now: Instant) throws(DecodingError) {
        guard pairings.isExclusive else { return }
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
            if link.hold(frame.payload, into: &effects) { return }
            link.receiveATT(frame.payload, &pairings, &server, at: now, into: &effects)
        case .leSignalling:
            try link.receiveSignalling(
                frame.payload, listeners: channelListeners, &pairings, at: now, into: &effects)
        case .securityManager:
            link.receiveSecurityPDU(frame.payload, &pairings, &links, at: now, into: &effects)
        default:
            link.receiveChannelFrame(frame.payload, on: frame.channelIdentifier, at: now, into: &effects)
        }
    }

    // MARK: Sent

    /// Tells write queues, channels and the attribute server what of theirs has gone.
    /// - Returns: whether anything had.
    mutating func notePassedFrames(at now: Instant) -> Bool {
        guard let link = effects.data.popLinkWithPassedFrames() else { return false }
        links.note(link)
        let passed = link.passedTags
        link.passedTags.removeAll(keepingCapacity: true)
        for tag in passed {
            switch tag {
            case .none: break
            case .command(let command): link.gatt.commandSent(command)
            case .server(let tag): server.sent(tag, to: link.id, at: now)
            case .channel(let number): link.signalling.channelFrameGone(number, at: now)
            }
        }
        link.takeClientActions(into: &effects)
        link.takeChannelActions(into: &effects)
        return true
    }
}
