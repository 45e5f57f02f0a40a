import BLEPackets

/// Shares the controller's packet buffers among the links: one fragment each in turn, never more than there is room for
/// (Core 5.4, Vol 4, Part E, 4.1.1).
///
/// A peer that does not acknowledge keeps what the controller holds for it. A link of which the controller holds
/// something therefore leaves a buffer free for each link of which it holds nothing, as far as that costs it no more than
/// half of them: the other links go on, whatever one peer does.
struct ACLScheduler {
    /// How long the controller may hold packets of a link without having sent one.
    ///
    /// It is longer than any supervision timeout (32 s) and than the link layer's own patience with a peer that does not
    /// answer (40 s; Core 5.4, Vol 6, Part B, 5.2): where those end a link, they come first. What is left is a peer that
    /// is there, sends, and takes nothing.
    static let timeout: Microseconds = .seconds(45)

    /// Octets of data in one packet.
    private(set) var packetLength = 27
    private var total = 1
    private var available = 1
    /// Links with something to send, in turn.
    private var ring = Queue<Link>()
    /// How many of those in the ring have no packet with the controller.
    private var unservedInRing = 0
    /// Links that have packets with the controller.
    private var busyLinks = 0
    /// Links of which frames have gone whose senders have not heard of it.
    private var passed = Queue<Link>()

    mutating func configure(packetLength: UInt16, packetCount: UInt16) {
        self.packetLength = max(27, Int(packetLength))
        total = max(1, Int(packetCount))
        available = total
        ring.removeAll()
        unservedInRing = 0
        busyLinks = 0
        passed.removeAll()
    }

    mutating func append(_ frame: Link.OutgoingFrame, to link: Link) {
        link.queue.append(frame)
        guard !link.isInTransmitRing else { return }
        link.isInTransmitRing = true
        ring.append(link)
        if link.packetsInFlight == 0 { unservedInRing += 1 }
    }

    /// The controller has room again.
    mutating func completed(_ count: Int, of link: Link, at now: Instant) {
        let confirmed = min(count, link.packetsInFlight)
        guard confirmed > 0 else { return }
        link.packetsInFlight -= confirmed
        link.lastConfirmation = now
        available = min(total, available + confirmed)
        guard link.packetsInFlight == 0 else { return }
        busyLinks -= 1
        if link.isInTransmitRing { unservedInRing += 1 }
    }

    /// The link is gone, and what the controller held for it too (pain 11).
    mutating func reclaim(_ link: Link) {
        available = min(total, available + link.packetsInFlight)
        if link.packetsInFlight > 0 { busyLinks -= 1 } else if link.isInTransmitRing { unservedInRing -= 1 }
        ring.keep { $0 !== link }
        passed.keep { $0 !== link }
    }

    /// Drops the frames of a link of which nothing has gone to the controller; their senders hear nothing.
    func discardWaiting(of link: Link) { link.queue.removeAll() }

    /// A link of which frames have gone, for their senders to hear.
    mutating func popLinkWithPassedFrames() -> Link? { passed.popFirst() }

    /// Sends what may be sent now.
    /// - Parameter links: hears of what changes.
    mutating func pump(_ links: inout LinkTable, into outbox: inout Outbox, at now: Instant) {
        while available > 0, let link = nextLink(of: links.count) {
            links.note(link)
            if link.packetsInFlight == 0 { unservedInRing -= 1 }
            if sendFragment(of: link, into: &outbox, at: now) {
                ring.append(link)
            } else {
                link.isInTransmitRing = false
            }
        }
    }

    /// Takes the next that may send from the ring.
    private mutating func nextLink(of linkCount: Int) -> Link? {
        let reserve = min(linkCount - busyLinks, total / 2)
        if available > reserve { return ring.popFirst() }
        guard unservedInRing > 0 else { return nil }
        // Each that is passed over has a packet with the controller: they are no more than its buffers.
        for _ in 0..<ring.count {
            guard let link = ring.popFirst() else { break }
            if link.packetsInFlight == 0 { return link }
            ring.append(link)
        }
        return nil
    }

    /// - Returns: whether the link has more to send.
    private mutating func sendFragment(
        of link: Link, into outbox: inout Outbox, at now: Instant
    ) -> Bool {
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
        if link.packetsInFlight == 0 {
            busyLinks += 1
            link.lastConfirmation = now
            if link.confirmationCheck == nil { link.confirmationCheck = now.advanced(by: Self.timeout) }
        }
        link.packetsInFlight += 1
        link.sentOctets += count
        if link.sentOctets == frameLength {
            if frame.tag != .none {
                link.passedTags.append(frame.tag)
                passed.append(link)
            } else {
                link.unsentAnswers -= 1
            }
            link.current = nil
        }
        return link.current != nil || !link.queue.isEmpty
    }
}
