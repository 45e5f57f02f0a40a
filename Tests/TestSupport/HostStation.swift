import BLEHost
import BLEPackets
import BLESecurity
import BLESimulator

/// An engine on a simulated controller of its own.
public final class HostStation: Station {
    public let world: World
    public let controller: SimulatedControllerID
    /// Of the controller.
    public let address: DeviceAddress
    public private(set) var host: Host
    /// All since the beginning, or since `forget`.
    public private(set) var events: [HostEvent] = []
    /// Answers the engine's questions; `nil`: they stay open.
    public var cryptoProvider: (any CryptoProvider)? = SwiftCryptoProvider()
    /// What the station's user does about an event, at once.
    public var react: (HostEvent) -> HostCommand? = { _ in nil }
    /// What becomes of an H4 packet that the station sends; `nil`: it is lost.
    public var change: ([UInt8]) -> [UInt8]? = { $0 }
    /// What becomes of an H4 packet that the station's controller sends.
    public var changeReceived: ([UInt8]) -> [UInt8] = { $0 }
    /// Whether the transport is opened again when the engine asks for it.
    public var reopensTransport = true
    /// Sees every input before the engine does.
    public var watch: (HostInput) -> Void = { _ in }

    /// Puts a station into a world. Its transport is opened by `start()`.
    /// - Parameters:
    ///   - controller: one without a public address gets the next of the world's own.
    ///   - faults: what is wrong with the controller from the start.
    public init(
        _ world: World = World(), configuration: HostConfiguration = HostConfiguration(),
        controller: SimulatedControllerConfiguration = SimulatedControllerConfiguration(),
        faults: SimulatedControllerFaults = SimulatedControllerFaults()
    ) {
        self.world = world
        self.controller = world.air.addController(controller, faults: faults)
        address = controller.publicAddress ?? World.address(world.stations.count)
        host = Host(configuration: configuration)
        world.add(self)
    }

    /// Puts a station with a controller of a real family into a world.
    public convenience init(
        _ world: World, _ preset: SimulatedControllerPreset, configuration: HostConfiguration = HostConfiguration()
    ) {
        self.init(
            world, configuration: configuration, controller: preset.configuration(), faults: preset.faults)
    }

    public var air: SimulatedAir { world.air }
    public var now: Instant { world.now }

    // MARK: Inputs

    /// Opens the transport and lets the controller become ready.
    public func start() {
        apply(.transportOpened)
        world.run(for: .seconds(5)) { isReady }
    }

    @discardableResult
    public func submit(_ command: HostCommand, from client: ClientID = .local) -> OperationID {
        guard let operation = apply(.command(command, client)) else { preconditionFailure("a command is an operation") }
        return operation
    }

    /// Runs an operation to its end.
    public func result(
        of command: HostCommand, from client: ClientID = .local, within span: Microseconds = .seconds(60)
    ) -> Result<HostResult, HostFailure>? {
        let operation = submit(command, from: client)
        world.run(for: span) { !results(of: operation).isEmpty }
        return results(of: operation).first
    }

    /// - Returns: `nil` where it failed or did not end.
    public func gatt(_ link: LinkID, _ operation: GATTOperation) -> GATTResult? {
        guard case .success(.gatt(let value))? = result(of: .link(link, .gatt(operation))) else { return nil }
        return value
    }

    public func connect(_ peer: DeviceAddress) -> LinkID? {
        guard case .success(.connected(let link))? = result(of: .radio(.connect(ConnectRequest(peer: peer)))) else {
            return nil
        }
        return link
    }

    public func publish(_ service: GATTServiceDefinition, from client: ClientID = .local) -> GATTPublishedService? {
        guard case .success(.published(let published))? = result(of: .server(.publish(service)), from: client) else {
            return nil
        }
        return published
    }

    /// Reaches what no input does.
    public func withHost<Value>(_ body: (inout Host) -> Value) -> Value { body(&host) }

    @discardableResult
    public func apply(_ input: HostInput) -> OperationID? {
        let operation = perform(input, at: world.now)
        world.settle()
        return operation
    }

    @discardableResult
    public func run(for span: Microseconds, until isDone: () -> Bool = { false }) -> Bool {
        world.run(for: span, until: isDone)
    }

    // MARK: What was seen

    public var isReady: Bool { host.isReady }
    public var counters: HostCounters { host.counters }
    public var ownAddress: DeviceAddress? { host.controllerInformation.ownAddress }

    /// More than one where an operation ended twice.
    public func results(of operation: OperationID) -> [Result<HostResult, HostFailure>] {
        events.compactMap { if case .completed(operation, let result) = $0 { result } else { nil } }
    }

    /// The links that it made.
    public var links: [LinkInformation] {
        events.compactMap { if case .connected(let information, _) = $0 { information } else { nil } }
    }

    /// The links that others made to it.
    public var centrals: [LinkInformation] {
        events.compactMap { if case .centralConnected(let information) = $0 { information } else { nil } }
    }

    public var disconnections: [DisconnectionReason] {
        events.compactMap { if case .disconnected(_, _, let reason) = $0 { reason } else { nil } }
    }

    public var discoveries: [Discovery] {
        events.compactMap { if case .discovered(let discovery) = $0 { discovery } else { nil } }
    }

    public var serverEvents: [GATTServerEvent] {
        events.compactMap { if case .server(let event) = $0 { event } else { nil } }
    }

    public func forget() { events.removeAll() }

    // MARK: Station

    public var nextDeadline: Instant? { host.nextDeadline }

    public func nextAnswer() -> (question: UInt64, result: CryptoResult)? {
        guard let cryptoProvider, let question = host.nextCryptoRequest() else { return nil }
        return (question.id, cryptoProvider.answer(question.request))
    }

    public func takePackets() -> [[UInt8]] {
        var packets: [[UInt8]] = []
        host.drainPackets { packets.append($0.copied()) }
        return packets.compactMap(change)
    }

    public func received(_ packet: [UInt8]) -> [UInt8] { changeReceived(packet) }

    public func collect(at now: Instant) -> Bool {
        var isBusy = false
        while let event = host.nextEvent() {
            isBusy = true
            events.append(event)
            if reopensTransport, case .reopenTransport(let resetsDevice) = event {
                take(.transportClosed, at: now)
                if resetsDevice { air.powerCycle(controller) }
                air.reopenTransport(of: controller)
                take(.transportOpened, at: now)
            }
            if let command = react(event) { take(.command(command, .local), at: now) }
        }
        return isBusy
    }

    public func take(_ input: HostInput, at now: Instant) { perform(input, at: now) }

    @discardableResult
    private func perform(_ input: HostInput, at now: Instant) -> OperationID? {
        watch(input)
        return host.apply(input, at: now)
    }
}

extension World {
    /// Hosts that are ready: a peripheral and those that use it, as a rule.
    /// - Parameters:
    ///   - change: what is particular to a host's controller, by its number.
    ///   - configuration: of a host's engine.
    ///   - bonds: what a host remembers from the start.
    public convenience init(
        hosts count: Int, _ change: (inout SimulatedControllerConfiguration, Int) -> Void = { _, _ in },
        configuration: (Int) -> HostConfiguration = { _ in HostConfiguration() }, bonds: (Int) -> [Bond] = { _ in [] }
    ) {
        self.init()
        for number in 0..<count {
            var controller = SimulatedControllerConfiguration()
            controller.publicAddress = Self.address(number)
            change(&controller, number)
            let host = HostStation(self, configuration: configuration(number), controller: controller)
            let bonds = bonds(number)
            if !bonds.isEmpty { host.submit(.security(.restoreBonds(bonds))) }
        }
        start()
    }

    /// Opens the transports of all hosts and lets their controllers become ready.
    public func start() {
        for host in hosts { host.apply(.transportOpened) }
        run(for: .seconds(5)) { hosts.allSatisfy(\.isReady) }
    }

    /// The stations that are nothing but an engine.
    public var hosts: [HostStation] { stations.compactMap { $0 as? HostStation } }
    /// The first host.
    public var peripheral: HostStation { hosts[0] }
    /// The second host.
    public var central: HostStation { hosts[1] }

    /// The public address of a host's controller, where nothing else is said.
    public static func address(_ number: Int) -> DeviceAddress {
        DeviceAddress(value: 0x6A65_6C6C_6900 + UInt64(number), kind: .public)
    }
}
