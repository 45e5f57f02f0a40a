import BLEPackets
import BLETransport
import BLEVirtualTransports
import Glibc

/// The sockets of simulated controllers. Runs on the loop's thread.
final class Server {
    private let air: ServedAir
    private var ports: [(socket: ListeningSocket, address: String)] = []

    /// Listens on each endpoint. Call it before the loop starts.
    init(_ options: Options, on loop: EventLoop) throws(TransportError) {
        air = ServedAir(on: loop)
        for (index, endpoint) in options.endpoints.enumerated() {
            let configuration = options.controller(index)
            let socket = try ListeningSocket(endpoint)
            air.add(configuration)
            ports.append((socket, configuration.publicAddress?.addressText ?? ""))
            _ = try loop.register(socket.descriptor, for: .readable) { [unowned self] _ in accept(index) }
        }
    }

    /// One line of JSON after the word READY. `/P` marks a public address, as in the scripts of the peers.
    var readiness: String {
        func list(_ texts: [String]) -> String { "[" + texts.map(quote).joined(separator: ", ") + "]" }
        let endpoints = list(ports.map(\.socket.endpoint.description))
        return "READY {\"endpoints\": \(endpoints), \"addresses\": \(list(ports.map { $0.address + "/P" }))}"
    }

    func close() {
        air.close()
        for port in ports { port.socket.close() }
    }

    private func accept(_ index: Int) {
        while let descriptor = ports[index].socket.accept() {
            if air.hasHost(index) { Glibc.close(descriptor) } else { air.connect(descriptor, to: index) }
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
