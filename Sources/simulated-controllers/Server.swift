import BLEPackets
import BLESimulator
import BLETransport
import Glibc

/// A simulated air in real time, and the sockets of its controllers. Runs on the loop's thread.
final class Server {
    /// A controller and its connection.
    private struct Port {
        let controller: SimulatedControllerID
        let socket: ListeningSocket
        let address: String
        var client: StreamTransport?
    }

    private let loop: EventLoop
    private let air = SimulatedAir()
    private var ports: [Port] = []
    private var deadline: EventLoop.Deadline?
    /// The loop's time at the air's time zero.
    private let epoch: UInt64

    /// Listens on each endpoint. Call it before the loop starts.
    init(_ options: Options, on loop: EventLoop) throws(TransportError) {
        self.loop = loop
        epoch = loop.nowMicroseconds
        for (index, endpoint) in options.endpoints.enumerated() {
            let configuration = options.controller(index)
            let socket = try ListeningSocket(endpoint)
            let controller = air.addController(configuration)
            air.closeTransport(of: controller)
            ports.append(
                Port(
                    controller: controller, socket: socket,
                    address: configuration.publicAddress?.addressText ?? ""))
            _ = try loop.register(socket.descriptor, for: .readable) { [unowned self] _ in accept(index) }
        }
        deadline = loop.makeDeadline { [unowned self] in
            air.advance(to: airTime)
            deliver()
        }
    }

    /// One line of JSON after the word READY. `/P` marks a public address, as in the scripts of the peers.
    var readiness: String {
        func list(_ texts: [String]) -> String { "[" + texts.map(quote).joined(separator: ", ") + "]" }
        let endpoints = list(ports.map(\.socket.endpoint.description))
        return "READY {\"endpoints\": \(endpoints), \"addresses\": \(list(ports.map { $0.address + "/P" }))}"
    }

    func close() {
        for port in ports {
            port.client?.close()
            port.socket.close()
        }
    }

    private var airTime: Int64 { Int64(loop.nowMicroseconds - epoch) }

    private func accept(_ index: Int) {
        while let descriptor = ports[index].socket.accept() {
            guard ports[index].client == nil else {
                Glibc.close(descriptor)
                continue
            }
            begin(index, descriptor)
        }
    }

    private func begin(_ index: Int, _ descriptor: Int32) {
        let controller = ports[index].controller
        let client = StreamTransport(descriptor: descriptor, isSocket: true, address: .simulator(scenario: nil))
        do throws(TransportError) {
            try client.start(
                on: loop,
                receive: { [unowned self] packet in
                    air.send(packet, to: controller, at: airTime)
                    deliver()
                },
                closed: { [unowned self] _ in
                    ports[index].client = nil
                    air.advance(to: airTime)
                    air.closeTransport(of: controller)
                    deliver()
                })
        } catch {
            return
        }
        air.advance(to: airTime)
        air.reopenTransport(of: controller)
        ports[index].client = client
    }

    /// Delivers what the controllers have sent so far, and sets the timer for the next packet.
    private func deliver() {
        for port in ports {
            air.drainPackets(of: port.controller) { port.client?.send($0) }
        }
        if let next = air.nextDeadlineMicroseconds {
            deadline?.set(atMicroseconds: epoch + UInt64(max(0, next)))
        } else {
            deadline?.clear()
        }
    }

    private func quote(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\u{00}"..<"\u{20}":
                quoted += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
