import BLEPackets

/// The rules for every PDU of one ATT bearer (Core 5.4, Vol 3, Part F, 3.3).
///
///     idle ──sent──▶ awaiting ──answer──▶ idle
///                       │ 30 s
///                       ▼
///                     dead ── nothing more is sent or received
///
/// At most one request of ours waits for its answer; requests of the peer's client are answered meanwhile. The request
/// ends with the response of its method or with an Error Response that names it (Core 5.4, Vol 3, Part F, 3.4.9).
/// Every other response is late, repeated or stray: it is counted and ignored, and only the time of the request ends
/// the bearer (3.3.3). An answer with invalid content costs one operation, not the link.
struct ATTBearer {
    /// ATT_MTU in octets until the exchange (Core 5.4, Vol 3, Part G, 5.2.1).
    static let defaultMTU: UInt16 = 23

    private enum State {
        case idle
        case awaiting(ATTOpcode, deadline: Instant)
        case dead
    }

    /// The kind of a PDU that the peer sent.
    enum Arrival: Equatable {
        /// A response to our request, of the expected kind.
        case response
        case refusal(ATTError, AttributeHandle)
        /// The answer to our request, but with invalid content.
        case invalidResponse(ATTInvalidResponse)
        case notification
        case multipleNotification
        case indication
        /// For our server; it must be answered.
        case request
        case mtuRequest
        /// For our server; it gets no response.
        case command
        /// For our server: it confirms an indication.
        case confirmation
        /// Ignored and counted.
        case ignored
    }

    private var state = State.idle
    private(set) var mtu = ATTBearer.defaultMTU
    /// The receive MTU that the peer got: the same number each time (Core 5.4, Vol 3, Part F, 3.4.2).
    private var announcedMTU: UInt16?
    /// Whether our own exchange is complete: there is only one for each link.
    private(set) var hasExchangedMTU = false
    private(set) var counters = ATTCounters()

    /// The unenhanced bearer of a link.
    init() {}

    /// An enhanced bearer, whose ATT_MTU its channel determines (Core 5.4, Vol 3, Part G, 5.3.1).
    init(enhancedMTU: UInt16) { mtu = max(Self.defaultMTU, enhancedMTU) }

    /// The channel of an enhanced bearer was reconfigured.
    mutating func resize(to mtu: UInt16) { self.mtu = max(Self.defaultMTU, mtu) }

    var isDead: Bool {
        if case .dead = state { return true }
        return false
    }

    var deadline: Instant? {
        if case .awaiting(_, let deadline) = state { return deadline }
        return nil
    }

    /// A request was sent; no other may be in progress.
    mutating func sent(_ request: ATTOpcode, deadline: Instant) { state = .awaiting(request, deadline: deadline) }

    /// The request in progress is only sent now: its time starts again.
    mutating func restart(deadline: Instant) {
        if case .awaiting(let request, _) = state { state = .awaiting(request, deadline: deadline) }
    }

    /// The request in progress was never sent.
    mutating func forgetRequest() {
        if case .awaiting = state { state = .idle }
    }

    /// Nothing more is sent or received.
    mutating func die() { state = .dead }

    /// Classifies a PDU and ends the transaction that it answers.
    mutating func classify(_ pdu: RawSpan) -> Arrival {
        if isDead { return .ignored }
        guard let octet = pdu.byte(at: 0) else { return malformed() }
        if pdu.byteCount > Int(mtu) { counters.oversizedPDUs &+= 1 }
        let opcode = ATTOpcode(rawValue: octet)
        switch opcode.kind {
        case .response: return classifyResponse(pdu, opcode)
        case .notification: return opcode == .handleValueNotification ? .notification : .multipleNotification
        case .indication: return .indication
        case .confirmation: return .confirmation
        case .request: return opcode == .exchangeMTURequest ? .mtuRequest : .request
        case .command: return .command
        case .unknown:
            if !opcode.isCommand { return .request }
            counters.ignoredCommands &+= 1
            return .ignored
        }
    }

    private mutating func classifyResponse(_ pdu: RawSpan, _ opcode: ATTOpcode) -> Arrival {
        guard case .awaiting(let request, _) = state else { return unexpected() }
        guard opcode == .errorResponse else {
            guard opcode == request.response else { return unexpected() }
            state = .idle
            return .response
        }
        // Some servers send an Error Response for a Write Command, too. One that is cut short before it names its
        // request answers none.
        guard pdu.byte(at: 1) == request.rawValue else { return unexpected() }
        state = .idle
        do throws(DecodingError) {
            let response = try ATTErrorResponse(pdu)
            return .refusal(response.error, response.handle)
        } catch {
            return .invalidResponse(.malformed(error))
        }
    }

    private mutating func unexpected() -> Arrival {
        counters.unexpectedResponses &+= 1
        return .ignored
    }

    private mutating func malformed() -> Arrival {
        counters.malformedPDUs &+= 1
        return .ignored
    }

    /// Counts an error that the caller found in a PDU.
    mutating func count(_ counter: WritableCounter) {
        switch counter {
        case .malformedPDUs: counters.malformedPDUs &+= 1
        case .earlyNotificationsDropped: counters.earlyNotificationsDropped &+= 1
        case .unclaimedNotifications: counters.unclaimedNotifications &+= 1
        case .unconfirmedIndications: counters.unconfirmedIndications &+= 1
        }
    }

    /// Takes over what another bearer of the link has counted.
    mutating func addCounters(of other: ATTBearer) { counters.add(other.counters) }

    enum WritableCounter {
        case malformedPDUs, earlyNotificationsDropped, unclaimedNotifications, unconfirmedIndications
    }

    // MARK: MTU

    /// The receive MTU for our request or response; once sent, it stays the same.
    mutating func reportMTU(preferred: UInt16) -> UInt16 {
        if let announcedMTU { return announcedMTU }
        let told = max(Self.defaultMTU, preferred)
        announcedMTU = told
        return told
    }

    /// The peer's receive MTU is known: ATT_MTU is the smaller of both, never less than 23 and never less than before
    /// (pain 9).
    mutating func agree(peerMTU: UInt16) -> Bool {
        let agreed = max(Self.defaultMTU, min(peerMTU, announcedMTU ?? Self.defaultMTU))
        guard agreed > mtu else { return false }
        mtu = agreed
        return true
    }

    /// Our own exchange was answered, with an MTU or with Request Not Supported.
    mutating func endExchange() { hasExchangedMTU = true }
}
