/// What a broker answered, with the reason that it gave, and what follows from it.
///
/// The codes are those of MQTT 3.1.1 (3.2.2.3) and MQTT 5 (2.4, and 3.2.2.2, 3.4.2.1, 3.5.2.1, 3.9.3, 3.14.2.1).
public struct BrokerReason: Equatable, Sendable {
    /// The packet with the reason.
    public enum Packet: Equatable, Sendable {
        /// CONNACK of MQTT 3.1.1, with a return code.
        case connection311
        /// CONNACK of MQTT 5.
        case connection
        /// PUBACK, PUBREC or PUBCOMP.
        case publication
        /// SUBACK.
        case subscription
        /// DISCONNECT of the broker.
        case disconnection
    }

    /// What follows.
    public enum Verdict: Equatable, Sendable {
        /// Nothing: it is a success.
        case accepted
        /// The message will never be accepted: it is dropped.
        case messageIsFinal
        /// The message is kept and sent again.
        /// - Parameter attempts: after so many refusals in a row it is dropped; `nil`: never.
        case messageIsKept(attempts: Int?)
        /// One of the messages on the way is at fault, and the session has ended.
        case messageIsAtFault
        /// The next session uses a lower quality of service.
        case qualityIsLowered
        /// The next session has no retained messages.
        case nothingIsRetained
        /// The next session has fewer messages on the way.
        case fewerOnTheWay
        /// The session is tried again, after a growing pause.
        case triedAgain
        /// The session is tried again, each time after the longest pause: only a change of the settings, or of the
        /// broker's, helps.
        case settingsAreAtFault
        /// The subscription is missing; the session goes on.
        case subscriptionIsMissing
    }

    /// The packet that has the code.
    public let packet: Packet
    /// The code as the broker sent it.
    public let code: UInt8

    /// Whether no client has subscribed to the topic (MQTT 5, 3.4.2.1).
    public var hasNoSubscribers: Bool { packet == .publication && code == 0x10 }

    public init(_ packet: Packet, code: UInt8) {
        self.packet = packet
        self.code = code
    }

    /// A message that is refused for a reason that may never end is dropped after so many refusals.
    static let attempts = 8

    public var verdict: Verdict {
        switch packet {
        case .connection311: verdictOfReturnCode
        case .connection: verdictOfConnection
        case .publication: verdictOfPublication
        case .subscription: code < 0x80 ? .accepted : .subscriptionIsMissing
        case .disconnection: verdictOfDisconnection
        }
    }

    private var verdictOfReturnCode: Verdict {
        switch code {
        case 0: .accepted
        case 1, 2, 4, 5: .settingsAreAtFault
        default: .triedAgain
        }
    }

    private var verdictOfConnection: Verdict {
        switch code {
        case ..<0x80: .accepted
        case 0x84, 0x85, 0x86, 0x87, 0x8A, 0x8C, 0x90, 0x95, 0x99, 0x9C, 0x9D: .settingsAreAtFault
        case 0x9A: .nothingIsRetained
        case 0x9B: .qualityIsLowered
        default: .triedAgain
        }
    }

    private var verdictOfPublication: Verdict {
        switch code {
        case ..<0x80: .accepted
        // Room may come at any time, and an identifier becomes free.
        case 0x91, 0x97: .messageIsKept(attempts: nil)
        case 0x80, 0x83: .messageIsKept(attempts: Self.attempts)
        default: .messageIsFinal
        }
    }

    private var verdictOfDisconnection: Verdict {
        switch code {
        case 0x87, 0x90, 0x95, 0x99: .messageIsAtFault
        case 0x93: .fewerOnTheWay
        case 0x9A: .nothingIsRetained
        case 0x9B: .qualityIsLowered
        case 0x8E, 0x98, 0x9C, 0x9D: .settingsAreAtFault
        default: .triedAgain
        }
    }

    /// The name in the specification, in lower case.
    public var name: String {
        if packet == .connection311 { return Self.returnCodes[code] ?? "return code \(code)" }
        return Self.names[code] ?? "reason 0x\(String(code, radix: 16, uppercase: true))"
    }

    /// What the owner of the gateway can do; `nil`: nothing is known.
    public var remedy: String? {
        switch packet {
        case .connection311:
            switch code {
            case 1: "‘mqtt.version’ is one that it does not know"
            case 2: "give the gateway another ‘mqtt.clientID’"
            case 4: "check ‘mqtt.username’ and the password"
            case 5: "check ‘mqtt.username’, the password, and what the broker allows this user"
            default: nil
            }
        case .subscription: "let this user read the topic"
        case .connection, .publication, .disconnection: remedyOfCode
        }
    }

    private var remedyOfCode: String? {
        switch code {
        case 0x84: "set ‘mqtt.version’ to \"3.1.1\""
        case 0x85: "give the gateway another ‘mqtt.clientID’"
        case 0x86: "check ‘mqtt.username’ and the password"
        case 0x87 where packet == .connection:
            "check ‘mqtt.username’, the password, and what the broker allows this user"
        case 0x87: "check what the broker lets this user publish"
        case 0x8A: "the broker has banned this client: ask its owner"
        case 0x8C: "the broker wants an authentication that the gateway does not have"
        case 0x8E: "does another client have this name? Give each gateway its own ‘name’, or ‘mqtt.clientID’"
        case 0x90: "check ‘topics’"
        case 0x95: "raise the largest packet that the broker takes"
        case 0x97: "check the limits of this user at the broker"
        case 0x98: "the owner of the broker has ended it"
        case 0x9C, 0x9D: "name the other server in ‘mqtt.url’"
        default: nil
        }
    }

    private static let returnCodes: [UInt8: String] = [
        0: "accepted", 1: "unacceptable protocol version", 2: "identifier rejected", 3: "server unavailable",
        4: "bad user name or password", 5: "not authorized",
    ]

    private static let names: [UInt8: String] = [
        0x00: "success", 0x10: "no matching subscribers", 0x80: "unspecified error", 0x81: "malformed packet",
        0x82: "protocol error", 0x83: "implementation specific error", 0x84: "unsupported protocol version",
        0x85: "client identifier not valid", 0x86: "bad user name or password", 0x87: "not authorized",
        0x88: "server unavailable", 0x89: "server busy", 0x8A: "banned", 0x8B: "server shutting down",
        0x8C: "bad authentication method", 0x8D: "keep alive timeout", 0x8E: "session taken over",
        0x8F: "topic filter invalid", 0x90: "topic name invalid", 0x91: "packet identifier in use",
        0x92: "packet identifier not found", 0x93: "receive maximum exceeded", 0x94: "topic alias invalid",
        0x95: "packet too large", 0x96: "message rate too high", 0x97: "quota exceeded",
        0x98: "administrative action", 0x99: "payload format invalid", 0x9A: "retain not supported",
        0x9B: "QoS not supported", 0x9C: "use another server", 0x9D: "server moved",
        0x9E: "shared subscriptions not supported", 0x9F: "connection rate exceeded", 0xA0: "maximum connect time",
        0xA1: "subscription identifiers not supported", 0xA2: "wildcard subscriptions not supported",
    ]
}

extension BrokerReason: CustomStringConvertible {
    /// The name and the remedy.
    public var description: String { remedy.map { "\(name); \($0)" } ?? name }
}
