import BLE
import BLESimulator

/// The transport of one controller on a radio.
final class TestTransport: HCITransport {
    let address: TransportAddress
    private let radio: TestRadio
    private let configuration: SimulatedControllerConfiguration
    private let faults: SimulatedControllerFaults
    private(set) var controller: SimulatedControllerID?
    private(set) var receive: ((RawSpan) -> Void)?
    private var closed: ((TransportError?) -> Void)?

    init(
        radio: TestRadio, controller: SimulatedControllerConfiguration, faults: SimulatedControllerFaults,
        address: TransportAddress
    ) {
        self.radio = radio
        self.faults = faults
        configuration = controller
        self.address = address
    }

    /// - Throws: `TransportError.noAdapter` while the radio is unplugged.
    func start(
        on loop: EventLoop, receive: @escaping (RawSpan) -> Void, closed: @escaping (TransportError?) -> Void
    ) throws(TransportError) {
        // Adapters of this radio run on its loop.
        let state = radio.stateOnLoop
        guard !state.isUnplugged else { throw .noAdapter }
        self.receive = receive
        self.closed = closed
        controller = state.add(self, configuration, faults)
    }

    func send(_ packet: RawSpan) {
        if let controller { radio.stateOnLoop.send(packet, to: controller) }
    }

    func close() { end(nil) }

    /// - Parameter error: why the transport ended by itself.
    func end(_ error: TransportError?) {
        guard let closed, let controller else { return }
        self.closed = nil
        receive = nil
        self.controller = nil
        radio.stateOnLoop.remove(self, controller)
        radio.loop.runLater { closed(error) }
    }
}
