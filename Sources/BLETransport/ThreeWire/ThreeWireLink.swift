import BLEPackets

/// One side of a three-wire link: H4 packets over a line that loses and changes octets (Core 5.4, Vol 4, Part D).
///
///     uninitialized ──SYNC RESPONSE──▶ initialized ──CONFIG RESPONSE──▶ active
///          ▲                                                              │
///          └────────── SYNC: the peer was reset; no acknowledgement ──────┘
///
/// Both sides behave alike. No I/O and no clock: octets and times come in; octets, packets and a deadline come out.
/// After each input take the events, then the output, then set a timer to the deadline.
package struct ThreeWireLink {
    enum State: Equatable { case uninitialized, initialized, active }

    package enum Event: Equatable {
        /// A packet of the peer, type octet first.
        case packet([UInt8])
        /// Both sides can send. Packets that were sent before and not acknowledged are lost.
        case established
        /// The peer was reset, or acknowledges nothing any more: the link is being established anew.
        case lost
    }

    /// Whether the peer can receive.
    private enum Wakefulness { case awake, asleep, waking }

    /// A reliable packet on its way.
    private struct Sent {
        var type: UInt8
        var payload: [UInt8]
    }

    /// How much may wait beyond the window.
    static let maximumWaitingByteCount = 1 << 20
    /// XOFF is believed for so long: its XON can get lost.
    private static let longestPauseMicroseconds: UInt64 = 2_000_000
    /// How often a peer that sleeps is woken in vain.
    private static let maximumWakeUps = 20
    /// A packet that is not acknowledged after so long is sent again less often.
    private static let longestUsualWaitMicroseconds: UInt64 = 5_000_000
    /// The header, the CRC and the delimiters of a frame.
    private static let frameByteCount = 8
    /// How many answers in a row must grant the same before less than this side offers is agreed on.
    private static let lesserAnswerCount = 3

    let configuration: ThreeWireConfiguration
    private(set) var state = State.uninitialized
    var agreement: ThreeWireAgreement { agreed ?? ThreeWireAgreement() }
    private var agreed: ThreeWireAgreement?
    private var decoder = SLIPDecoder()
    private var events = Queue<Event>()
    private var output: [UInt8] = []

    private var waiting = Queue<Sent>()
    private(set) var waitingByteCount = 0
    /// Sent and not acknowledged; the first has the number `base`.
    private var unacknowledged: [Sent] = []
    private var base: UInt8 = 0
    /// Since when the first of them has been sent again and again.
    private var unacknowledgedSince: UInt64 = 0
    /// When the peer last said that it is awake.
    private var answeredAt: UInt64 = 0
    private var wakeUps = 0
    private var expected: UInt8 = 0
    private var owesAcknowledgement = false
    private var peer = Wakefulness.awake

    /// The Configuration Field of the last answers that grant less than this side offers, and how many of them agree.
    private var lesserAnswers: (field: UInt8, count: Int)?

    private var messageDeadline: UInt64?
    private var retransmissionDeadline: UInt64?
    private var pauseEnd: UInt64?

    package init(configuration: ThreeWireConfiguration = ThreeWireConfiguration()) {
        self.configuration = configuration
    }

    // MARK: Inputs

    /// Begins to establish the link.
    package mutating func start(at now: UInt64) { establish(at: now) }

    /// Establishes the link anew; what is on its way is lost.
    mutating func restart(at now: UInt64) { establish(at: now) }

    /// Sends an H4 packet; reliably, but for synchronous and isochronous data.
    /// - Returns: whether it was taken: not if it is too long for a frame, or too much waits.
    package mutating func send(_ packet: RawSpan, at now: UInt64) -> Bool {
        guard let type = packet.byte(at: 0) else { return true }
        let payload = packet.extracting(droppingFirst: 1).copied()
        guard payload.count <= ThreeWireFrame.maximumPayloadByteCount else { return false }
        guard type != H4PacketType.sco.rawValue, type != H4PacketType.iso.rawValue else {
            if state == .active, peer == .awake { write(ThreeWireFrame(type: type, payload: payload)) }
            return true
        }
        guard waitingByteCount + payload.count <= Self.maximumWaitingByteCount else { return false }
        waiting.append(Sent(type: type, payload: payload))
        waitingByteCount += payload.count
        fillWindow(at: now)
        return true
    }

    /// Announces that this side goes to sleep; the peer wakes it before it sends.
    mutating func sleep() {
        if state == .active { write(.sleep) }
    }

    package mutating func receive(_ octets: RawSpan, at now: UInt64) {
        for index in 0..<octets.byteCount {
            guard let octet = octets.byte(at: index) else { return }
            if agreement.hasSoftwareFlowControl, octet == SLIPFraming.resume || octet == SLIPFraming.pause {
                pauseEnd = octet == SLIPFraming.pause ? now + Self.longestPauseMicroseconds : nil
                continue
            }
            guard let frame = decoder.take(octet).flatMap({ ThreeWireFrame(decoding: $0) }) else { continue }
            receive(frame, at: now)
        }
        fillWindow(at: now)
    }

    /// Time has passed.
    package mutating func advance(to now: UInt64) {
        if let pauseEnd, pauseEnd <= now { self.pauseEnd = nil }
        if let messageDeadline, messageDeadline <= now { sendMessage(at: now) }
        if let retransmissionDeadline, retransmissionDeadline <= now { retransmit(at: now) }
        fillWindow(at: now)
    }

    // MARK: Outputs

    /// When to call `advance`; `nil` if no timer runs.
    package var nextDeadline: UInt64? {
        var next = messageDeadline
        for deadline in [retransmissionDeadline, pauseEnd] {
            if let deadline { next = min(next ?? deadline, deadline) }
        }
        return next
    }

    package mutating func nextEvent() -> Event? { events.popFirst() }

    /// Removes and returns the octets for the line. What the caller sent for the events before acknowledges them;
    /// otherwise an acknowledgement is among the octets.
    package mutating func takeOutput() -> [UInt8] {
        if owesAcknowledgement, state == .active { write(ThreeWireFrame(type: ThreeWireFrame.acknowledgement)) }
        guard pauseEnd == nil else { return [] }
        defer { output.removeAll(keepingCapacity: true) }
        return output
    }

    // MARK: Establishing

    private mutating func establish(at now: UInt64) {
        state = .uninitialized
        agreed = nil
        unacknowledged.removeAll()
        waiting = Queue()
        waitingByteCount = 0
        (base, expected, wakeUps) = (0, 0, 0)
        (owesAcknowledgement, peer) = (false, .awake)
        (retransmissionDeadline, pauseEnd, lesserAnswers) = (nil, nil, nil)
        sendMessage(at: now)
    }

    private mutating func lose(at now: UInt64) {
        events.append(.lost)
        establish(at: now)
    }

    /// Sends the message that is due in this state, until its answer comes.
    private mutating func sendMessage(at now: UInt64) {
        messageDeadline = now + configuration.messageMicroseconds
        switch state {
        case .uninitialized: write(.sync)
        case .initialized: write(.config(configuration.field))
        case .active where peer == .waking:
            wakeUps += 1
            guard wakeUps <= Self.maximumWakeUps else { return lose(at: now) }
            write(.wakeUp)
        case .active: messageDeadline = nil
        }
    }

    private mutating func receive(_ message: ThreeWireMessage, at now: UInt64) {
        switch (message, state) {
        case (.sync, .active):
            lose(at: now)
            write(.syncResponse)
        case (.sync, _): write(.syncResponse)
        case (.syncResponse, .uninitialized):
            state = .initialized
            sendMessage(at: now)
        // The peer may become active by the answer, and then takes a SYNC for a reset: none may follow.
        case (.config, .uninitialized): break
        case (.config(let field), _):
            let granted = field.map { ThreeWireAgreement(configuration, field: $0) }
            // Linux answers without a Configuration Field, and the one that it asks for may come afterwards.
            if let granted, state != .active || agreed == nil { agreed = granted }
            write(.configResponse(granted?.field))
        case (.configResponse(let field?), .initialized) where mustBeRepeated(field):
            write(.config(configuration.field))
        case (.configResponse(let field), .initialized):
            if let field { agreed = ThreeWireAgreement(configuration, field: field) }
            state = .active
            messageDeadline = nil
            events.append(.established)
        case (.wakeUp, .active): write(.woken)
        case (.woken, .active):
            answeredAt = now
            peerIsAwake(at: now)
        case (.sleep, .active): peer = .asleep
        default: break
        }
    }

    /// Whether an answer has to come again before it counts. Nothing protects these messages, and octets change on the
    /// way: a link without a CRC that both sides can do would pass on every other octet that changes.
    private mutating func mustBeRepeated(_ field: UInt8) -> Bool {
        guard field != configuration.field else { return false }
        let count = lesserAnswers.map { $0.field == field ? $0.count + 1 : 1 } ?? 1
        lesserAnswers = (field, count)
        return count < Self.lesserAnswerCount
    }

    // MARK: Receiving

    private mutating func receive(_ frame: ThreeWireFrame, at now: UInt64) {
        guard frame.type != ThreeWireFrame.linkControl else {
            if let message = ThreeWireMessage(frame.payload) { receive(message, at: now) }
            return
        }
        guard state == .active else { return }
        peerIsAwake(at: now)
        acknowledge(frame.acknowledgementNumber, at: now)
        if frame.isReliable {
            // One that was received before means that its acknowledgement was lost.
            owesAcknowledgement = true
            guard frame.sequenceNumber == expected else { return }
            expected = (expected + 1) & 7
        }
        guard H4PacketType(rawValue: frame.type) != nil else { return }
        events.append(.packet([frame.type] + frame.payload))
    }

    /// The peer expects this number next, so that it has everything before it.
    private mutating func acknowledge(_ number: UInt8, at now: UInt64) {
        let count = Int((number &- base) & 7)
        guard count > 0, count <= unacknowledged.count else { return }
        unacknowledged.removeFirst(count)
        base = number
        unacknowledgedSince = now
        retransmissionDeadline = unacknowledged.isEmpty ? nil : nextRetransmission(after: now)
    }

    private func nextRetransmission(after now: UInt64) -> UInt64 {
        let byteCount = unacknowledged.reduce(0) { $0 + $1.payload.count + Self.frameByteCount }
        let pause = configuration.retransmissionPause(byteCount: byteCount)
        let isUsual = now < unacknowledgedSince + Self.longestUsualWaitMicroseconds
        return now + (isUsual ? pause : max(pause, configuration.retransmissionMicroseconds))
    }

    private mutating func peerIsAwake(at now: UInt64) {
        guard peer != .awake else { return }
        peer = .awake
        messageDeadline = nil
        unacknowledgedSince = now
        resend(at: now)
    }

    // MARK: Sending

    private mutating func fillWindow(at now: UInt64) {
        guard state == .active, unacknowledged.count < agreement.window, let next = waiting.first else { return }
        guard peer == .awake else { return wakePeer(at: now) }
        if unacknowledged.isEmpty { unacknowledgedSince = now }
        var candidate: Sent? = next
        while unacknowledged.count < agreement.window, let packet = candidate {
            _ = waiting.popFirst()
            waitingByteCount -= packet.payload.count
            unacknowledged.append(packet)
            writeReliable(at: unacknowledged.count - 1)
            candidate = waiting.first
        }
        if retransmissionDeadline == nil { retransmissionDeadline = nextRetransmission(after: now) }
    }

    private mutating func wakePeer(at now: UInt64) {
        guard peer == .asleep else { return }
        peer = .waking
        wakeUps = 0
        sendMessage(at: now)
    }

    private mutating func retransmit(at now: UInt64) {
        retransmissionDeadline = nil
        guard !unacknowledged.isEmpty else { return }
        guard peer == .awake else { return wakePeer(at: now) }
        let waited = now - max(unacknowledgedSince, answeredAt)
        guard waited < configuration.patienceMicroseconds else { return lose(at: now) }
        // Linux before 6.4 acknowledges a packet once, and says nothing when it comes again. If that acknowledgement
        // was lost, the next one comes with its next packet, which may be in an hour: it is asked whether it is there.
        if waited >= configuration.patienceMicroseconds / 2 { write(.wakeUp) }
        resend(at: now)
    }

    private mutating func resend(at now: UInt64) {
        guard !unacknowledged.isEmpty else { return }
        for index in unacknowledged.indices { writeReliable(at: index) }
        retransmissionDeadline = nextRetransmission(after: now)
    }

    private mutating func writeReliable(at index: Int) {
        var frame = ThreeWireFrame(
            type: unacknowledged[index].type, payload: unacknowledged[index].payload, isReliable: true)
        frame.sequenceNumber = (base &+ UInt8(truncatingIfNeeded: index)) & 7
        write(frame)
    }

    private mutating func write(_ message: ThreeWireMessage) {
        let frame = ThreeWireFrame(type: ThreeWireFrame.linkControl, payload: message.octets)
        SLIPFraming.append(frame.encoded(withCRC: false), escapesFlowControl: false, to: &output)
    }

    private mutating func write(_ frame: ThreeWireFrame) {
        var frame = frame
        frame.acknowledgementNumber = expected
        owesAcknowledgement = false
        // Linux goes by the length alone. Where a line lost an octet of a frame and all delimiters behind it, Linux
        // would read the next frame's first octet as the last one of this frame, and there is no CRC to show it.
        if !agreement.hasCRC { output += [SLIPFraming.delimiter, SLIPFraming.delimiter] }
        SLIPFraming.append(
            frame.encoded(withCRC: agreement.hasCRC), escapesFlowControl: agreement.hasSoftwareFlowControl, to: &output)
    }
}
