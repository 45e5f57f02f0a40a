/// A connection on the air, as far as a sniffer captured it.
public struct FollowedLink: Sendable {
    /// A device and the kind of its address.
    public struct Device: Equatable, Sendable {
        /// 48 bits.
        public var address: UInt64
        public var isRandom: Bool
    }

    /// What CONNECT_IND says: the devices and the parameters (Core 5.4, Vol 6, Part B, 2.3.3.1).
    public struct Request: Equatable, Sendable {
        public var central: Device
        public var peripheral: Device
        /// 24 bits.
        public var crcInit: UInt32
        /// In units of 1.25 ms.
        public var interval: UInt16
        public var latency: UInt16
        /// In units of 10 ms.
        public var timeout: UInt16
        /// A bit for each data channel.
        public var channels: UInt64
    }

    /// How far encryption is, which either side may start, stop and start again.
    enum Encryption {
        case off
        /// LL_ENC_REQ and LL_ENC_RSP were captured: encryption may begin with any packet.
        case announced
        case on
    }

    public let accessAddress: UInt32
    /// From 1, in the order in which connections were captured.
    public let number: Int
    /// `nil` if the sniffer did not hear the beginning.
    public let request: Request?
    /// Whether LL_TERMINATE_IND was captured.
    public internal(set) var isOver = false
    /// Stands in the place of a connection handle where there must be one.
    public var handle: UInt16 { UInt16(truncatingIfNeeded: number % 0x0EFF) }
    /// Whether what follows is encrypted.
    public var isEncrypted: Bool { encryption == .on }

    var encryption = Encryption.off
    /// SKD and IV of both sides, as they were sent.
    var diversifiers: [2 of [UInt8]] = [[], []]
    var vectors: [2 of [UInt8]] = [[], []]
    /// The keys of the session, one for each key that was given, until one fits.
    var sessionKeys: [[UInt8]] = []
    var counters: [2 of UInt64] = [0, 0]
    /// How many packets in a row no key has opened.
    var unfitCount = 0

    /// The last packet of each side: its sequence number, and its content as a hash.
    var sequences: [2 of UInt8] = [2, 2]
    var contents: [2 of UInt64] = [0, 0]
    /// Who sent the last packet, when it began and how long it was on the air.
    var lastWay = CaptureDirection.controllerToHost
    var lastTime = Int64.min
    var lastDuration: Int64 = 0
    var lastUse = 0

    init(accessAddress: UInt32, number: Int, request: Request?) {
        self.accessAddress = accessAddress
        self.number = number
        self.request = request
    }

    /// Who sends a packet of which the sniffer does not say it: the central begins each connection event, then they take
    /// turns, 150 µs after each other (Core 5.4, Vol 6, Part B, 4.5.1). Events are 7.5 ms apart at least. Clocks of sniffers
    /// are not exact, and some have none.
    func guessWay(at time: Int64) -> CaptureDirection {
        let (distance, isFar) = lastTime == .min ? (0, true) : time.subtractingReportingOverflow(lastTime)
        let isTurn = !isFar && distance <= lastDuration + Self.turnTolerance
        return isTurn && lastWay == .hostToController ? .controllerToHost : .hostToController
    }

    /// The pause between two packets and what clocks add, in microseconds.
    private static let turnTolerance: Int64 = 150 + 1850
}
