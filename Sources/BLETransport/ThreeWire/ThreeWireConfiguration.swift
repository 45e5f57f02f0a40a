/// What one side of a three-wire link can do, and how patient it is (Core 5.4, Vol 4, Part D, 5.6).
public struct ThreeWireConfiguration: Hashable, Sendable {
    /// How many reliable packets may be without acknowledgement, 1…7.
    public var window: UInt8 = 4
    /// Whether packets get a CRC if the other side agrees.
    public var hasCRC = true
    /// Whether XON and XOFF between frames stop and resume this side's sending, if the other side agrees.
    public var hasSoftwareFlowControl = false
    /// How long a side waits for an acknowledgement before it sends again, where `baud` does not say it, and after 5 s.
    public var retransmissionMicroseconds: UInt64 = 250_000
    /// The speed of the line, if it is known: a side waits then as long as what it has sent and the answer take.
    public var baud: UInt32?
    /// The pause between two messages that establish the link or wake the other side.
    public var messageMicroseconds: UInt64 = 100_000
    /// How long a packet is sent again and again, with neither an acknowledgement nor an answer to the question whether
    /// the other side is awake, before the link is established anew, which loses packets. On a line that loses 5 % of
    /// its octets only one frame of 40 octets in eight arrives.
    public var patienceMicroseconds: UInt64 = 20_000_000

    public init() {}

    /// A bit to start with and one to stop at are around each octet.
    private static let bitsPerOctet: UInt64 = 10
    /// What the other side may be sending when it gets a packet, before it can acknowledge it: a usual one.
    private static let answerByteCount = 80
    /// How long chips, adapters of USB and a busy machine keep what is finished.
    private static let latencyMicroseconds: UInt64 = 20_000

    /// How long to wait for the acknowledgement of packets that are so long together.
    func retransmissionPause(byteCount: Int) -> UInt64 {
        guard let baud, baud > 0 else { return retransmissionMicroseconds }
        let octets = UInt64(byteCount + Self.answerByteCount)
        return octets * Self.bitsPerOctet * 1_000_000 / UInt64(baud) + Self.latencyMicroseconds
    }

    /// The Configuration Field.
    var field: UInt8 {
        min(max(window, 1), 7) | (hasSoftwareFlowControl ? 0x08 : 0) | (hasCRC ? 0x10 : 0)
    }
}

/// What both sides of a link have agreed on.
struct ThreeWireAgreement: Equatable {
    /// How many reliable packets this side may have without acknowledgement.
    var window = 1
    var hasCRC = false
    var hasSoftwareFlowControl = false

    /// Before anything is known of the other side.
    init() {}

    /// - Parameter field: the other side's Configuration Field.
    init(_ own: ThreeWireConfiguration, field: UInt8) {
        window = Int(max(min(own.field & 7, field & 7), 1))
        hasSoftwareFlowControl = own.hasSoftwareFlowControl && field & 0x08 != 0
        hasCRC = own.hasCRC && field & 0x10 != 0
    }

    var field: UInt8 {
        UInt8(truncatingIfNeeded: window) | (hasSoftwareFlowControl ? 0x08 : 0) | (hasCRC ? 0x10 : 0)
    }
}
