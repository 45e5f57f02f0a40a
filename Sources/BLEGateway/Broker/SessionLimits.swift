/// What a broker allows in a session: from its CONNACK (MQTT 5, 3.2.2.3), or learned from its refusals.
///
/// Topic aliases, wildcard, shared and numbered subscriptions may be limited, too; the gateway uses none of them.
public struct SessionLimits: Equatable, Sendable {
    /// The highest quality of service that the gateway may publish with, 0 to 2.
    public var maximumQualityOfService = 2
    /// Whether the broker retains messages.
    public var retainsMessages = true
    /// The maximum number of messages without acknowledgement.
    public var receiveMaximum = 65_535
    /// The largest packet that the broker takes, in octets; `nil`: any.
    public var maximumPacketSize: Int?
    /// The keep-alive interval that the broker demands, in seconds; `nil`: that of the settings.
    public var keepAlive: Int?

    public init() {}

    /// Both limits together.
    public func combined(with other: SessionLimits) -> SessionLimits {
        var result = self
        result.maximumQualityOfService = min(maximumQualityOfService, other.maximumQualityOfService)
        result.retainsMessages = retainsMessages && other.retainsMessages
        result.receiveMaximum = min(receiveMaximum, other.receiveMaximum)
        result.maximumPacketSize = [maximumPacketSize, other.maximumPacketSize].compactMap(\.self).min()
        result.keepAlive = keepAlive ?? other.keepAlive
        return result
    }

    /// Learns from a refusal.
    /// - Parameters:
    ///   - current: the limits of the session that was refused or ended.
    ///   - onTheWay: how many messages that session had without acknowledgement at most.
    ///   - isBegin: whether the session could not begin: then its last will was at fault, which has quality 1.
    public mutating func learn(
        _ verdict: BrokerReason.Verdict, from current: SessionLimits, onTheWay: Int, isBegin: Bool
    ) {
        switch verdict {
        case .qualityIsLowered:
            maximumQualityOfService = isBegin ? 0 : max(0, current.maximumQualityOfService - 1)
        case .nothingIsRetained: retainsMessages = false
        case .fewerOnTheWay: receiveMaximum = max(1, min(current.receiveMaximum, onTheWay) / 2)
        case .accepted, .messageIsFinal, .messageIsKept, .messageIsAtFault, .triedAgain, .settingsAreAtFault,
            .subscriptionIsMissing:
            break
        }
    }

    /// Whether a message fits into a packet.
    /// - Parameters:
    ///   - topic: its length in octets.
    ///   - payload: its length in octets.
    public func fits(topic: Int, payload: Int) -> Bool {
        guard let maximumPacketSize else { return true }
        // Topic with its length, packet identifier, no properties.
        let rest = 2 + topic + 2 + 1 + payload
        let lengthOctets = rest < 1 << 7 ? 1 : rest < 1 << 14 ? 2 : rest < 1 << 21 ? 3 : 4
        return 1 + lengthOctets + rest <= maximumPacketSize
    }

    /// What is not as the settings want it, one sentence each.
    /// - Parameters:
    ///   - qualityOfService: that of documents in the settings.
    ///   - keepAlive: that of the settings, in seconds.
    ///   - inFlight: that of the settings.
    public func notices(qualityOfService: Int, keepAlive wanted: Int, inFlight: Int) -> [String] {
        var notices: [String] = []
        // Presence and status have at least 1.
        if maximumQualityOfService < max(1, qualityOfService) {
            notices.append(
                "the broker allows quality of service \(maximumQualityOfService) at most: messages are sent with that"
                    + (maximumQualityOfService == 0 ? ", and may be lost" : ""))
        }
        if !retainsMessages {
            notices.append(
                "the broker retains no messages: who subscribes later does not learn status, presence and announcements"
            )
        }
        if let maximumPacketSize, maximumPacketSize < 4096 {
            notices.append("the broker takes packets of \(maximumPacketSize) octets at most: longer ones are dropped")
        }
        if receiveMaximum < inFlight {
            notices.append("the broker allows \(receiveMaximum) messages without acknowledgement, not \(inFlight)")
        }
        if let keepAlive, keepAlive != wanted {
            notices.append("the broker demands a keep-alive interval of \(keepAlive) s, not \(wanted) s")
        }
        return notices
    }
}
