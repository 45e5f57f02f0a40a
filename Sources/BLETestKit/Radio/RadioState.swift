import BLE
import BLESimulator

/// The air of a radio and the transports on it; used on the radio's thread only.
final class RadioState: @unchecked Sendable {
    // @unchecked Sendable is safe because everything but `loop` is used only on the loop's thread, after `init`.
    let air: SimulatedAir
    private let loop: EventLoop
    private var transports: [TestTransport] = []
    private var deadline: EventLoop.Deadline?
    private var isDeliveryPlanned = false
    /// The loop's clock when the air's stood at zero.
    private let epoch: UInt64
    /// Whether transports cannot be opened.
    var isUnplugged = false

    init(_ air: sending SimulatedAir, loop: EventLoop) {
        self.air = air
        self.loop = loop
        epoch = loop.nowMicroseconds
        deadline = loop.makeDeadline { [unowned self] in play() }
    }

    private var airTime: Int64 { Int64(loop.nowMicroseconds &- epoch) }

    // MARK: Transports

    func add(
        _ transport: TestTransport, _ configuration: SimulatedControllerConfiguration,
        _ faults: SimulatedControllerFaults
    ) -> SimulatedControllerID {
        transports.append(transport)
        return air.addController(configuration, faults: faults)
    }

    func remove(_ transport: TestTransport, _ controller: SimulatedControllerID) {
        transports.removeAll { $0 === transport }
        air.advance(to: airTime)
        air.closeTransport(of: controller)
        planDelivery()
    }

    func send(_ packet: RawSpan, to controller: SimulatedControllerID) {
        air.send(packet, to: controller, at: airTime)
        planDelivery()
    }

    // MARK: Faults

    func changeFaults(_ change: (inout SimulatedControllerFaults) -> Void) {
        for case let controller? in transports.map(\.controller) { air.changeFaults(of: controller, change) }
    }

    func changeFaults(
        until remedy: SimulatedControllerRemedy, _ change: @escaping (inout SimulatedControllerFaults) -> Void
    ) {
        for case let controller? in transports.map(\.controller) {
            air.changeFaults(of: controller, until: remedy, change)
        }
    }

    func forgetEverything() {
        for case let controller? in transports.map(\.controller) { air.forgetEverything(controller) }
        play()
    }

    func failHardware() {
        for case let controller? in transports.map(\.controller) { air.sendHardwareError(1, from: controller) }
        play()
    }

    func unplug() {
        isUnplugged = true
        for transport in transports { transport.end(.closedByPeer) }
    }

    // MARK: Time

    private func play() {
        air.advance(to: airTime)
        deliver()
    }

    /// Packets reach the host after the call that caused them, never within it.
    private func planDelivery() {
        guard !isDeliveryPlanned else { return }
        isDeliveryPlanned = true
        loop.runLater {
            self.isDeliveryPlanned = false
            self.deliver()
        }
    }

    func deliver() {
        for transport in transports {
            while let controller = transport.controller, let packet = air.nextPacket(from: controller) {
                transport.receive?(packet.span.bytes)
            }
        }
        if let next = air.nextDeadlineMicroseconds {
            deadline?.set(atMicroseconds: epoch + UInt64(max(0, next)))
        } else {
            deadline?.clear()
        }
    }
}
