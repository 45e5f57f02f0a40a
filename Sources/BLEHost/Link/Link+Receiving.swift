import BLEPackets

/// What arrives over the link: fragments are put together, and each frame goes to its channel.
extension Link {
    /// Receives one fragment of an L2CAP frame.
    func receive(
        _ fragment: RawSpan, isStart: Bool, _ rooms: inout Rooms, into effects: inout Effects
    ) throws(DecodingError) {
        switch reassembler.receive(fragment, isStart: isStart) {
        case .whole:
            try receiveFrame(fragment, &rooms, into: &effects)
        case .assembled:
            let frame = reassembler.removeFrame()
            try receiveFrame(frame.span.bytes, &rooms, into: &effects)
            reassembler.recycle(frame)
        case .incomplete: break
        case .dropped: effects.counters.oversizedFrames &+= 1
        }
    }

    private func receiveFrame(
        _ bytes: RawSpan, _ rooms: inout Rooms, into effects: inout Effects
    ) throws(DecodingError) {
        let frame = try L2CAPBasicFrame(decoding: bytes)
        if security.isForfeited { return security.recordCleartext(into: &effects) }
        recordTraffic(into: &effects)
        switch frame.channelIdentifier {
        case .attributeProtocol:
            if security.postpones(frame.payload) {
                return postpone(frame.payload, on: .attributeProtocol, into: &effects)
            }
            receiveATT(frame.payload, &rooms, into: &effects)
        case .leSignalling:
            // Whether the peer may have the channel depends on the key.
            if security.isChanging, SignallingChannel.asksForChannels(frame.payload) {
                return postpone(frame.payload, on: .leSignalling, into: &effects)
            }
            try receiveSignalling(frame.payload, &rooms, into: &effects)
        case .securityManager:
            receiveSecurityPDU(frame.payload, &rooms, into: &effects)
        default:
            receiveChannelFrame(frame.payload, on: frame.channelIdentifier, into: &effects)
        }
    }

    /// Keeps what the new key decides about. USB carries events and data on different endpoints: the event that reports
    /// the change may come after data that are encrypted with the new key.
    @inline(never)
    private func postpone(_ pdu: RawSpan, on channel: L2CAPChannelIdentifier, into effects: inout Effects) {
        let interval = Microseconds(parameters.interval)
        if security.postpone(pdu, on: channel, interval: interval, at: effects.now) { return }
        if security.isDoubtful(pdu, on: channel) { return refuseCleartext(pdu, into: &effects) }
        effects.counters.floodedLinks &+= 1
        end(.remoteDeviceLowResources, into: &effects)
    }

    /// Receives what arrived while the key was being changed.
    func receivePostponed(_ rooms: inout Rooms, into effects: inout Effects) {
        for pdu in security.removePostponedPDUs() where !isClosing {
            switch pdu.channel {
            case .leSignalling:
                do throws(DecodingError) {
                    try receiveSignalling(pdu.octets.span.bytes, &rooms, into: &effects)
                } catch {
                    effects.recordMalformedPacket(error)
                }
            case _ where pdu.isRefused: refuseCleartext(pdu.octets.span.bytes, into: &effects)
            default: receiveATT(pdu.octets.span.bytes, &rooms, into: &effects)
            }
        }
        continueBearers(&rooms, into: &effects)
    }
}
