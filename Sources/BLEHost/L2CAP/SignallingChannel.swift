import BLEPackets

/// The LE signalling channel of one link (Core 5.4, Vol 3, Part A, 4), as far as it needs state: our own Connection
/// Parameter Update Request, of which only one may be in progress.
struct SignallingChannel {
    /// How long the peer may take to respond (RTX, Core 5.4, Vol 3, Part A, 6.2.1).
    static let responseTimeout: Microseconds = .seconds(30)

    private var identifiers = SignallingIdentifiers()
    /// The credit-based channels, which signalling opens and closes.
    private var channels = CreditBasedChannels()
    private var pending: (identifier: UInt8, deadline: Instant)?
    /// The last request of ours that was not answered in time: its response may still come.
    private var late: UInt8?

    /// What to do about a received packet.
    enum Reaction: Equatable {
        case none
        /// A response that answers no request of ours (Core 5.4, Vol 3, Part A, 4): counted and ignored.
        case stray
        case reply(LESignallingCommand, identifier: UInt8)
        /// A peripheral requests parameters that the specification allows: accept them, then update the link.
        case accept(ConnectionParameterRequest, identifier: UInt8)
        /// The response to our own request.
        case parametersAnswered(isAccepted: Bool)
        /// The command concerns credit-based channels.
        case channels(LESignallingCommand, identifier: UInt8)
    }

    /// The identifier for a request of ours; never zero.
    mutating func beginParameterRequest(at now: Instant) -> UInt8 {
        let identifier = identifiers.next()
        pending = (identifier, now.advanced(by: Self.responseTimeout))
        return identifier
    }

    @inline(__always)
    var nextDeadline: Instant? {
        Features.channels ? earliest(pending?.deadline, channels.nextDeadline) : pending?.deadline
    }

    /// - Returns: whether our request for parameters timed out.
    mutating func advance(to now: Instant) -> Bool {
        if Features.channels { channels.advance(to: now, identifiers: &identifiers) }
        guard let overdue = pending, overdue.deadline <= now else { return false }
        late = overdue.identifier
        pending = nil
        return true
    }

    mutating func receive(_ payload: RawSpan, role: LinkRole) throws(DecodingError) -> Reaction {
        let packet = try L2CAPSignallingPacket(decoding: payload)
        let identifier = packet.identifier
        let command = try LESignallingCommand(decoding: packet)
        switch command {
        case .connectionParameterUpdateRequest(let request):
            // Only a peripheral sends this request, and only a central answers it (Core 5.4, Vol 3, Part A, 4.20).
            guard role == .central else { return .reply(.notUnderstood, identifier: identifier) }
            guard let wished = ConnectionParameterRequest(request) else {
                return .reply(.connectionParameterUpdateResponse(.init(result: .rejected)), identifier: identifier)
            }
            return .accept(wished, identifier: identifier)
        case .connectionParameterUpdateResponse(let response):
            // Only one request is pending, and some peers answer it with another identifier. Only the late
            // response to the request before is known to be another's.
            guard let pending, pending.identifier == identifier || late != identifier else {
                late = nil
                return .stray
            }
            self.pending = nil
            return .parametersAnswered(isAccepted: response.result == .accepted)
        case .commandReject:
            guard pending?.identifier == identifier else {
                let isAwaited = Features.channels && channels.awaitsAnswer(identifier)
                return isAwaited ? .channels(command, identifier: identifier) : .stray
            }
            pending = nil
            return .parametersAnswered(isAccepted: false)
        case .leCreditBasedConnectionResponse, .creditBasedConnectionResponse, .creditBasedReconfigureResponse:
            let isAwaited = Features.channels && channels.awaitsAnswer(identifier)
            return isAwaited ? .channels(command, identifier: identifier) : .stray
        case .leCreditBasedConnectionRequest, .flowControlCreditIndication, .disconnectionRequest,
            .disconnectionResponse, .creditBasedConnectionRequest, .creditBasedReconfigureRequest:
            guard Features.channels else { fallthrough }
            return .channels(command, identifier: identifier)
        case .other:
            return packet.code.isResponse ? .none : .reply(.notUnderstood, identifier: identifier)
        }
    }

    /// Whether a packet asks for channels, which the link must be secure enough for.
    static func asksForChannels(_ payload: RawSpan) -> Bool {
        switch payload.byte(at: 0).map({ L2CAPSignallingCode(rawValue: $0) }) {
        case .leCreditBasedConnectionRequest, .creditBasedConnectionRequest: true
        default: false
        }
    }

    /// The identifier of a packet that could not be decoded, if its sender waits for a response: such a packet is
    /// rejected (Core 5.4, Vol 3, Part A, 4.1).
    static func identifier(ofMalformedRequest payload: RawSpan) -> UInt8? {
        var reader = PacketReader(payload)
        guard let header = try? L2CAPSignallingPacket.Header(decoding: &reader), !header.code.isResponse,
            header.code != .flowControlCreditIndication
        else { return nil }
        return header.identifier
    }

    // MARK: Credit-based channels

    mutating func nextChannelAction() -> CreditBasedChannels.Action? {
        Features.channels ? channels.nextAction() : nil
    }

    /// Whether a client may open so many channels: the clients of one user leave places to another one.
    func mayOpen(_ count: Int, _ client: ClientID, _ users: ClientUsers) -> Bool {
        guard Features.users, Features.channels, let user = users[client], !user.isOperator else { return true }
        let own = channels.channels.count { users[$0.client] == user }
        return own + count <= CreditBasedChannels.channelLimitOfUser
    }

    mutating func refuseChannels(of operation: OperationID) {
        channels.actions.append(.completed(operation, .failure(.noResources)))
    }

    mutating func openChannel(
        _ spsm: UInt16, _ settings: ChannelSettings, operation: OperationID, client: ClientID, at now: Instant
    ) {
        channels.open(
            spsm: spsm, settings: settings, operation: operation, client: client, identifiers: &identifiers, at: now)
    }

    mutating func openEnhancedChannels(
        _ count: Int, _ spsm: UInt16, _ settings: ChannelSettings, operation: OperationID, client: ClientID,
        at now: Instant
    ) {
        channels.openEnhanced(
            count, spsm: spsm, settings: settings, operation: operation, client: client, identifiers: &identifiers,
            at: now)
    }

    mutating func reconfigureChannels(
        _ numbers: [UInt32], maximumTransmissionUnit: UInt16, maximumPayloadSize: UInt16, operation: OperationID,
        at now: Instant
    ) {
        channels.reconfigure(
            numbers, maximumTransmissionUnit: maximumTransmissionUnit, maximumPayloadSize: maximumPayloadSize,
            operation: operation, identifiers: &identifiers, at: now)
    }

    mutating func sendUnit(_ octets: [UInt8], on number: UInt32, operation: OperationID) {
        channels.send(octets, on: number, operation: operation)
    }

    mutating func sendPDU(_ pdu: [UInt8], onBearer number: UInt32) -> Bool { channels.send(pdu, onBearer: number) }

    mutating func closeBearer(_ number: UInt32, at now: Instant) {
        channels.closeAtOnce(number, identifiers: &identifiers, at: now)
    }

    mutating func consumeUnits(_ count: Int, on number: UInt32) {
        channels.consume(count, on: number, identifiers: &identifiers)
    }

    mutating func closeChannel(_ number: UInt32, operation: OperationID, at now: Instant) {
        channels.close(number, operation: operation, identifiers: &identifiers, at: now)
    }

    mutating func closeChannels(of client: ClientID, at now: Instant) {
        guard Features.channels else { return }
        channels.closeAll(of: client, identifiers: &identifiers, at: now)
    }

    mutating func cancelChannel(_ operation: OperationID) -> Bool {
        Features.channels && channels.cancel(operation)
    }

    mutating func linkLost() { if Features.channels { channels.linkLost() } }

    mutating func channelFrameGone(_ number: UInt32, at now: Instant) {
        guard Features.channels else { return }
        channels.frameGone(number, identifiers: &identifiers, at: now)
    }

    mutating func receiveOnChannels(
        _ command: LESignallingCommand, identifier: UInt8,
        listener: (UInt16) -> Result<(client: ClientID, settings: ChannelSettings), ChannelFailure>, at now: Instant
    ) {
        guard Features.channels else { return }
        channels.receive(command, identifier: identifier, listener: listener, identifiers: &identifiers, at: now)
    }

    /// - Returns: whether the channel exists.
    mutating func receiveFrame(_ payload: RawSpan, on local: L2CAPChannelIdentifier, at now: Instant) -> Bool {
        Features.channels && channels.receive(payload, on: local, identifiers: &identifiers, at: now)
    }
}

/// Identifiers for our requests on one link: ascending, and never zero (Core 5.4, Vol 3, Part A, 4).
struct SignallingIdentifiers {
    private var last: UInt8 = 0

    mutating func next() -> UInt8 {
        last = last == 255 ? 1 : last + 1
        return last
    }
}

extension LESignallingCommand {
    static var notUnderstood: LESignallingCommand { .commandReject(L2CAPCommandReject(reason: .commandNotUnderstood)) }
}

extension ConnectionParameterRequest {
    /// `nil` if the specification does not allow the values.
    init?(_ request: L2CAPConnectionParameterUpdateRequest) {
        self.init(
            minimum: request.minimumInterval, maximum: request.maximumInterval, latency: request.latency,
            timeout: request.supervisionTimeout)
    }

    /// `nil` if the specification does not allow the values.
    init?(minimum: UInt16, maximum: UInt16, latency: UInt16, timeout: UInt16) {
        guard minimum <= maximum else { return nil }
        self.init(
            interval: ConnectionInterval(rawValue: minimum)...ConnectionInterval(rawValue: maximum),
            peripheralLatency: latency, supervisionTimeout: SupervisionTimeout(rawValue: timeout))
        guard isValid else { return nil }
    }
}

extension LEConnectionParameters {
    init(_ request: ConnectionParameterRequest) {
        self.init(
            minimumInterval: request.interval.lowerBound, maximumInterval: request.interval.upperBound,
            latency: request.peripheralLatency, supervisionTimeout: request.supervisionTimeout)
    }
}
