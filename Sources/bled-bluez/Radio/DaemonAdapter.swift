@_spi(HostRunner) import BLE
import BLEBlueZ
import BLEDaemonClient
import BLEHost
import BLEPackets
import BLETransport

/// An adapter of `bled` at its socket. It belongs to the loop's thread.
final class DaemonAdapter {
    let path: String
    /// The N of `hciN`; `nil` until it is known.
    var number: Int?
    private let runner: any EngineRunner
    /// What the engine calls a command, and what the service calls it. Only for lookup.
    private var operations: [Ticket: OperationID] = [:]
    private var tickets: [OperationID: Ticket] = [:]
    /// Whether commands were submitted whose consequences have not been handled.
    private var isUnsettled = false

    init?(_ path: String, on loop: EventLoop) {
        var configuration = AdapterConfiguration()
        DaemonClient.join(&configuration)
        let address = TransportAddress.daemon(path: path)
        guard let runner = configuration.makeDaemonRunner?(address, configuration, loop) else { return nil }
        self.path = path
        self.runner = runner
    }

    var information: ControllerInformation { runner.information }
    var bonds: [Bond] { runner.bonds }

    /// - Parameters:
    ///   - receive: gets the events.
    ///   - advertising: gets what happens to advertising sets.
    ///   - completed: gets the ends of commands.
    ///   - ended: gets why the connection ended; nothing follows.
    func open(
        receive: @escaping (HostEvent) -> Void, advertising: @escaping (Ticket, AdvertisingSetEvent) -> Void,
        completed: @escaping (Ticket, Result<HostResult, HostFailure>) -> Void,
        ended: @escaping (TransportError?) -> Void
    ) throws(TransportError) {
        try runner.open(
            .init(
                step: { [unowned self] in
                    guard let event = runner.nextEvent() else { return false }
                    switch event {
                    case .completed(let operation, let result):
                        guard let ticket = tickets.removeValue(forKey: operation) else { break }
                        operations[ticket] = nil
                        completed(ticket, result)
                    case .advertisingSet(let operation, _, let event):
                        if let ticket = tickets[operation] { advertising(ticket, event) }
                    default: receive(event)
                    }
                    return true
                }, ended: ended))
    }

    func submit(_ command: HostCommand, _ ticket: Ticket) {
        let operation = runner.submit(command, from: .local)
        operations[ticket] = operation
        tickets[operation] = ticket
        isUnsettled = true
    }

    func cancel(_ ticket: Ticket) {
        guard let operation = operations[ticket] else { return }
        _ = runner.submit(.cancel(operation), from: .local)
        isUnsettled = true
    }

    func changeScan(_ ticket: Ticket, _ request: ScanRequest) {
        guard let operation = operations[ticket] else { return }
        _ = runner.submit(.radio(.changeScan(operation, request)), from: .local)
        isUnsettled = true
    }

    func changeSet(_ ticket: Ticket, _ request: AdvertisingSetRequest) {
        guard let operation = operations[ticket] else { return }
        _ = runner.submit(.radio(.changeAdvertisingSet(operation, request)), from: .local)
        isUnsettled = true
    }

    /// Handles what follows from commands at once.
    /// - Returns: whether there was something.
    func settle() -> Bool {
        guard isUnsettled else { return false }
        isUnsettled = false
        runner.settle()
        return true
    }

    func close() {
        runner.close()
        runner.shutDown()
    }
}
