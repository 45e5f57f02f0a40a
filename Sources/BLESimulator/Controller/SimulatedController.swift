import BLEPackets

/// An HCI controller: the state behind the commands of its host (Core 5.4, Vol 4, Part E).
///
/// Its extensions implement commands, scanning, advertising, initiating, links and data.
final class SimulatedController: AirStation {
    unowned let air: SimulatedAir
    let index: Int
    let configuration: SimulatedControllerConfiguration
    var faults = SimulatedControllerFaults()
    var statistics = SimulatedControllerStatistics()
    var generator: SeededGenerator

    /// H4 packets that have arrived at the host.
    var toHost = Queue<[UInt8]>()
    var writer = PacketWriter(reservingCapacity: 260)

    // Whether the transport is open.
    var isOpen = true
    /// The number of packets, in both directions, after which the transport closes.
    var packetsUntilClosed: Int?
    /// Increases whenever an advertising set starts or stops.
    var advertisingNumber: UInt32 = 0
    /// Increases whenever a periodic train starts or stops.
    var trainNumber: UInt32 = 0
    /// Increases with each power loss, so that nothing from before arrives afterwards.
    var powerCycle: UInt32 = 0
    /// Received commands whose answer has not reached the host.
    var commandsUnderWay = 0
    /// When the commands are done that the controller is late with.
    var busyUntil: Int64 = 0
    /// Whether a command has been answered since power-on.
    var hasAnswered = false
    /// Whether a crash has made the controller silent, until Hardware Error or Reset.
    var isCrashed = false
    /// Increases with each crash and its end.
    var crashNumber: UInt32 = 0
    /// Faults that end with a remedy: those of before.
    var temporaryFaults: [TemporaryFaults] = []
    /// When each remedy was last used, by its raw value.
    var remedyTimes: [Int64]
    /// Reports of the current second.
    var reportRate = ReportRate()
    /// The parts of a long advertisement that wait for those of another.
    var waitingParts: [LEExtendedAdvertisingReport.Report] = []
    /// Packets that were reported as completed since the reset.
    var completedPackets = 0
    /// Events caused by the current command: sent after its answer.
    var postponedEvents: [(packet: [UInt8], delay: Int64)]?

    var settings: Settings
    var links: [AirLink] = []
    /// The host's view of `links`.
    var ends: [LinkEnd] = []

    /// Actions that run as soon as the host scans.
    var scanWaiters: [(SimulatedAir) -> Void] = []

    // Whether the radio is in range of others.
    var isInRange = true
    var signal: Int8?
    /// The power with which it sends, in dBm; a reset does not change it.
    var sendingPower: Int8 = 0
    var isPowered: Bool { isOpen }

    init(air: SimulatedAir, index: Int, configuration: SimulatedControllerConfiguration, generator: SeededGenerator) {
        self.air = air
        self.index = index
        self.configuration = configuration
        self.generator = generator
        remedyTimes = Array(repeating: air.nowMicroseconds, count: SimulatedControllerRemedy.allCases.count)
        settings = Settings(configuration)
    }

    /// Settings that a reset restores.
    struct Settings {
        var eventMask = EventMask.afterReset
        var leEventMask = LEEventMask.afterReset
        var eventMaskPage2: EventMaskPage2 = []
        var randomAddress: DeviceAddress?
        var family = CommandFamily.undecided
        var acceptList: [ReportedAddress] = []
        var resolvingList: [ResolvingEntry] = []
        var isAddressResolutionOn = false
        var resolvablePrivateAddressTimeout: UInt16 = 900
        var channelMap = ChannelMap.all
        var suggestedTransmitOctets: UInt16 = 27
        var suggestedTransmitTime: UInt16 = 328
        var phyPreferences = PHYPreferences(transmit: nil, receive: nil)
        var hostFlowControl = FlowControlMode.off
        var hostBufferCount = 0
        var isLEHostSupported = false
        var scan = ScanState()
        var advertisingSets: [AdvertisingSet] = []
        var legacyAdvertising = AdvertisingSet(handle: AdvertisingSet.legacyHandle)
        var initiating: InitiatingState?
        var trainSearch: TrainSearch?
        var trains: [FollowedTrain] = []
        var trainList: [ListedAdvertiser] = []
        var trainReception = TrainReception()
        /// Whether Set Event Mask Page 2 was sent.
        var hasPageTwo = false
        /// Entries of the accept list that do not match until they are added again.
        var staleAcceptList: [ReportedAddress] = []
        /// Whether the host supports subrating.
        var isSubratingAllowed = false
        /// What peripherals may request.
        var defaultSubrate = SubrateParameters(
            minimumFactor: 1, maximumFactor: 1, supervisionTimeout: SupervisionTimeout(rawValue: 0x0C80))

        init(_ configuration: SimulatedControllerConfiguration) { leEventMask = configuration.leEventMaskAfterReset }
    }

    /// Which of the two kinds of advertising, scanning and connecting commands the host has used since the reset
    /// (Core 5.4, Vol 4, Part E, 3.1.1).
    enum CommandFamily { case undecided, legacy, extended }

    /// The controller's state of one link.
    struct LinkEnd {
        var link: AirLink
        var handle: ConnectionHandle
        var side: LinkSide
        /// The address that the host knows: the identity, if it was resolved.
        var peer: DeviceAddress
        /// The private addresses on the air.
        var peerResolvable: DeviceAddress?
        var localResolvable: DeviceAddress?
        /// Packets from the host whose buffers are not free yet.
        var usedBuffers = 0
        var transmitOctets: UInt16
        var disconnects = false
        var pendingRequest: LEConnectionParameters?
        /// The host has been asked for its long term key and has not answered.
        var isKeyRequested = false
        var authenticatedPayloadTimeout: UInt16 = 3000
        /// The ends whose changes of power are reported to the host.
        var reportsOwnPower = false
        var reportsPeersPower = false
        var pathLoss = PathLossMonitor()
        /// `nil`: as for all links.
        var trainReception: TrainReception?
        /// Packets that the host has not reported as completed.
        var packetsAtHost = 0
        /// Data that waits until the host has room.
        var waitingForHost = Queue<[UInt8]>()
    }

    // MARK: The way to the host

    func send(event: some HCIEvent) {
        writer.removeAll()
        event.encodePacket(into: &writer)
        send(packet: writer.bytes)
    }

    /// Sends an event or data, after the answer to the current command.
    func send(packet: [UInt8], delay: Int64 = 0) {
        var delay = min(max(0, delay), 1 << 40)
        if packet.first == H4PacketType.event.rawValue {
            if faults.addsStrayEvents { for stray in Self.strayEvents { queue(stray, delay: delay) } }
            delay += min(max(0, faults.eventLagMicroseconds), 10_000_000)
        }
        if faults.eventDisorderMicroseconds > 0, packet.first == H4PacketType.event.rawValue {
            delay += generator.next(below: min(faults.eventDisorderMicroseconds, 10_000_000) + 1)
        }
        queue(packet, delay: delay)
    }

    private func queue(_ packet: [UInt8], delay: Int64) {
        if postponedEvents != nil {
            postponedEvents?.append((packet, delay))
        } else {
            deliver(packet, delay: delay)
        }
    }

    var latency: Int64 { min(max(0, configuration.latencyMicroseconds), 10_000_000) }

    func deliver(_ packet: [UInt8], delay: Int64) {
        let cycle = powerCycle
        air.after(latency + delay) { [unowned self] in
            guard cycle == powerCycle, isOpen, !isMute else { return }
            countPacket()
            if isOpen { toHost.append(packet) }
        }
    }

    /// Counts a packet for `packetsUntilClosed`.
    func countPacket() {
        guard let left = packetsUntilClosed else { return }
        if left <= 0 {
            packetsUntilClosed = nil
            losePower()
        } else {
            packetsUntilClosed = left - 1
        }
    }

    // MARK: The way from the host

    func receive(_ packet: RawSpan) {
        guard isOpen else { return }
        countPacket()
        guard isOpen else { return }
        guard let octet = packet.byte(at: 0), let type = H4PacketType(rawValue: octet) else {
            statistics.malformedPackets += 1
            return
        }
        let rest = packet.extracting(droppingFirst: 1)
        do throws(DecodingError) {
            switch type {
            case .command: try receive(command: rest)
            case .acl: receive(data: try ACLDataPacket(decoding: rest))
            case .sco, .iso, .event: statistics.malformedPackets += 1
            }
        } catch {
            statistics.malformedPackets += 1
        }
    }

    // MARK: Reset and power

    /// Forgets everything that a reset clears; the peers of its links notice only the silence.
    func reset() {
        stopAdvertising()
        settings = Settings(configuration)
        ends = []
        waitingParts = []
        completedPackets = 0
        air.abandonLinks(of: self)
    }

    func losePower() {
        isOpen = false
        powerCycle &+= 1
        postponedEvents = postponedEvents == nil ? nil : []
        commandsUnderWay = 0
        busyUntil = 0
        hasAnswered = false
        isCrashed = false
        crashNumber &+= 1
        reset()
    }

    func regainPower() {
        guard !isOpen else { return }
        isOpen = true
        toHost.removeAll()
        begin()
    }
}
