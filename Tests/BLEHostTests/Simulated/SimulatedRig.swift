import BLEPackets
import BLESimulator

@testable import BLEHost

/// An engine on a simulated controller among simulated devices: a `HostPair` of one.
final class SimulatedRig {
    private let hosts: HostPair
    private var station: HostPair.Station { hosts.stations[0] }

    init(
        air: SimulatedAir = SimulatedAir(), configuration: HostConfiguration = HostConfiguration(),
        controller: SimulatedControllerConfiguration = SimulatedControllerConfiguration()
    ) {
        hosts = HostPair(air: air, configurations: [configuration]) { configuration, _ in configuration = controller }
        hosts.toolbox = nil
    }

    var air: SimulatedAir { hosts.air }
    var controller: SimulatedControllerID { station.controller }
    var now: Instant { hosts.now }
    var events: [HostEvent] { station.events }
    var counters: HostCounters { station.host.counters }
    var isReady: Bool { station.host.isReady }
    var nextDeadline: Instant? { hosts.nextDeadline }

    func start() { hosts.start() }

    @discardableResult
    func submit(_ command: HostCommand, from client: ClientID = .local) -> OperationID {
        hosts.submit(command, to: station, from: client)
    }

    @discardableResult
    func run(for span: Microseconds, until isDone: () -> Bool = { false }) -> Bool {
        hosts.run(for: span, until: isDone)
    }

    /// Runs an operation to its end.
    func result(of command: HostCommand, within span: Microseconds = .seconds(60)) -> Result<HostResult, HostFailure>? {
        hosts.result(of: command, at: station, within: span)
    }

    func gatt(_ link: LinkID, _ operation: GATTOperation) -> GATTResult? {
        try? hosts.gatt(operation, on: link, at: station)?.get()
    }

    func results(of operation: OperationID) -> [Result<HostResult, HostFailure>] { station.results(of: operation) }

    func connect(_ peer: DeviceAddress) -> LinkID? { hosts.connect(station, to: peer) }

    var disconnections: [DisconnectionReason] {
        events.compactMap { if case .disconnected(_, _, let reason) = $0 { reason } else { nil } }
    }

    func forget() { station.forget() }
}
