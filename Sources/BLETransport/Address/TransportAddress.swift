/// How to reach a controller. Its text form parses back to the same value.
public enum TransportAddress: Hashable, Sendable {
    /// `user:N`: the HCI user channel of adapter N, exclusively for this process.
    case userChannel(adapter: UInt16)
    /// `raw:N`: the adapter N, shared with the kernel.
    case rawChannel(adapter: UInt16)
    /// `unix:PATH`: H4 over a Unix socket; a path that begins with `@` is an abstract name.
    case unix(path: String)
    /// `tcp:HOST:PORT`: H4 over TCP; write an IPv6 address in brackets.
    case tcp(host: String, port: UInt16)
    /// `uart:DEVICE@BAUD`: H4 over a serial port, with RTS/CTS unless `,noflow` follows.
    case serialPort(device: String, baud: UInt32, hasFlowControl: Bool)
    /// `sim` or `sim:FILE`: the simulator in this process.
    case simulator(scenario: String?)
    /// `replay:FILE`: a capture plays the controller; `replay:FILE@RATE` plays it RATE times faster.
    case replay(path: String)
    /// `bled` or `bled:PATH`: the controller of the daemon that listens at the path, shared with other programs.
    case daemon(path: String?)

    /// The forms of addresses, for usage texts. `sim`, `replay` and `bled` only work in programs that offer them.
    public static let forms = [
        "user:N", "raw:N", "unix:PATH", "unix:@NAME", "tcp:HOST:PORT", "tcp:[IPV6]:PORT", "uart:DEVICE@BAUD",
        "uart:DEVICE@BAUD,noflow", "sim", "sim:FILE", "replay:FILE", "replay:FILE@RATE",
        "bled", "bled:PATH",
    ]
}

extension TransportAddress: CustomStringConvertible {
    public var description: String {
        switch self {
        case .userChannel(let adapter): "user:\(adapter)"
        case .rawChannel(let adapter): "raw:\(adapter)"
        case .unix(let path): "unix:\(path)"
        case .tcp(let host, let port): host.contains(":") ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
        case .serialPort(let device, let baud, let hasFlowControl):
            "uart:\(device)@\(baud)" + (hasFlowControl ? "" : ",noflow")
        case .simulator(let scenario): scenario.map { "sim:\($0)" } ?? "sim"
        case .replay(let path): "replay:\(path)"
        case .daemon(let path): path.map { "bled:\($0)" } ?? "bled"
        }
    }
}
