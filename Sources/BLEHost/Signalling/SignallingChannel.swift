import BLEPackets

/// The LE signalling channel of one link (Core 5.4, Vol 3, Part A, 4), as far as it needs memory: our own Connection
/// Parameter Update Request, of which only one may be under way.
struct SignallingChannel {
    /// How long the peer may take to answer (RTX, Core 5.4, Vol 3, Part A, 6.2.1).
    static let responseTimeout: Microseconds = .seconds(30)

    private var lastIdentifier: UInt8 = 0
    private var pending: (identifier: UInt8, deadline: Instant)?

    /// What a received packet asks for.
    enum Reaction: Equatable {
        case none
        case reply(LESignallingCommand, identifier: UInt8)
        /// A peripheral asks for parameters that the specification allows: accept, then update the link.
        case accept(ConnectionParameterRequest, identifier: UInt8)
        /// The answer to our own request.
        case parametersAnswered(isAccepted: Bool)
    }

    /// An identifier for a request of ours; never zero.
    mutating func beginParameterRequest(at now: Instant) -> UInt8 {
        lastIdentifier = lastIdentifier == 255 ? 1 : lastIdentifier + 1
        pending = (lastIdentifier, now.advanced(by: Self.responseTimeout))
        return lastIdentifier
    }

    var nextDeadline: Instant? { pending?.deadline }

    /// - Returns: whether our request was given up.
    mutating func advance(to now: Instant) -> Bool {
        guard let deadline = pending?.deadline, deadline <= now else { return false }
        pending = nil
        return true
    }

    mutating func receive(_ payload: RawSpan, role: LinkRole) throws(DecodingError) -> Reaction {
        let packet = try L2CAPSignallingPacket(decoding: payload)
        let identifier = packet.identifier
        let command = try LESignallingCommand(decoding: packet)
        switch command {
        case .connectionParameterUpdateRequest(let request):
            // Only a peripheral asks, and only a central answers (Core 5.4, Vol 3, Part A, 4.20).
            guard role == .central else { return .reply(.notUnderstood, identifier: identifier) }
            guard let wished = ConnectionParameterRequest(request) else {
                return .reply(.connectionParameterUpdateResponse(.init(result: .rejected)), identifier: identifier)
            }
            return .accept(wished, identifier: identifier)
        case .connectionParameterUpdateResponse(let response):
            guard pending?.identifier == identifier else { return .none }
            pending = nil
            return .parametersAnswered(isAccepted: response.result == .accepted)
        case .commandReject:
            guard pending?.identifier == identifier else { return .none }
            pending = nil
            return .parametersAnswered(isAccepted: false)
        case .leCreditBasedConnectionRequest:
            return .reply(
                .leCreditBasedConnectionResponse(
                    .init(
                        destination: .null, maximumTransmissionUnit: 0, maximumPayloadSize: 0,
                        initialCredits: 0, result: .spsmNotSupported)), identifier: identifier)
        case .disconnectionRequest(let request):
            return .reply(
                .commandReject(
                    .init(
                        reason: .invalidChannelIdentifier(
                            local: request.destinationChannelIdentifier, remote: request.sourceChannelIdentifier))),
                identifier: identifier)
        default:
            return packet.code.isResponse ? .none : .reply(.notUnderstood, identifier: identifier)
        }
    }
}

extension LESignallingCommand {
    static var notUnderstood: LESignallingCommand { .commandReject(L2CAPCommandReject(reason: .commandNotUnderstood)) }
}

extension ConnectionParameterRequest {
    /// `nil` when the specification does not allow the values.
    init?(_ request: L2CAPConnectionParameterUpdateRequest) {
        self.init(
            minimum: request.minimumInterval, maximum: request.maximumInterval, latency: request.latency,
            timeout: request.supervisionTimeout)
    }

    /// `nil` when the specification does not allow the values.
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
