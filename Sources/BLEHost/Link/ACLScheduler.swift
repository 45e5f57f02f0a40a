import BLEPackets

/// Shares the controller's packet buffers among the links: one fragment each in turn, never more than there is room for
/// (Core 5.4, Vol 4, Part E, 4.1.1).
struct ACLScheduler {
    /// Octets of data in one packet.
    private(set) var packetLength = 27
    private var total = 1
    private var available = 1
    /// Slots with something to send, in turn.
    private var ring = Queue<Int>()
    /// Slots of which frames have gone whose senders have not heard of it.
    private var passed = Queue<Int>()

    mutating func configure(packetLength: UInt16, packetCount: UInt16) {
        self.packetLength = max(27, Int(packetLength))
        total = max(1, Int(packetCount))
        available = total
        ring.removeAll()
        passed.removeAll()
    }

    mutating func append(_ frame: Link.OutgoingFrame, to slot: Int, of links: inout LinkTable) {
        links[slot].queue.append(frame)
        guard !links[slot].isInTransmitRing else { return }
        links[slot].isInTransmitRing = true
        ring.append(slot)
    }

    /// The controller has room again.
    mutating func completed(_ count: Int, slot: Int, of links: inout LinkTable) {
        let confirmed = min(count, links[slot].packetsInFlight)
        links[slot].packetsInFlight -= confirmed
        available = min(total, available + confirmed)
    }

    /// The link is gone, and what the controller held for it too (pain 11).
    mutating func reclaim(_ link: Link, slot: Int) {
        available = min(total, available + link.packetsInFlight)
        ring.keep { $0 != slot }
        passed.keep { $0 != slot }
    }

    /// A slot of which frames have gone, for their senders to hear.
    mutating func popSlotWithPassedFrames() -> Int? { passed.popFirst() }

    /// Sends what may be sent now.
    mutating func pump(_ links: inout LinkTable, into outbox: inout Outbox) {
        while available > 0, let slot = ring.popFirst() {
            if sendFragment(of: &links[slot], in: slot, into: &outbox) {
                ring.append(slot)
            } else {
                links[slot].isInTransmitRing = false
            }
        }
    }

    /// - Returns: whether the link has more to send.
    private mutating func sendFragment(of link: inout Link, in slot: Int, into outbox: inout Outbox) -> Bool {
        if link.current == nil {
            link.current = link.queue.popFirst()
            link.sentOctets = 0
        }
        guard let frame = link.current else { return false }
        let isFirst = link.sentOctets == 0
        let frameLength = L2CAPBasicFrame.Header.byteCount + frame.payload.count
        let count = min(packetLength, frameLength - link.sentOctets)
        outbox.append { packet in
            ACLDataPacket.encodePacketHeader(
                into: &packet, handle: link.id.handle, boundary: isFirst ? .firstNonFlushable : .continuing,
                length: count)
            var start = link.sentOctets - L2CAPBasicFrame.Header.byteCount
            var length = count
            if isFirst {
                packet.write(UInt16(truncatingIfNeeded: frame.payload.count))
                packet.write(frame.channel.rawValue)
                start = 0
                length -= L2CAPBasicFrame.Header.byteCount
            }
            packet.write(bytes: frame.payload.span.bytes.extracting(start..<start + length))
        }
        available -= 1
        link.packetsInFlight += 1
        link.sentOctets += count
        if link.sentOctets == frameLength {
            if frame.tag != .none {
                link.passedTags.append(frame.tag)
                passed.append(slot)
            } else {
                link.unsentAnswers -= 1
            }
            link.current = nil
        }
        return link.current != nil || !link.queue.isEmpty
    }
}
