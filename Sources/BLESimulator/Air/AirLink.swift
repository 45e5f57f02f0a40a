import BLEPackets

/// The two ends of a link.
enum LinkSide {
    case central, peripheral

    var other: LinkSide { self == .central ? .peripheral : .central }
    var role: ConnectionRole { self == .central ? .central : .peripheral }
}

/// The connection parameters on which both ends agree.
struct LinkParameters: Equatable {
    var interval: ConnectionInterval
    var latency: UInt16
    var supervisionTimeout: SupervisionTimeout

    init(interval: ConnectionInterval, latency: UInt16, supervisionTimeout: SupervisionTimeout) {
        self.interval = interval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    /// The controllers of this air choose the longest interval that the host allows.
    init(_ request: LEConnectionParameters) {
        self.init(
            interval: request.maximumInterval, latency: request.latency, supervisionTimeout: request.supervisionTimeout)
    }
}

/// A piece of an L2CAP frame that fits into one packet of the link layer.
struct AirFragment {
    var bytes: [UInt8]
    /// Whether an L2CAP frame begins here.
    var isStart: Bool
    /// Whether the host's packet ends here, so that its buffer is free again.
    var endsHostPacket: Bool
}

/// A control procedure of the link layer that takes a number of connection events.
enum LinkProcedure {
    case terminate(by: LinkSide, reason: HCIStatus)
    case update(LinkParameters, by: LinkSide)
    /// One host asks the other for new parameters (Core 5.4, Vol 6, Part B, 5.1.7).
    case parameterRequest(LEConnectionParameters, by: LinkSide)
    case parameterReject(HCIStatus, to: LinkSide)
    case features(by: LinkSide)
    case version(by: LinkSide)
    case dataLength
    case phy(PHYPreferences, by: LinkSide)
    /// One host asks for another share of the connection events (Core 5.4, Vol 6, Part B, 5.1.19 and 5.1.20).
    case subrate(SubrateParameters, by: LinkSide)
    /// One side asks for the power with which the other sends (Core 5.4, Vol 6, Part B, 5.1.17).
    case power(phy: UInt8, by: LinkSide)
    /// The central asks to encrypt (Core 5.4, Vol 6, Part B, 5.1.3).
    case encryptionRequest
    /// The peripheral's host has replied with its key, or without one.
    case encryptionReply(Key128?)
}

/// The state of a link's encryption.
struct LinkEncryption {
    /// The parameters of the central's request, until both ends are done.
    struct Attempt {
        var key: Key128
        var randomNumber: UInt64
        var encryptedDiversifier: UInt16
        /// Increases with each attempt, so that a deadline affects only its own.
        var number: UInt32
    }

    /// The key in use; `nil` while the link is not encrypted.
    var key: Key128?
    var attempt: Attempt?
    var attempts: UInt32 = 0
}

/// A link between two stations of the air.
///
/// Connection events without data are not simulated: their times follow from the anchor, so that an idle link costs
/// nothing. Only if events can be lost at random are all of them simulated.
final class AirLink {
    let identifier: UInt32
    /// Indices of the stations.
    let central: Int
    let peripheral: Int
    var parameters: LinkParameters
    /// The time of a connection event from which later ones are counted, in microseconds.
    var anchor: Int64
    /// Whether a packet of the peer has ever been received (Core 5.4, Vol 6, Part B, 4.5).
    var isEstablished = false
    /// Whether the stations receive each other now.
    var isReachable = true
    var isOpen = true
    /// A link whose peripheral never received the request to connect.
    let isUnanswered: Bool
    /// Of the central.
    let clock: StationClock
    /// Whether the last connection event was lost, so that the supervision timeout is running.
    var isSilent = false
    /// Whether one end has gone silent and forgotten this link.
    var isAbandoned = false

    var toPeripheral = Queue<AirFragment>()
    var toCentral = Queue<AirFragment>()
    var procedures: [(eventsLeft: Int, procedure: LinkProcedure)] = []
    var encryption = LinkEncryption()

    /// The time of the next simulated connection event; `nil` while none is needed.
    var plannedEvent: Int64?
    /// Increases whenever an earlier plan, of an event or of supervision, becomes invalid.
    var planNumber: UInt32 = 0
    var supervisionNumber: UInt32 = 0

    /// Octets of one packet of the link layer, by sender.
    var centralTransmitOctets: UInt16 = 27
    var peripheralTransmitOctets: UInt16 = 27
    var centralTransmitPHY: PHY
    var peripheralTransmitPHY: PHY

    init(
        identifier: UInt32, central: Int, peripheral: Int, parameters: LinkParameters, anchor: Int64, phy: PHY,
        isUnanswered: Bool, clock: StationClock = .exact
    ) {
        self.identifier = identifier
        self.central = central
        self.peripheral = peripheral
        self.parameters = parameters
        self.anchor = anchor
        self.isUnanswered = isUnanswered
        self.clock = clock
        centralTransmitPHY = phy
        peripheralTransmitPHY = phy
    }

    /// Every so many connection events one is used.
    var subrateFactor: UInt16 = 1
    /// Events that are used after one with data.
    var continuationNumber: UInt16 = 0

    /// The time between two connection events that are used; after data, every event is.
    var interval: Int64 {
        let base = Int64(max(parameters.interval.microseconds, 7_500))
        let isContinued = continuationNumber > 0 && !(toPeripheral.isEmpty && toCentral.isEmpty)
        return isContinued ? base : base * Int64(max(1, subrateFactor))
    }

    func station(_ side: LinkSide) -> Int { side == .central ? central : peripheral }
    func side(of station: Int) -> LinkSide { station == central ? .central : .peripheral }

    func transmitOctets(_ side: LinkSide) -> UInt16 {
        side == .central ? centralTransmitOctets : peripheralTransmitOctets
    }

    func transmitPHY(_ side: LinkSide) -> PHY { side == .central ? centralTransmitPHY : peripheralTransmitPHY }

    private func count(at time: Int64) -> Int64 { clock.ownTime(after: time - anchor) / interval }

    private func beginning(of count: Int64) -> Int64 { anchor + clock.airTime(of: count * interval) }

    /// The last connection event at or before `time`, but not before the anchor.
    func event(notAfter time: Int64) -> Int64 {
        time <= anchor ? anchor : beginning(of: count(at: time))
    }

    /// The first connection event after `time`.
    func event(after time: Int64) -> Int64 {
        time < anchor ? anchor : beginning(of: count(at: time) + 1)
    }

    /// No data is sent while encryption is being started (Core 5.4, Vol 6, Part B, 5.1.3.1).
    var isDataPaused: Bool { encryption.attempt != nil }

    var hasWork: Bool {
        !isDataPaused && (!toPeripheral.isEmpty || !toCentral.isEmpty) || !procedures.isEmpty || isSilent
    }
}
