import BLEPackets

/// What arrives over the link: fragments are put together, and each frame goes to its channel.
extension Link {
    /// Receives one fragment of an L2CAP frame.
    func receive(
        _ fragment: RawSpan, isStart: Bool, _ pairings: inout Pairings, _ links: inout LinkTable,
        _ server: inout GATTServer, _ listeners: inout ChannelListeners, at now: Instant, into effects: inout Effects
    ) throws(DecodingError) {
        switch reassembler.receive(fragment, isStart: isStart) {
        case .whole:
            try receiveFrame(fragment, &pairings, &links, &server, &listeners, at: now, into: &effects)
        case .assembled:
            let frame = reassembler.takeFrame()
            try receiveFrame(frame.span.bytes, &pairings, &links, &server, &listeners, at: now, into: &effects)
            reassembler.recycle(frame)
        case .incomplete: break
        case .dropped: effects.counters.oversizedFrames &+= 1
        }
    }

    private func receiveFrame(
        _ bytes: RawSpan, _ pairings: inout Pairings, _ links: inout LinkTable, _ server: inout GATTServer,
        _ listeners: inout ChannelListeners, at now: Instant, into effects: inout Effects
    ) throws(DecodingError) {
        let frame = try L2CAPBasicFrame(decoding: bytes)
        if security.isForfeited { return security.noteCleartext(into: &effects) }
        noteTraffic(at: now, into: &effects)
        switch frame.channelIdentifier {
        case .attributeProtocol:
            if hold(frame.payload, into: &effects) { return }
            receiveATT(frame.payload, &pairings, &server, at: now, into: &effects)
        case .leSignalling:
            try receiveSignalling(frame.payload, listeners, &pairings, at: now, into: &effects)
        case .securityManager:
            receiveSecurityPDU(frame.payload, &pairings, &links, at: now, into: &effects)
        default:
            receiveChannelFrame(frame.payload, on: frame.channelIdentifier, at: now, into: &effects)
        }
    }
}
