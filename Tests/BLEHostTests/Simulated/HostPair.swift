import BLEPackets
import BLESecurity
import BLESimulator

@testable import BLEHost

/// Engines on simulated controllers of one air, under one virtual clock: a peripheral and those that use it, as a rule.
final class HostPair {
    final class Station {
        /// Its inputs go through `HostPair`, which settles what follows.
        fileprivate(set) var host: Host
        let controller: SimulatedControllerID
        let address: DeviceAddress
        fileprivate(set) var events: [HostEvent] = []
        /// What the station's user does about an event, at once.
        var react: (HostEvent) -> HostCommand? = { _ in nil }
        /// What becomes of an H4 packet that the station sends; `nil`: it is lost.
        var change: ([UInt8]) -> [UInt8]? = { $0 }
        /// What becomes of an H4 packet that the station's controller sends.
        var changeReceived: ([UInt8]) -> [UInt8] = { $0 }

        fileprivate init(_ host: consuming Host, _ controller: SimulatedControllerID, _ address: DeviceAddress) {
            self.host = host
            self.controller = controller
            self.address = address
        }

        func results(of operation: OperationID) -> [Result<HostResult, HostFailure>] {
            events.compactMap { if case .completed(operation, let result) = $0 { result } else { nil } }
        }

        var serverEvents: [GATTServerEvent] {
            events.compactMap { if case .server(let event) = $0 { event } else { nil } }
        }

        /// The centrals' links, as the peripheral has them.
        var centrals: [LinkInformation] {
            events.compactMap { if case .centralConnected(let information) = $0 { information } else { nil } }
        }

        var counters: HostCounters { host.counters }
        var ownAddress: DeviceAddress? { host.controllerInformation.ownAddress }

        /// The links that it made.
        var links: [LinkInformation] {
            events.compactMap { if case .connected(let information, _) = $0 { information } else { nil } }
        }

        /// As if somebody had failed at passkey entry.
        func fail(_ peer: PairingGuard.Peer, _ role: LinkRole, at now: Instant) {
            _ = host.pairings.failures.failed(peer, PairingGuard.FailedEntry(role: role), at: now)
        }

        func forget() { events.removeAll() }
    }

    let air: SimulatedAir
    private(set) var now = Instant.zero
    private(set) var stations: [Station] = []
    var peripheral: Station { stations[0] }
    var central: Station { stations[1] }
    /// Answers the questions of every station; `nil`: they stay open.
    var toolbox: (any SecurityToolbox)? = CryptoToolbox()

    /// - Parameters:
    ///   - change: what is particular to a station's controller, by its number.
    ///   - configuration: of a station's engine.
    ///   - bonds: what a station remembers from the start.
    convenience init(
        stations count: Int = 2, _ change: (inout SimulatedControllerConfiguration, Int) -> Void = { _, _ in },
        configuration: (Int) -> HostConfiguration = { _ in HostConfiguration() }, bonds: (Int) -> [Bond] = { _ in [] }
    ) {
        self.init(configurations: (0..<count).map(configuration), change)
        for (number, station) in stations.enumerated() {
            let bonds = bonds(number)
            if !bonds.isEmpty { _ = station.host.submit(.security(.restoreBonds(bonds)), at: now) }
        }
        start()
    }

    /// Stations that `start()` begins.
    /// - Parameters:
    ///   - configurations: one for each station.
    ///   - change: what is particular to a station's controller, by its number.
    init(
        air: SimulatedAir = SimulatedAir(), configurations: [HostConfiguration],
        _ change: (inout SimulatedControllerConfiguration, Int) -> Void = { _, _ in }
    ) {
        self.air = air
        for (number, configuration) in configurations.enumerated() {
            let address = DeviceAddress(value: 0x6A65_6C6C_6900 + UInt64(number), kind: .public)
            var controller = SimulatedControllerConfiguration()
            controller.publicAddress = address
            change(&controller, number)
            stations.append(
                Station(
                    Host(configuration: configuration), air.addController(controller),
                    controller.publicAddress ?? address))
        }
    }

    /// Opens the transports and lets the controllers become ready.
    func start() {
        for station in stations { station.host.transportOpened(at: now) }
        settle()
        run(for: .seconds(5)) { self.stations.allSatisfy { $0.host.isReady } }
    }

    @discardableResult
    func submit(_ command: HostCommand, to station: Station, from client: ClientID = .local) -> OperationID {
        let operation = station.host.submit(command, from: client, at: now)
        settle()
        return operation
    }

    /// Runs an operation to its end.
    func result(
        of command: HostCommand, at station: Station, from client: ClientID = .local,
        within span: Microseconds = .seconds(60)
    ) -> Result<HostResult, HostFailure>? {
        let operation = submit(command, to: station, from: client)
        run(for: span) { !station.results(of: operation).isEmpty }
        return station.results(of: operation).first
    }

    func gatt(_ operation: GATTOperation, on link: LinkID, at station: Station) -> Result<GATTResult, HostFailure>? {
        switch result(of: .link(link, .gatt(operation)), at: station) {
        case .success(.gatt(let value))?: .success(value)
        case .failure(let failure)?: .failure(failure)
        default: nil
        }
    }

    func publish(_ service: GATTServiceDefinition, from client: ClientID = .local) -> GATTPublishedService? {
        guard
            case .success(.published(let published))? = result(
                of: .server(.publish(service)), at: peripheral, from: client)
        else { return nil }
        return published
    }

    /// Connects a central to the advertising peripheral.
    func connect(_ station: Station) -> LinkID? { connect(station, to: peripheral.address) }

    func connect(_ station: Station, to peer: DeviceAddress) -> LinkID? {
        guard
            case .success(.connected(let link))? = result(of: .radio(.connect(ConnectRequest(peer: peer))), at: station)
        else { return nil }
        return link
    }

    /// When anything happens next, on the air or in an engine.
    var nextDeadline: Instant? {
        var next = air.nextDeadlineMicroseconds.map { Instant(microseconds: $0) }
        for station in stations { next = earliest(next, station.host.nextDeadline) }
        return next
    }

    /// Lets time pass until `isDone` holds or the span is over.
    /// - Returns: whether it held.
    @discardableResult
    func run(for span: Microseconds, until isDone: () -> Bool = { false }) -> Bool {
        let end = now.advanced(by: span)
        while !isDone() {
            guard let next = nextDeadline, next <= end else {
                now = end
                air.advance(to: now.microseconds)
                settle()
                return isDone()
            }
            now = max(now, next)
            air.advance(to: now.microseconds)
            for station in stations {
                if let deadline = station.host.nextDeadline, deadline <= now { station.host.advance(to: now) }
            }
            settle()
        }
        return true
    }

    private func settle() {
        var progress = true
        while progress {
            progress = false
            for station in stations where settle(station) { progress = true }
        }
    }

    private func settle(_ station: Station) -> Bool {
        var progress = false
        while let toolbox, let question = station.host.nextToolboxQuestion() {
            progress = true
            station.host.answer(question.id, with: toolbox.answer(question.request), at: now)
        }
        var packets: [[UInt8]] = []
        station.host.drainPackets { packets.append($0.copied()) }
        for packet in packets {
            progress = true
            guard let packet = station.change(packet) else { continue }
            air.send(packet.span.bytes, to: station.controller, at: now.microseconds)
        }
        while let packet = air.nextPacket(from: station.controller) {
            progress = true
            station.host.receive(station.changeReceived(packet).span.bytes, at: now)
        }
        while let event = station.host.nextEvent() {
            progress = true
            station.events.append(event)
            if let command = station.react(event) { _ = station.host.submit(command, at: now) }
        }
        return progress
    }
}
