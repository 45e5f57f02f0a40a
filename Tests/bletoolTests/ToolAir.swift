import BLE
import BLESimulator
import BLETransport
import Foundation

/// Simulated controllers on one air, each at a socket, for programs that meet each other.
final class ToolAir: @unchecked Sendable {
    // @unchecked Sendable is safe because `stage` is touched only on the loop's thread, once it runs.

    /// How each controller is reached.
    let transports: [String]
    private let loop: EventLoop
    private let stage: AirStage

    /// - Parameter losing: packets of controllers that their hosts never get.
    init(controllers count: Int, losing: @escaping @Sendable ([UInt8]) -> Bool = { _ in false }) throws {
        let names = (0..<count).map { _ in "@jelling-\(UUID())" }
        transports = names.map { "unix:\($0)" }
        loop = try EventLoop(name: "tool air")
        stage = try AirStage(names, on: loop, losing)
        try loop.start()
    }

    deinit {
        nonisolated(unsafe) let stage = stage
        let loop = loop
        loop.run {
            unsafe stage.close()
            loop.stop()
        }
        loop.join()
    }
}

/// The air and its sockets, in real time.
private final class AirStage {
    private struct Port {
        let controller: SimulatedControllerID
        let listener: UnixListener
        var host: StreamTransport?
    }

    private let loop: EventLoop
    private let air = SimulatedAir()
    /// The loop's time at the air's time zero.
    private let epoch: UInt64
    private var ports: [Port] = []
    private var deadline: EventLoop.Deadline?
    private let losing: @Sendable ([UInt8]) -> Bool

    init(_ names: [String], on loop: EventLoop, _ losing: @escaping @Sendable ([UInt8]) -> Bool) throws {
        self.loop = loop
        self.losing = losing
        epoch = loop.nowMicroseconds
        for (index, name) in names.enumerated() {
            let address = DeviceAddress(value: 0x00AA_0200_0001 + UInt64(index), kind: .public)
            let controller = air.addController(SimulatedControllerConfiguration(publicAddress: address))
            air.closeTransport(of: controller)
            let listener = try UnixListener(path: name)
            ports.append(Port(controller: controller, listener: listener))
            _ = try loop.register(listener.descriptor, for: .readable) { [unowned self] _ in accept(index) }
        }
        deadline = loop.makeDeadline { [unowned self] in
            air.advance(to: airTime)
            deliver()
        }
    }

    func close() {
        for port in ports {
            port.host?.close()
            port.listener.close()
        }
    }

    private var airTime: Int64 { Int64(loop.nowMicroseconds - epoch) }

    private func accept(_ index: Int) {
        while let client = try? ports[index].listener.accept() { begin(index, client.descriptor) }
    }

    private func begin(_ index: Int, _ descriptor: Int32) {
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

    /// Delivers what the controllers have sent so far, and sets the timer for the next packet.
    private func deliver() {
        for port in ports {
            air.drainPackets(of: port.controller) { packet in
                if !losing(packet.copied()) { port.host?.send(packet) }
            }
        }
        if let next = air.nextDeadlineMicroseconds {
            deadline?.set(atMicroseconds: epoch + UInt64(max(0, next)))
        } else {
            deadline?.clear()
        }
    }
}
