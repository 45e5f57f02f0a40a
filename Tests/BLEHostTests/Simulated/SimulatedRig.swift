import BLEPackets
import BLESimulator

@testable import BLEHost

/// An engine on a simulated controller, both under one virtual clock.
final class SimulatedRig {
    let air: SimulatedAir
    let controller: SimulatedControllerID
    private var host: Host
    private(set) var now = Instant.zero
    private(set) var events: [HostEvent] = []

    init(
        air: SimulatedAir = SimulatedAir(), configuration: HostConfiguration = HostConfiguration(),
        controller: SimulatedControllerConfiguration = SimulatedControllerConfiguration()
    ) {
        self.air = air
        self.controller = air.addController(controller)
        host = Host(configuration: configuration)
    }

    var counters: HostCounters { host.counters }
    var isReady: Bool { host.isReady }
    /// When anything happens next, on the air or in the engine.
    var nextDeadline: Instant? {
        earliest(host.nextDeadline, air.nextDeadlineMicroseconds.map { Instant(microseconds: $0) })
    }

    /// Opens the transport and lets the controller become ready.
    func start() {
        host.transportOpened(at: now)
        settle()
        run(for: .seconds(5)) { self.isReady }
    }

    @discardableResult
    func submit(_ command: HostCommand, from client: ClientID = .local) -> OperationID {
        let operation = host.submit(command, from: client, at: now)
        settle()
        return operation
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
            if let deadline = host.nextDeadline, deadline <= now { host.advance(to: now) }
            settle()
        }
        return true
    }

    /// Runs an operation to its end.
    func result(of command: HostCommand, within span: Microseconds = .seconds(60)) -> Result<HostResult, HostFailure>? {
        let operation = submit(command)
        run(for: span) { !self.results(of: operation).isEmpty }
        return results(of: operation).first
    }

    func gatt(_ link: LinkID, _ operation: GATTOperation) -> GATTResult? {
        guard case .success(.gatt(let value))? = result(of: .gatt(link, operation)) else { return nil }
        return value
    }

    func results(of operation: OperationID) -> [Result<HostResult, HostFailure>] {
        events.compactMap { if case .completed(operation, let result) = $0 { result } else { nil } }
    }

    func connect(_ peer: DeviceAddress) -> LinkID? {
        guard case .success(.connected(let link))? = result(of: .connect(ConnectRequest(peer: peer))) else {
            return nil
        }
        return link
    }

    var disconnections: [DisconnectionReason] {
        events.compactMap { if case .disconnected(_, _, let reason) = $0 { reason } else { nil } }
    }

    func forget() { events.removeAll() }

    private func settle() {
        var progress = true
        while progress {
            progress = false
            var packets: [[UInt8]] = []
            host.drainPackets { packets.append($0.copied()) }
            for packet in packets {
                progress = true
                air.send(packet.span.bytes, to: controller, at: now.microseconds)
            }
            while let packet = air.nextPacket(from: controller) {
                progress = true
                host.receive(packet.span.bytes, at: now)
            }
            while let event = host.nextEvent() { events.append(event) }
        }
    }
}
