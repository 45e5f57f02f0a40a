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

    /// - Throws: `TransportError.invalidAddress` for anything but one of the `forms`.
    public init(_ text: String) throws(TransportError) {
        guard let address = TransportAddress(parsing: text) else { throw .invalidAddress(text) }
        self = address
    }

    private init?(parsing text: String) {
        if text == "sim" {
            self = .simulator(scenario: nil)
            return
        }
        if text == "bled" {
            self = .daemon(path: nil)
            return
        }
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let rest = text[text.index(after: colon)...]
        // A zero byte would end a path early inside the kernel.
        guard !rest.isEmpty, !rest.utf8.contains(0) else { return nil }
        switch text[..<colon] {
        case "user":
            guard let index = TransportAddress.adapterIndex(rest) else { return nil }
            self = .userChannel(adapter: index)
        case "raw":
            guard let index = TransportAddress.adapterIndex(rest) else { return nil }
            self = .rawChannel(adapter: index)
        case "unix":
            guard rest != "@" else { return nil }
            self = .unix(path: String(rest))
        case "tcp": self.init(parsingHostAndPort: rest)
        case "uart": self.init(parsingSerialPort: rest)
        case "sim": self = .simulator(scenario: String(rest))
        case "replay": self = .replay(path: String(rest))
        case "bled":
            guard rest != "@" else { return nil }
            self = .daemon(path: String(rest))
        default: return nil
        }
    }

    private init?(parsingHostAndPort text: Substring) {
        guard let colon = text.lastIndex(of: ":"),
            let port = TransportAddress.number(text[text.index(after: colon)...], as: UInt16.self), port > 0
        else { return nil }
        var host = text[..<colon]
        if host.first == "[", host.last == "]", host.utf8.count > 2 {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { return nil }
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty, !host.contains("["), !host.contains("]") else { return nil }
        self = .tcp(host: String(host), port: port)
    }

    private init?(parsingSerialPort text: Substring) {
        guard let at = text.lastIndex(of: "@"), at > text.startIndex else { return nil }
        var speed = text[text.index(after: at)...]
        let withoutFlowControl = ",noflow"
        let hasFlowControl = !speed.hasSuffix(withoutFlowControl)
        if !hasFlowControl { speed = speed.dropLast(withoutFlowControl.count) }
        guard let baud = TransportAddress.number(speed, as: UInt32.self), baud > 0 else { return nil }
        self = .serialPort(device: String(text[..<at]), baud: baud, hasFlowControl: hasFlowControl)
    }

    /// `0xFFFF` means "no adapter" to the kernel.
    private static func adapterIndex(_ text: Substring) -> UInt16? {
        number(text, as: UInt16.self).flatMap { $0 < UInt16.max ? $0 : nil }
    }

    /// Decimal digits only: the integer initializer also accepts signs.
    private static func number<Value: FixedWidthInteger>(_ text: Substring, as type: Value.Type) -> Value? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Value(text)
    }
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
