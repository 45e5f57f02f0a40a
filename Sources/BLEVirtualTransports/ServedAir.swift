import BLESimulator
import BLETransport

/// Simulated controllers on one air, in real time, each for a host at the other end of a socket. Used on the loop's
/// thread.
public final class ServedAir {
    private struct Port {
        let controller: SimulatedControllerID
        var host: StreamTransport?
    }

    private let loop: EventLoop
    private let air = SimulatedAir()
    /// The loop's time at the air's time zero.
    private let epoch: UInt64
    private var ports: [Port] = []
    private var deadline: EventLoop.Deadline?
    private let drops: (RawSpan) -> Bool

    /// - Parameter dropping: which packets of controllers their hosts never get.
    public init(on loop: EventLoop, dropping: @escaping (RawSpan) -> Bool = { _ in false }) {
        self.loop = loop
        drops = dropping
        epoch = loop.nowMicroseconds
        deadline = loop.makeDeadline { [unowned self] in
            air.advance(to: airTime)
            deliver()
        }
    }

    /// Adds a controller without a host.
    public func add(_ configuration: SimulatedControllerConfiguration) {
        let controller = air.addController(configuration)
        air.closeTransport(of: controller)
        ports.append(Port(controller: controller))
    }

    /// Whether the controller with this index has a host.
    public func hasHost(_ index: Int) -> Bool { ports[index].host != nil }

    /// A host has connected: it finds its controller as after power-on. When it leaves, its links fall silent.
    /// - Parameter descriptor: a connected socket; it is taken over.
    public func connect(_ descriptor: Int32, to index: Int) {
        let controller = ports[index].controller
        let host = StreamTransport(descriptor: descriptor, isSocket: true, address: .simulator(scenario: nil))
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
                })
        } catch {
            return
        }
        air.advance(to: airTime)
        air.reopenTransport(of: controller)
        ports[index].host = host
    }

    /// Ends the connections of all hosts.
    public func close() { for port in ports { port.host?.close() } }

    private var airTime: Int64 { Int64(loop.nowMicroseconds - epoch) }

    /// Delivers what the controllers have sent so far, and sets the timer for the next packet.
    private func deliver() {
        for port in ports {
            air.drainPackets(of: port.controller) { if !drops($0) { port.host?.send($0) } }
        }
        if let next = air.nextDeadlineMicroseconds {
            deadline?.set(atMicroseconds: epoch + UInt64(max(0, next)))
        } else {
            deadline?.clear()
        }
    }
}
