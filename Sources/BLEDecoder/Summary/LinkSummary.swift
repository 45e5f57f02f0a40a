/// A connection in a capture: with whom, for how long, why it ended, and how it went.
public struct LinkSummary: Equatable, Sendable {
    /// How a connection ended.
    public enum Ending: Equatable, Sendable {
        /// It was open when the capture ended.
        case none
        /// Disconnection Complete, with its reason (Core 5.4, Vol 1, Part F, 1.3).
        case disconnected(reason: UInt8)
        /// The host reset the controller.
        case reset
        /// Its handle was given to a new connection; the capture lacks the end.
        case replaced
    }

    /// How often an ATT error code was received or sent.
    public struct ErrorCount: Equatable, Sendable {
        /// The error code (Core 5.4, Vol 3, Part F, 3.4.1.1).
        public var code: UInt8
        public var count: Int
    }

    /// The adapter's index in the capture, as in `CaptureRecord`.
    public var adapter: UInt16
    public var handle: UInt16
    /// Of a connection that a sniffer captured; otherwise `nil`.
    public var accessAddress: UInt32?
    /// The central that a sniffer captured, of 48 bits; `nil` if it is this host, or the capture begins later.
    public var central: UInt64?
    /// 48 bits; `nil` if the capture begins after the connection.
    public var address: UInt64?
    /// 0 public, 1 random, 2 and 3 the same of a resolved identity; meaningless without an address.
    public var addressType: UInt8 = 0
    /// The name that the device advertised in the same capture.
    public var name: String?
    /// Whether it is a connection of BR/EDR.
    public var isClassic = false
    /// Whether this host is the central; `nil` if the capture begins after the connection.
    public var isCentral: Bool?
    /// The time of its first packet, in microseconds since 1970.
    public var began: Int64
    /// The time of its last packet, in microseconds since 1970.
    public var lasted: Int64
    /// Why it ended.
    public var ending = Ending.none
    /// The MTU of the ATT bearer; 23 octets before it is exchanged. Connections of BR/EDR have no such bearer.
    public var mtu = 23
    /// The connection interval, in units of 1.25 ms; 0 if unknown.
    public var interval: UInt16 = 0
    /// How many connection events the peripheral may skip.
    public var latency: UInt16 = 0
    /// The supervision timeout, in units of 10 ms; 0 if unknown.
    public var timeout: UInt16 = 0
    /// How often the parameters of the connection changed.
    public var parameterUpdates = 0
    /// The PHYs as in LE PHY Update Complete: 1 is 1M, 2 is 2M, 3 is Coded; 0 if the capture does not say.
    public var transmitPHY: UInt8 = 0
    public var receivePHY: UInt8 = 0
    /// The most octets in a packet of the link layer; 0 if the capture does not say.
    public var transmitOctets: UInt16 = 0
    public var receiveOctets: UInt16 = 0
    public var isEncrypted = false
    /// How many attempts to connect to the device failed since its last connection.
    public var failedAttempts = 0
    /// Packets with data, in both directions.
    public var packets = 0
    /// Octets of whole L2CAP frames, without their headers; sent by the host, or by the central that a sniffer captured.
    public var sentOctets = 0
    public var receivedOctets = 0
    /// ATT requests and indications, of both devices and on every bearer.
    public var requests = 0
    /// How many of them were answered.
    public var answers = 0
    /// The time from requests to their answers, in microseconds.
    public var totalLatency: Int64 = 0
    public var worstLatency: Int64 = 0
    /// Requests that were sent again unchanged after the answer was an error.
    public var repeatedRequests = 0
    /// Error responses by code, without Attribute Not Found, which ends every discovery.
    public var errors: [ErrorCount] = []
    /// Notifications and indications.
    public var values = 0
    /// Octets of values that were read, written, notified or indicated.
    public var valueOctets = 0

    init(adapter: UInt16, handle: UInt16, began: Int64) {
        self.adapter = adapter
        self.handle = handle
        self.began = began
        lasted = began
    }

    /// How long it lasted, as far as the capture says, in microseconds; zero if a clock was set back.
    public var duration: Int64 { max(0, lasted &- began) }
    /// Error responses of every code but Attribute Not Found.
    public var errorCount: Int { errors.reduce(0) { $0 + $1.count } }
    /// The average time from a request to its answer, in microseconds; `nil` without answers.
    public var meanLatency: Int64? { answers > 0 ? totalLatency / Int64(answers) : nil }
    /// Whether the link was lost or failed: neither side ended it on purpose.
    public var isFailure: Bool {
        guard case .disconnected(let reason) = ending else { return false }
        return reason != 0x13 && reason != 0x16 && reason != 0x15
    }

    /// The address, as `C0:DE:00:00:00:01`.
    var addressText: String? {
        address.map { address in
            (0..<6).reversed().map { place in
                let text = String(UInt8(truncatingIfNeeded: address >> (place * 8)), radix: 16, uppercase: true)
                return text.count == 1 ? "0" + text : text
            }.joined(separator: ":")
        }
    }

    /// The PHYs in words; `nil` if the capture does not say.
    public var phyText: String? {
        func name(_ phy: UInt8) -> String? {
            switch phy {
            case 1: "1M"
            case 2: "2M"
            case 3: "Coded"
            default: nil
            }
        }
        guard let transmit = name(transmitPHY), let receive = name(receivePHY) else { return nil }
        return transmit == receive ? transmit : "\(transmit) out, \(receive) in"
    }

    /// How it ended, in words.
    public var endingText: String {
        switch ending {
        case .none: return "still open at the end of the capture"
        case .reset: return "the host reset the controller"
        case .replaced: return "its end was not captured"
        case .disconnected(let reason):
            let digits = String(reason, radix: 16)
            let name = PacketNames.name(of: UInt16(reason), in: .controllerError) ?? "unknown reason"
            return "\(name) (0x\(digits.count == 1 ? "0" + digits : digits))"
        }
    }

    /// A packet with ACL data, and the length of the frame that it completes: in one step, as it is the one per packet.
    @inline(__always)
    mutating func note(_ frame: Int, _ way: Int, _ now: Int64) {
        packets += 1
        lasted = now
        if way == 0 { sentOctets += frame } else { receivedOctets += frame }
    }

    /// A notification or an indication with its header.
    @inline(__always)
    mutating func countValue(_ count: Int) {
        values += 1
        valueOctets += max(0, count - 3)
    }

    mutating func countError(_ code: UInt8) {
        if let place = errors.firstIndex(where: { $0.code == code }) {
            errors[place].count += 1
        } else {
            errors.append(ErrorCount(code: code, count: 1))
        }
    }
}
