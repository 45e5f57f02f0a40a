import BLESimulator
import BLETransport

/// A controller on a virtual air, simulated in real time on the loop's thread.
public final class SimulatedTransport: HCITransport {
    /// The address that the transport reports; it is not opened.
    public let address: TransportAddress
    private let air: SimulatedAir
    private let controller: SimulatedControllerID
    private var loop: EventLoop?
    private var deadline: EventLoop.Deadline?
    private var receive: ((RawSpan) -> Void)?
    private var closed: ((TransportError?) -> Void)?
    private var isDeliveryPlanned = false
    /// The loop's clock when the air's stood at zero.
    private var epoch: UInt64 = 0

    /// - Parameters:
    ///   - air: used only by this transport from now on.
    ///   - controller: which of the air's controllers the host drives.
    public init(
        air: sending SimulatedAir, controller: SimulatedControllerID,
        address: TransportAddress = .simulator(scenario: nil)
    ) {
        self.air = air
        self.controller = controller
        self.address = address
    }

    /// Lets the air's time run from now on. Never throws.
    public func start(
        on loop: EventLoop, receive: @escaping (RawSpan) -> Void, closed: @escaping (TransportError?) -> Void
    ) throws(TransportError) {
        self.loop = loop
        self.receive = receive
        self.closed = closed
        // An air that was played before goes on where it stood.
        epoch = loop.nowMicroseconds &- UInt64(max(0, air.nowMicroseconds))
        deadline = loop.makeDeadline { self.play() }
        arm()
    }

    /// Sends a packet to the controller. Its answers follow after this call, never within it; before `start` and after
    /// the end, packets are dropped.
    public func send(_ packet: RawSpan) {
        guard receive != nil else { return }
        air.send(packet, to: controller, at: airTime)
        planDelivery()
    }

    /// Ends the transport and stops the time of its air.
    public func close() {
        guard let closed else { return }
        receive = nil
        self.closed = nil
        deadline?.cancel()
        deadline = nil
        loop?.runLater { closed(nil) }
    }

    private var airTime: Int64 { Int64(bitPattern: (loop?.nowMicroseconds ?? epoch) &- epoch) }

    private func play() {
        air.advance(to: airTime)
        deliver()
    }

    /// Packets reach the host after the call that caused them, never within it.
    private func planDelivery() {
        guard !isDeliveryPlanned else { return }
        isDeliveryPlanned = true
        loop?.runLater {
            self.isDeliveryPlanned = false
            self.deliver()
        }
    }

    private func deliver() {
        while let receive, let packet = air.nextPacket(from: controller) { receive(packet.span.bytes) }
        // A fault of the scenario may have pulled the plug.
        if air.isTransportClosed(of: controller), let closed {
            receive = nil
            self.closed = nil
            deadline?.cancel()
            deadline = nil
            return closed(.closedByPeer)
        }
        arm()
    }

    private func arm() {
        guard receive != nil else { return }
        if let next = air.nextDeadlineMicroseconds {
            deadline?.set(atMicroseconds: epoch + UInt64(max(0, next)))
        } else {
            deadline?.clear()
        }
    }
}
