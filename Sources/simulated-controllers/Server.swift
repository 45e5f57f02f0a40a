import BLEPackets
import BLESimulator
import BLETransport
import BLEVirtualTransports
import Glibc

/// The endpoints of simulated controllers. Runs on the loop's thread.
final class Server {
    private let loop: EventLoop
    private let air: ServedAir
    private enum Door {
        case socket(ListeningSocket)
        case terminal(TerminalPort)
        case kernel
    }

    private var ports: [(door: Door, endpoint: String, address: String?)] = []
    private var deadlines: [EventLoop.Deadline] = []
    private var isClosed = false

    /// How long a controller that left the kernel's bus is away, in microseconds.
    private static let absence: UInt64 = 1_000_000

    /// Listens on each endpoint. Call it before the loop starts.
    init(_ options: Options, on loop: EventLoop) throws(TransportError) {
        self.loop = loop
        var simulated = SimulatedAir()
        var first: (SimulatedControllerID, SimulatedControllerConfiguration)?
        if options.hasDevices {
            if let path = options.scenario {
                var scenario = try VirtualTransports.scenario(path)
                if let preset = options.preset(0) {
                    (scenario.controller, scenario.controllerFaults) = (preset.configuration(), preset.faults)
                }
                let made = scenario.makeAir()
                simulated = made.air
                first = (made.controller, scenario.controller)
            } else {
                simulated = .demoWorld()
            }
        }
        air = ServedAir(on: loop, air: simulated)
        for (index, endpoint) in options.endpoints.enumerated() {
            let configuration: SimulatedControllerConfiguration
            if index == 0, let first {
                configuration = first.1
                air.add(first.0)
            } else {
                configuration = options.controller(index)
                air.add(configuration, faults: options.preset(index)?.faults ?? .init())
            }
            let address = configuration.publicAddress?.addressText
            switch endpoint {
            case .kernel:
                let port = try KernelPort()
                ports.append((.kernel, "hci\(port.index)", address))
                loop.runLater { [unowned self] in connect(port, to: index) }
            case .terminal(let link, let framing):
                ports.append((.terminal(try TerminalPort(link: link, framing: framing)), endpoint.description, address))
                serve(index)
            default:
                let socket = try ListeningSocket(endpoint)
                ports.append((.socket(socket), socket.endpoint.description, address))
                _ = try loop.register(socket.descriptor, for: .readable) { [unowned self] _ in accept(index) }
            }
        }
    }

    /// One line of JSON after the word READY. `/P` marks a public address, as in the scripts of the peers; a controller
    /// without one has `null`.
    var readiness: String {
        func list(_ texts: [String?]) -> String {
            "[" + texts.map { $0.map(quote) ?? "null" }.joined(separator: ", ") + "]"
        }
        let endpoints = list(ports.map(\.endpoint))
        let addresses = list(ports.map { port in port.address.map { $0 + "/P" } })
        return "READY {\"endpoints\": \(endpoints), \"addresses\": \(addresses)}"
    }

    func close() {
        isClosed = true
        air.close()
        for port in ports {
            switch port.door {
            case .socket(let socket): socket.close()
            case .terminal(let terminal): terminal.close()
            case .kernel: break
            }
        }
    }

    /// Serves whoever opens a pseudo-terminal. A host that loses its framing ends a transport; the next one follows.
    private func serve(_ index: Int) {
        guard !isClosed, case .terminal(let terminal) = ports[index].door else { return }
        air.connect(terminal.makeTransport(), to: index) { [unowned self] in serve(index) }
    }

    private func accept(_ index: Int) {
        guard case .socket(let socket) = ports[index].door else { return }
        while let descriptor = socket.accept() {
            if air.hasHost(index) { Glibc.close(descriptor) } else { air.connect(descriptor, to: index) }
        }
    }

    // MARK: The kernel

    private func connect(_ port: KernelPort, to index: Int) {
        air.connect(port.descriptor, to: index, isSocket: false) { [unowned self] in
            guard !isClosed else { return }
            // As on USB: a controller that drops off the bus comes back, perhaps under another number.
            let deadline = loop.makeDeadline { [unowned self] in
                do throws(TransportError) { connect(try KernelPort(), to: index) } catch {
                    complain("the controller cannot come back: \(error)")
                }
            }
            deadlines.append(deadline)
            deadline.set(atMicroseconds: loop.nowMicroseconds + Self.absence)
        }
    }

    private func complain(_ message: String) {
        let text = Array("simulated-controllers: \(message)\n".utf8)
        _ = unsafe write(STDERR_FILENO, text, text.count)
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
