import BLEPackets

/// The enhanced attribute bearers of a link: which channels carry them, and how this side opens its own.
///
///     idle ──encrypted──▶ the peer's features ──▶ our features ──▶ connecting ──▶ done
///                                                                   │      ▲
///                                                       no resources└─wait─┘ once
///
/// What happens on the channels is noted, and handled at the end of the input, when the server is at hand.
struct EnhancedBearers {
    /// The SPSM of enhanced bearers (Core 5.4, Vol 3, Part G, 5.3).
    static let spsm: UInt16 = 0x0027

    enum Opening: Equatable {
        case idle
        /// Reads Server Supported Features.
        case readingServer(OperationID)
        /// Reads Client Supported Features.
        case readingClient(OperationID)
        /// Writes Client Supported Features.
        case writing(OperationID)
        case connecting(OperationID, isRetry: Bool)
        /// The peer had no resources, perhaps because it asked at the same time.
        case waiting(until: Instant)
        case done

        func isWaiting(for operation: OperationID) -> Bool {
            guard Features.enhancedBearers else { return false }
            return switch self {
            case .readingServer(let own), .readingClient(let own), .writing(let own), .connecting(let own, _):
                own == operation
            case .idle, .waiting, .done: false
            }
        }
    }

    /// Something that happened.
    enum News {
        case opened(number: UInt32, mtu: UInt16)
        case resized(number: UInt32, mtu: UInt16)
        case received(number: UInt32, [UInt8])
        /// The controller has all of the oldest PDU.
        case sent(number: UInt32)
        case closed(number: UInt32, ChannelEnd)
        /// Client or server must give up the bearer, or the peer accepts nothing on it.
        case givenUp(number: UInt32)
        /// The end of one of our own requests.
        case answered(Result<GATTResult, GATTFailure>)
        /// The end of our request for channels.
        case connected(ChannelFailure?)
    }

    struct Bearer {
        let number: UInt32
        /// What the PDUs are that the controller does not have yet.
        var tags = Queue<ATTSendTag>()
    }

    /// `nil` if there are no enhanced bearers.
    var settings: EnhancedBearerSettings?
    var open: [Bearer] = []
    var news = Queue<News>()
    var opening = Opening.idle

    @inline(__always)
    var nextDeadline: Instant? {
        if Features.enhancedBearers, case .waiting(let limit) = opening { limit } else { nil }
    }

    func contains(_ number: UInt32) -> Bool { open.contains { $0.number == number } }

    /// Whether an action of the channels concerns a bearer instead of a client.
    func concerns(_ action: CreditBasedChannels.Action) -> Bool {
        guard Features.enhancedBearers, settings != nil else { return false }
        switch action {
        case .signal, .frame: return false
        case .opened(_, let client): return client == .attributeBearers
        case .received(let number, _), .closed(let number, _), .unitSent(let number): return contains(number)
        case .reconfigured(let terms): return contains(terms.number)
        case .completed(let operation, _): return opening.isWaiting(for: operation)
        }
    }

    /// Whether more waits, while the key is being changed, than a peer can cause that follows the rules: its PDUs take
    /// credits, but opening and closing bearers does not.
    var isFlooded: Bool {
        let credits = Int(settings?.credits ?? 0) * L2CAPCreditBasedConnectionRequest.maximumChannelCount
        return news.count >= 64 + credits
    }

    /// Notes what an action of the channels says about bearers.
    mutating func receive(_ action: CreditBasedChannels.Action) {
        switch action {
        case .signal, .frame: break
        case .opened(let terms, _): add(terms)
        case .received(let number, let pdu): news.append(.received(number: number, pdu))
        case .closed(let number, let end): news.append(.closed(number: number, end))
        case .unitSent(let number): news.append(.sent(number: number))
        case .reconfigured(let terms): news.append(.resized(number: terms.number, mtu: terms.attributeMTU))
        case .completed(_, .success(.openedSeveral(let all))):
            for terms in all { add(terms) }
            news.append(.connected(nil))
        case .completed(_, .success): news.append(.connected(.invalidAnswer))
        case .completed(_, .failure(let failure)): news.append(.connected(failure))
        }
    }

    private mutating func add(_ terms: CreditBasedChannels.Terms) {
        open.append(Bearer(number: terms.number))
        news.append(.opened(number: terms.number, mtu: terms.attributeMTU))
    }

    /// The oldest PDU of a bearer is with the controller.
    mutating func removeTag(of number: UInt32) -> ATTSendTag? {
        guard let index = open.firstIndex(where: { $0.number == number }) else { return nil }
        return open[index].tags.popFirst()
    }
}

extension CreditBasedChannels.Terms {
    /// ATT_MTU is the smaller of both MTUs (Core 5.4, Vol 3, Part G, 5.3.1).
    fileprivate var attributeMTU: UInt16 { min(sendMTU, receiveMTU) }
}
