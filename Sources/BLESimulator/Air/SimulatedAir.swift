import BLEPackets

/// A virtual air: controllers and devices that receive each other, under a virtual clock that its owner advances.
///
/// The air has no real clock and no threads, and its only randomness comes from its seed. The same calls give the same
/// packets, in every process. Its owner calls it from one thread:
///
///     let air = SimulatedAir.demoWorld()
///     let controller = air.addController()
///     air.send(packet.span.bytes, to: controller, at: now)
///     air.advance(to: now)
///     while let packet = air.nextPacket(from: controller) { … }
///     // sleep until air.nextDeadlineMicroseconds
///
/// Nothing is simulated while no station listens: an air without a scan, a pending connection or data on a link has no
/// deadline, so that simulated days pass at once. An air that loses packets simulates every event of its links.
public final class SimulatedAir {
    /// The current time of the air.
    public private(set) var nowMicroseconds: Int64 = 0
    /// Loss, collisions, drift, jitter and sensitivity; a change applies from the next event on.
    public var configuration: SimulatedAirConfiguration {
        didSet { if configuration != oldValue { conditionsChanged() } }
    }

    var agenda = Agenda()
    var stations: [any AirStation] = []
    /// The stations that can listen.
    var controllers: [SimulatedController] = []
    /// Only for lookup, never iterated: the order of a dictionary differs between processes.
    var signals: [StationPair: Int8] = [:]
    var generator: SeededGenerator
    /// Advertisements whose times may overlap; none without collisions.
    var transmissions: [Transmission] = []
    /// The advertisement that has just been sent, while it is delivered.
    var sending: Transmission?
    private let seed: UInt64
    private var linkCount: UInt32 = 0

    /// - Parameter seed: decides everything that is random; the same calls with the same seed give the same run.
    public init(seed: UInt64 = 1, configuration: SimulatedAirConfiguration = .init()) {
        self.seed = seed
        self.configuration = configuration
        generator = SeededGenerator(seed: seed)
    }

    // MARK: Who is there

    /// Adds an HCI controller, which a host drives with `send` and `nextPacket`.
    @discardableResult
    public func addController(
        _ configuration: SimulatedControllerConfiguration = .init(), faults: SimulatedControllerFaults = .init()
    ) -> SimulatedControllerID {
        let controller = SimulatedController(
            air: self, index: stations.count, configuration: configuration, generator: newGenerator())
        stations.append(controller)
        controllers.append(controller)
        controller.faults = faults
        controller.begin()
        return SimulatedControllerID(index: controller.index)
    }

    /// Adds a device that advertises, accepts links and serves its attributes.
    @discardableResult
    public func addPeripheral(_ peripheral: SimulatedPeripheral) -> SimulatedDeviceID {
        let device = SimulatedDevice(
            air: self, index: stations.count, address: peripheral.address,
            advertisement: peripheral.effectiveAdvertisement, link: peripheral.link, rssi: peripheral.rssi,
            host: .attributes(
                SimulatedGATTServer(
                    services: peripheral.allServices, maximumMTU: peripheral.maximumMTU)),
            generator: newGenerator())
        device.motion = peripheral.motion
        return add(device)
    }

    /// Adds a device whose ATT answers come from a closure, and may be wrong.
    @discardableResult
    public func addScriptedPeer(_ peer: SimulatedScriptedPeer) -> SimulatedDeviceID {
        add(
            SimulatedDevice(
                air: self, index: stations.count, address: peer.address, advertisement: peer.advertisement,
                link: peer.link, rssi: peer.rssi, host: .script(peer), generator: newGenerator()))
    }

    /// Adds a device that only advertises.
    @discardableResult
    public func addBroadcaster(_ broadcaster: SimulatedBroadcaster) -> SimulatedDeviceID {
        let device = SimulatedDevice(
            air: self, index: stations.count, address: broadcaster.address, advertisement: broadcaster.advertisement,
            link: .init(), rssi: broadcaster.rssi, host: .nothing, generator: newGenerator())
        device.motion = broadcaster.motion
        device.changingData = broadcaster.changingData
        return add(device)
    }

    private func add(_ device: SimulatedDevice) -> SimulatedDeviceID {
        stations.append(device)
        device.wakeAdvertising()
        return SimulatedDeviceID(index: device.index)
    }

    /// Each station has its own sequence, so that no station changes the random numbers of another.
    private func newGenerator() -> SeededGenerator {
        var generator = SeededGenerator(seed: seed ^ UInt64(stations.count + 1) &* 0xD1B5_4A32_D192_ED03)
        return SeededGenerator(seed: generator.next())
    }

    /// The clock of a station. It follows only from the seed, so that drift changes no other random number.
    func clock(of station: Int) -> StationClock {
        guard configuration.clockDriftPartsPerMillion > 0 else { return .exact }
        let greatest = Int64(min(configuration.clockDriftPartsPerMillion, SimulatedAirConfiguration.greatestDrift))
        var generator = SeededGenerator(seed: seed ^ UInt64(station + 1) &* 0x9E6C_63D0_876A_9A69)
        return StationClock(partsPerMillion: generator.next(below: 2 * greatest + 1) - greatest)
    }

    // MARK: Time and packets

    /// The time of the next event, in microseconds; `nil` if nothing happens before the next call.
    public var nextDeadlineMicroseconds: Int64? { agenda.nextTime }

    /// Simulates everything that is due up to and including `microseconds`; a time in the past counts as now.
    ///
    /// While a station scans there is always more to simulate, so that a distant time takes long to reach.
    public func advance(to microseconds: Int64) {
        while let (time, action) = agenda.next(until: microseconds) {
            nowMicroseconds = max(nowMicroseconds, time)
            action()
        }
        nowMicroseconds = max(nowMicroseconds, microseconds)
    }

    /// Delivers a host's packet to its controller.
    /// - Parameters:
    ///   - packet: one whole H4 packet, type octet first. Anything else is counted and dropped.
    ///   - microseconds: when the packet arrives; the air advances to that time first.
    public func send(_ packet: RawSpan, to controller: SimulatedControllerID, at microseconds: Int64) {
        advance(to: microseconds)
        self.controller(controller)?.receive(packet)
        advance(to: nowMicroseconds)
    }

    /// Takes the next H4 packet from a controller to its host.
    public func nextPacket(from controller: SimulatedControllerID) -> [UInt8]? {
        self.controller(controller)?.toHost.popFirst()
    }

    /// Passes each H4 packet from a controller to its host to a closure, in order.
    public func drainPackets(of controller: SimulatedControllerID, _ deliver: (RawSpan) -> Void) {
        while let packet = nextPacket(from: controller) { deliver(packet.span.bytes) }
    }

    /// Runs an action at a time of the air; a time in the past counts as now.
    ///
    /// Use it to add and remove devices and to start faults:
    ///
    ///     air.schedule(at: 5_000_000) { $0.setInRange(false, lamp) }
    public func schedule(at microseconds: Int64, _ action: @escaping (SimulatedAir) -> Void) {
        agenda.schedule(at: max(nowMicroseconds, microseconds)) { [unowned self] in action(self) }
    }

    // MARK: Inside

    func after(_ microseconds: Int64, _ action: @escaping () -> Void) {
        let (time, isTooLate) = nowMicroseconds.addingReportingOverflow(max(0, microseconds))
        agenda.schedule(at: isTooLate ? .max : time, action)
    }

    func controller(_ identifier: SimulatedControllerID) -> SimulatedController? {
        station(identifier.index) as? SimulatedController
    }

    func device(_ identifier: SimulatedDeviceID) -> SimulatedDevice? {
        station(identifier.index) as? SimulatedDevice
    }

    func station(_ index: Int) -> (any AirStation)? { stations.indices.contains(index) ? stations[index] : nil }

    func nextLinkIdentifier() -> UInt32 {
        linkCount &+= 1
        return linkCount
    }

    /// Whether packets can be lost.
    var losesPackets: Bool { configuration.lossPerMille > 0 }

    /// Decides whether a packet is lost.
    func losesPacket() -> Bool {
        losesPackets && generator.next(below: 1000) < Int64(configuration.lossPerMille)
    }
}

/// Properties that apply to all stations of an air.
public struct SimulatedAirConfiguration: Hashable, Sendable {
    /// How many of a thousand advertisements, and of a thousand connection events, are lost. A link that loses all
    /// events until the supervision timeout ends with 0x08 (Core 5.4, Vol 6, Part B, 4.5.2).
    public var lossPerMille: Int
    /// The maximum deviation of a measured signal from the true one, in dB.
    public var signalJitter: Int8
    /// The weakest signal that is still received, in dBm.
    public var sensitivity: Int8
    /// Whether advertisements that stations send at the same time are lost where both are received, but for one that is
    /// 10 dB stronger. Packets of links and of periodic trains never collide, as each of them changes channels in an
    /// order of its own.
    public var advertisementsCollide: Bool
    /// The greatest deviation of a station's clock, 0 to 500: the times between its advertisements, the packets of its
    /// trains and the events of links of which it is the central are longer or shorter by a constant share up to this.
    /// The seed decides each station's. Links keep the clock with which they began.
    public var clockDriftPartsPerMillion: Int

    static let greatestDrift = 500

    public init(
        lossPerMille: Int = 0, signalJitter: Int8 = 0, sensitivity: Int8 = -100, advertisementsCollide: Bool = false,
        clockDriftPartsPerMillion: Int = 0
    ) {
        self.lossPerMille = lossPerMille
        self.signalJitter = signalJitter
        self.sensitivity = sensitivity
        self.advertisementsCollide = advertisementsCollide
        self.clockDriftPartsPerMillion = clockDriftPartsPerMillion
    }
}

/// An HCI controller on one air.
public struct SimulatedControllerID: Hashable, Sendable {
    let index: Int
}

/// A device with its own host on one air.
public struct SimulatedDeviceID: Hashable, Sendable {
    let index: Int
}

/// Two stations in any order.
struct StationPair: Hashable {
    private let lower: Int
    private let upper: Int

    init(_ a: Int, _ b: Int) {
        lower = min(a, b)
        upper = max(a, b)
    }
}
