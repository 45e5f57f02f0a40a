import BLESimulator
import BLETransport

/// Simulated controllers on one air, in real time, each for a host at the other end of a descriptor. Used on the loop's
/// thread.
public final class ServedAir {
    private struct Port {
        let controller: SimulatedControllerID
        var host: (any HCITransport)?
        /// Called when the host has left, or the controller has closed its transport.
        var left: () -> Void = {}
    }

    private let loop: EventLoop
    private let air: SimulatedAir
    /// The loop's time at the air's time zero.
    private let epoch: UInt64
    private var ports: [Port] = []
    private var deadline: EventLoop.Deadline?
    private let drops: (RawSpan) -> Bool

    /// - Parameters:
    ///   - air: used only by this object from now on.
    ///   - dropping: which packets of controllers their hosts never get.
    public init(
        on loop: EventLoop, air: SimulatedAir = SimulatedAir(),
        dropping: @escaping (RawSpan) -> Bool = { _ in false }
    ) {
        self.loop = loop
        self.air = air
        drops = dropping
        epoch = loop.nowMicroseconds &- UInt64(max(0, air.nowMicroseconds))
        deadline = loop.makeDeadline { [unowned self] in
            air.advance(to: airTime)
            deliver()
        }
    }

    /// Adds a controller without a host.
    public func add(_ configuration: SimulatedControllerConfiguration, faults: SimulatedControllerFaults = .init()) {
        add(air.addController(configuration, faults: faults))
    }

    /// Adds a controller that is on the air already, without a host.
    public func add(_ controller: SimulatedControllerID) {
        air.closeTransport(of: controller)
        ports.append(Port(controller: controller))
    }

    /// Whether the controller with this index has a host.
    public func hasHost(_ index: Int) -> Bool { ports[index].host != nil }

    /// A host has connected: it finds its controller as after power-on. When it leaves, its links fall silent.
    /// - Parameters:
    ///   - descriptor: a connected stream; it is taken over.
    ///   - isSocket: whether it is a socket, and no device.
    ///   - left: called when the host has left, or the controller has closed its transport.
    public func connect(
        _ descriptor: Int32, to index: Int, isSocket: Bool = true, left: @escaping () -> Void = {}
    ) {
        let transport = StreamTransport(descriptor: descriptor, isSocket: isSocket, address: .simulator(scenario: nil))
        connect(transport, to: index, left: left)
    }

    /// A host is at the other end of a transport that has not been started.
    /// - Parameter left: called when the host has left, or the controller has closed its transport.
    public func connect(_ host: any HCITransport, to index: Int, left: @escaping () -> Void = {}) {
        let controller = ports[index].controller
        do throws(TransportError) {
            try host.start(
                on: loop,
                receive: { [unowned self] packet in
                    air.send(packet, to: controller, at: airTime)
                    deliver()
                },
                closed: { [unowned self] _ in
                    ports[index].host = nil
                    air.advance(to: airTime)
                    air.closeTransport(of: controller)
                    deliver()
                    let left = ports[index].left
                    ports[index].left = {}
                    left()
                })
        } catch {
            return left()
        }
        air.advance(to: airTime)
        air.reopenTransport(of: controller)
        ports[index].host = host
        ports[index].left = left
        deliver()
    }

    /// Ends the connections of all hosts.
    public func close() { for port in ports { port.host?.close() } }

    private var airTime: Int64 { Int64(loop.nowMicroseconds &- epoch) }

    /// Delivers what the controllers have sent so far, and sets the timer for the next packet.
    private func deliver() {
        for port in ports {
            air.drainPackets(of: port.controller) { if !drops($0) { port.host?.send($0) } }
            // A fault may have closed the transport of the controller.
            if air.isTransportClosed(of: port.controller) { port.host?.close() }
        }
        if let next = air.nextDeadlineMicroseconds {
            deadline?.set(atMicroseconds: epoch + UInt64(max(0, next)))
        } else {
            deadline?.clear()
        }
    }
}
