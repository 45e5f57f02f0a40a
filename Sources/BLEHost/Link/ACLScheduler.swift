import BLEPackets

/// Shares the controller's packet buffers among the links: one fragment per link in turn, and never more packets than
/// there are free buffers (Core 5.4, Vol 4, Part E, 4.1.1).
///
/// The controller keeps the packets for a peer that does not acknowledge. A link with packets in the controller
/// therefore leaves one buffer free for each link without any, but gives up at most half of all buffers. The other
/// links keep working, whatever one peer does.
struct ACLScheduler {
    /// How long packets of a link may be in the controller without any being sent.
    ///
    /// It is longer than any supervision timeout (32 s) and the link layer's procedure response timeout (40 s; Core
    /// 5.4, Vol 6, Part B, 5.2): if either of them applies, it ends the link first. What remains is a peer that is
    /// present and sends, but accepts nothing.
    static let timeout: Microseconds = .seconds(45)

    /// A controller that reports more than any chip has is not believed: behind its buffers there may be others'
    /// (mynewt-mcumgr#93 shows 8192 octets and 128 packets).
    static let longestPacket = 1021
    static let mostPackets = 32

    /// How long a packet must have been in the controller to show that the controller sends none.
    static let silence: Microseconds = .seconds(10)

    /// Octets of data in one ACL data packet, at least 27.
    private(set) var packetLength = 27
    private var total = 1
    private var available = 1
    /// Links with something to send, in the order of their turns.
    private var ring = Queue<Link>()
    /// How many links in the ring have no packets in the controller.
    private var unservedInRing = 0
    /// Links that have packets in the controller.
    private var busyLinks = 0
    /// Links with completely sent frames whose senders have had no report yet.
    private var passed = Queue<Link>()
    /// When the controller last confirmed a packet of any link.
    private var lastConfirmation = Instant.zero
    /// How many links have stalled, one after the other, while no packet of any link was confirmed.
    private var stallsInSuccession = 0

    /// - Parameter isBelieved: whether to use whatever the controller reports.
    mutating func configure(packetLength: UInt16, packetCount: UInt16, isBelieved: Bool) {
        let (longest, most) = isBelieved ? (Int.max, Int.max) : (Self.longestPacket, Self.mostPackets)
        self.packetLength = max(27, min(longest, Int(packetLength)))
        total = max(1, min(most, Int(packetCount)))
        stallsInSuccession = 0
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

    /// The controller has sent `count` packets of the link and has room again.
    mutating func completed(_ count: Int, of link: Link, at now: Instant) {
        let confirmed = min(count, link.packetsInFlight)
        guard confirmed > 0 else { return }
        link.packetsInFlight -= confirmed
        link.lastConfirmation = now
        lastConfirmation = now
        stallsInSuccession = 0
        available = min(total, available + confirmed)
        guard link.packetsInFlight == 0 else { return }
        busyLinks -= 1
        if link.isInTransmitRing { unservedInRing += 1 }
    }

    /// Data were lost because the controller had no room for them, although it said that it had (Core 5.4, Vol 4, Part
    /// E, 7.7.26): from now on it gets one packet less at a time.
    mutating func overflowed() {
        guard total > 1 else { return }
        total -= 1
        available -= 1
    }

    /// A link has stalled.
    /// - Parameter others: the other links.
    /// - Returns: whether the controller sends nothing on any link. One link alone may have an odd peer: it takes a
    ///   second one whose packets stay in the controller, at the same time or after the first one was closed.
    mutating func stalled(besides others: [Link], at now: Instant) -> Bool {
        stallsInSuccession += 1
        guard lastConfirmation.advanced(by: Self.silence) <= now else { return false }
        return stallsInSuccession > 1
            || others.contains {
                $0.packetsInFlight > 0 && $0.lastConfirmation.advanced(by: Self.silence) <= now
            }
    }

    /// The link is gone, and its packets in the controller with it (pain 11).
    mutating func reclaim(_ link: Link) {
        available = min(total, available + link.packetsInFlight)
        if link.packetsInFlight > 0 { busyLinks -= 1 } else if link.isInTransmitRing { unservedInRing -= 1 }
        ring.retain { $0 !== link }
        passed.retain { $0 !== link }
    }

    /// Drops the frames of a link that the controller has nothing of yet; their senders get no report.
    func discardWaiting(of link: Link) { link.queue.removeAll() }

    /// The next link with completely sent frames whose senders are due a report.
    mutating func popLinkWithPassedFrames() -> Link? { passed.popFirst() }

    /// Sends as many fragments as the controller has room for.
    /// - Parameter links: is notified of each link that changes.
    @inline(__always)
    mutating func pump(_ links: inout LinkTable, into outbox: inout Outbox, at now: Instant) {
        if !ring.isEmpty { send(&links, into: &outbox, at: now) }
    }

    private mutating func send(_ links: inout LinkTable, into outbox: inout Outbox, at now: Instant) {
        while available > 0, let link = nextLink(of: links.count) {
            links.markChanged(link)
            if link.packetsInFlight == 0 { unservedInRing -= 1 }
            if sendFragment(of: link, into: &outbox, at: now) {
                ring.append(link)
            } else {
                link.isInTransmitRing = false
            }
        }
    }

    /// Takes the next link that may send from the ring.
    private mutating func nextLink(of linkCount: Int) -> Link? {
        let reserve = min(linkCount - busyLinks, total / 2)
        if available > reserve { return ring.popFirst() }
        guard unservedInRing > 0 else { return nil }
        // Each link that is skipped has a packet in the controller, so there are at most as many as buffers.
        for _ in 0..<ring.count {
            guard let link = ring.popFirst() else { break }
            if link.packetsInFlight == 0 { return link }
            ring.append(link)
        }
        return nil
    }

    /// - Returns: whether the link has more to send.
    private mutating func sendFragment(of link: Link, into outbox: inout Outbox, at now: Instant) -> Bool {
        let begun = link.current.take()
        let isFirst = begun == nil
        if isFirst { link.sentOctets = 0 }
        guard let frame = begun ?? link.queue.popFirst() else { return false }
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
            return !link.queue.isEmpty
        }
        link.current = frame
        return true
    }
}
