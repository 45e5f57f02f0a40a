extension TransportAddress {
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
