import BLEPackets

/// Splits what a line carries into H4 packets, and finds the way back after lost or stray octets where the line can
/// lose some.
///
///     searching ──answer to Reset──▶ in step ──no packet type, packet cut off, Reset sent──▶ searching
///
/// H4 has no checksum and no mark between packets. After a loss all octets are discarded until the controller answers
/// HCI Reset (`ResetAnswerSearch`). No I/O and no clock: octets and times come in.
package struct LineFramer {
    /// What is known of the line.
    package enum Line: Equatable {
        /// Nothing gets lost, and the other side is a program that sends packets only.
        case exact
        /// Nothing gets lost, but a serial port may stand behind the other side: a chip's boot log can precede packets.
        case relayed
        /// Octets get lost and appear. The port may have been opened in the middle of a packet.
        case serial
    }

    /// How long the rest of a packet may take on a serial line, from the last octet on. The slowest usual rate carries
    /// a packet of 1021 octets in 89 ms.
    static let stallMicroseconds: UInt64 = 500_000
    /// How many vendors' octets may follow each other without a packet: more are a line that is broken.
    private static let maximumVendorOctets = 64

    private let line: Line
    /// The beginning of an incomplete packet.
    private var unfinished: [UInt8] = []
    /// When the last octet came while a packet was incomplete.
    private var latest: UInt64 = 0
    /// Octets still to be dropped that belong to a vendor's octet.
    private var followingByteCount = 0
    private var vendorOctetCount = 0
    private var search: ResetAnswerSearch?
    /// Whether the controller has answered Reset once: until then boot logs can come.
    private var isProven: Bool

    package init(line: Line) {
        self.line = line
        isProven = line != .relayed
        if line == .serial { search = ResetAnswerSearch() }
    }

    /// Whether `receive` needs the time.
    var needsTime: Bool { line == .serial || search != nil || !isProven }

    /// When to call `advance`; `nil` if no time matters.
    package var nextDeadline: UInt64? {
        if let search { return search.nextDeadline }
        return line == .serial && !unfinished.isEmpty ? latest + Self.stallMicroseconds : nil
    }

    /// The host has sent HCI Reset. On a serial line only its answer proves that both sides are in step: a length that
    /// was misread can have swallowed everything up to now.
    package mutating func sentReset(at now: UInt64) {
        if search == nil, line == .serial {
            search = ResetAnswerSearch(
                cause: nil, discarded: unfinished.count, since: unfinished.isEmpty ? nil : now)
            unfinished.removeAll(keepingCapacity: true)
            followingByteCount = 0
        }
        search?.isResetSent = true
    }

    /// Takes the octets that have come.
    /// - Parameters:
    ///   - deliver: gets each packet, type octet first; valid during the call.
    ///   - reply: gets each octet that a chip waits for.
    /// - Returns: whether packets have been lost since the last call, so that the controller has to be reset.
    /// - Throws: when there is no way back.
    package mutating func receive(
        _ chunk: RawSpan, at now: UInt64, deliver: (RawSpan) -> Void, reply: (UInt8) -> Void
    ) throws(TransportError) -> Bool {
        var hasLost = false
        var rest = chunk
        if line == .serial { latest = now }
        while rest.byteCount > 0 {
            if search != nil {
                try continueSearch(with: &rest, at: now, deliver: deliver)
            } else if followingByteCount > 0 {
                let count = min(followingByteCount, rest.byteCount)
                followingByteCount -= count
                rest = rest.extracting(droppingFirst: count)
            } else if let octet = try takePackets(of: &rest, deliver: deliver, reply: reply) {
                hasLost = hasLost || isProven
                search = ResetAnswerSearch(cause: octet, discarded: 1, since: now)
            }
        }
        return hasLost
    }

    /// Time has passed.
    /// - Returns: whether packets have been lost, so that the controller has to be reset.
    /// - Throws: when there is no way back.
    package mutating func advance(to now: UInt64, deliver: (RawSpan) -> Void) throws(TransportError) -> Bool {
        if var search {
            let isOver = search.isProven(at: now)
            self.search = search
            if isOver {
                end(search.candidate, deliver: deliver)
            } else if search.isOver(at: now) {
                throw failure(of: search)
            }
            return false
        }
        guard let nextDeadline, nextDeadline <= now else { return false }
        search = ResetAnswerSearch(cause: nil, discarded: unfinished.count, since: now)
        unfinished.removeAll(keepingCapacity: true)
        return true
    }

    // MARK: Out of step

    private mutating func continueSearch(
        with rest: inout RawSpan, at now: UInt64, deliver: (RawSpan) -> Void
    ) throws(TransportError) {
        guard var search else { return }
        let (taken, isImmediate) = search.receive(rest, at: now)
        rest = rest.extracting(droppingFirst: taken)
        self.search = search
        if isImmediate {
            end(search.candidate, deliver: deliver)
        } else if search.isOver(at: now) {
            throw failure(of: search)
        }
    }

    private func failure(of search: ResetAnswerSearch) -> TransportError {
        search.cause.map { .framingLost(packetType: $0) } ?? .noResetAnswer(byteCount: search.discardedByteCount)
    }

    /// The answer has come, and whole events may have followed it.
    private mutating func end(_ octets: [UInt8], deliver: (RawSpan) -> Void) {
        search = nil
        isProven = true
        vendorOctetCount = 0
        var rest = octets.span.bytes
        while rest.byteCount > 2, let length = rest.byte(at: 2), 3 + Int(length) <= rest.byteCount {
            deliver(rest.extracting(first: 3 + Int(length)))
            rest = rest.extracting(droppingFirst: 3 + Int(length))
        }
    }

    // MARK: In step

    /// Takes packets and vendors' octets from the front.
    /// - Returns: the octet that is none of them and with which the framing is lost; it has been taken. `nil` if all
    ///   that could be taken was, or octets have to be dropped first.
    private mutating func takePackets(
        of rest: inout RawSpan, deliver: (RawSpan) -> Void, reply: (UInt8) -> Void
    ) throws(TransportError) -> UInt8? {
        while followingByteCount == 0, rest.byteCount > 0 {
            guard unfinished.isEmpty else {
                completeUnfinished(with: &rest, deliver: deliver)
                continue
            }
            guard let first = rest.byte(at: 0), H4PacketType(rawValue: first) != nil else {
                guard let octet = try takeForeignOctet(of: &rest, reply: reply) else { continue }
                return octet
            }
            guard let length = Self.packetByteCount(of: rest), length <= rest.byteCount else {
                store(rest)
                rest = rest.extracting(first: 0)
                return nil
            }
            note(rest.extracting(first: length))
            deliver(rest.extracting(first: length))
            rest = rest.extracting(droppingFirst: length)
        }
        return nil
    }

    /// - Returns: the octet if the framing is lost with it.
    private mutating func takeForeignOctet(
        of rest: inout RawSpan, reply: (UInt8) -> Void
    ) throws(TransportError) -> UInt8? {
        guard let octet = rest.byte(at: 0) else { return nil }
        rest = rest.extracting(droppingFirst: 1)
        guard line == .serial, let meaning = VendorOctets.meaning(of: octet),
            vendorOctetCount < Self.maximumVendorOctets
        else {
            guard line == .serial || !isProven else { throw .framingLost(packetType: octet) }
            return octet
        }
        vendorOctetCount = meaning.followingByteCount > 0 ? 0 : vendorOctetCount + 1
        followingByteCount = meaning.followingByteCount
        // A chip that waits for the reply sends nothing meanwhile. One that is of another make could lose its own
        // framing by it.
        if let answer = meaning.reply, rest.byteCount == 0 { reply(answer) }
        return nil
    }

    private mutating func note(_ packet: RawSpan) {
        vendorOctetCount = 0
        if !isProven { isProven = Self.answersReset(packet) }
    }

    private static func answersReset(_ packet: RawSpan) -> Bool {
        packet.byte(at: 0) == H4PacketType.event.rawValue && packet.byte(at: 1) == HCIEventCode.commandComplete.rawValue
            && packet.byte(at: 4) == 0x03 && packet.byte(at: 5) == 0x0C
    }

    private mutating func completeUnfinished(with rest: inout RawSpan, deliver: (RawSpan) -> Void) {
        let length = Self.packetByteCount(of: unfinished.span.bytes)
        // A header of at most five octets is read octet by octet until the length is known.
        let taken = min(length.map { $0 - unfinished.count } ?? 1, rest.byteCount)
        store(rest.extracting(first: taken))
        rest = rest.extracting(droppingFirst: taken)
        guard Self.packetByteCount(of: unfinished.span.bytes) == unfinished.count else { return }
        vendorOctetCount = 0
        if !isProven { isProven = Self.answersReset(unfinished.span.bytes) }
        deliver(unfinished.span.bytes)
        unfinished.removeAll(keepingCapacity: true)
    }

    private mutating func store(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { unsafe unfinished.append(contentsOf: $0) }
    }

    /// The length of the packet at the front, whose type has been checked; `nil` while the header is not complete.
    private static func packetByteCount(of bytes: RawSpan) -> Int? {
        do throws(DecodingError) { return try H4Framer.packetByteCount(of: bytes) } catch { return nil }
    }
}
