import BLEChips
import BLEPackets

extension TransportAddress {
    /// - Throws: `TransportError.invalidAddress` for anything but one of the `forms`, with what is wrong.
    public init(_ text: String) throws(TransportError) {
        do throws(AddressMistake) { self = try TransportAddress.parse(text) } catch {
            throw .invalidAddress(text, reason: error.reason)
        }
    }

    private static func parse(_ text: String) throws(AddressMistake) -> TransportAddress {
        switch text {
        case "sim": return .simulator(scenario: nil)
        case "usb": return .usb(.first)
        case "bled": return .daemon(path: nil)
        default: break
        }
        guard let colon = text.firstIndex(of: ":") else { throw .unknownForm }
        let scheme = text[..<colon]
        let rest = text[text.index(after: colon)...]
        // A zero byte would end a path early inside the kernel.
        guard !rest.utf8.contains(0) else { throw AddressMistake("it contains a zero byte") }
        let forms = TransportAddress.forms.filter { $0.hasPrefix("\(scheme):") }
        guard !forms.isEmpty else { throw .unknownForm }
        guard !rest.isEmpty else { throw AddressMistake("write " + forms.joined(separator: " or ")) }
        switch scheme {
        case "user": return .userChannel(adapter: try adapterIndex(rest))
        case "raw": return .rawChannel(adapter: try adapterIndex(rest))
        case "unix":
            guard rest != "@" else { throw AddressMistake("a name is missing after ‘@’") }
            return .unix(path: String(rest))
        case "tcp": return try hostAndPort(rest)
        case "uart": return try serialPort(rest)
        case "usb":
            guard let selector = USBSelector(rest) else { throw usbMistake(rest) }
            return .usb(selector)
        case "sim": return .simulator(scenario: String(rest))
        case "replay": return .replay(path: String(rest))
        case "bled":
            guard rest != "@" else { throw AddressMistake("a name is missing after ‘@’") }
            return .daemon(path: String(rest))
        default: throw .unknownForm
        }
    }

    private static func hostAndPort(_ text: Substring) throws(AddressMistake) -> TransportAddress {
        guard let colon = text.lastIndex(of: ":") else { throw AddressMistake("the port is missing: tcp:HOST:PORT") }
        let written = text[text.index(after: colon)...]
        guard let port = number(written, as: UInt16.self), port > 0 else {
            throw AddressMistake("‘\(written)’ is no port: a port is 1 to 65535")
        }
        var host = text[..<colon]
        if host.first == "[", host.last == "]", host.utf8.count > 2 {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { throw AddressMistake("only an IPv6 address has brackets") }
        } else if host.contains(":") {
            throw AddressMistake("write an IPv6 address in brackets: tcp:[::1]:9000")
        }
        guard !host.isEmpty else { throw AddressMistake("the host is missing: tcp:HOST:PORT") }
        guard !host.contains("["), !host.contains("]") else { throw AddressMistake("‘\(host)’ is no host") }
        return .tcp(host: String(host), port: port)
    }

    private static func serialPort(_ text: Substring) throws(AddressMistake) -> TransportAddress {
        guard let at = text.lastIndex(of: "@") else {
            throw AddressMistake("the speed is missing: uart:DEVICE@BAUD, such as uart:/dev/ttyUSB0@115200")
        }
        guard at > text.startIndex else { throw AddressMistake("the device is missing: uart:DEVICE@BAUD") }
        let parts = text[text.index(after: at)...].split(separator: ",", omittingEmptySubsequences: false)
        guard let baud = number(parts[0], as: UInt32.self), baud > 0 else {
            throw AddressMistake("‘\(parts[0])’ is no speed (such as 115200)")
        }
        var options = SerialOptions()
        for option in parts.dropFirst() { try options.take(option) }
        guard options.family != nil || options.address == nil else { throw AddressMistake("‘address=’ needs ‘chip=’") }
        return .serialPort(
            device: String(text[..<at]), baud: baud, hasFlowControl: options.hasFlowControl,
            // Realtek's chips know nothing else.
            framing: options.family == .realtek ? .h5 : options.framing,
            chip: options.family.map { SerialChip(family: $0, address: options.address) })
    }

    private static func usbMistake(_ text: Substring) -> AddressMistake {
        let isPrefixed = text.contains("0x") || text.contains("0X")
        return AddressMistake(
            "‘\(text)’ is neither VID:PID, four hexadecimal digits each"
                + (isPrefixed ? " without ‘0x’" : "") + " (such as 0a12:0001), nor BUS-PORT (such as 1-2.3)")
    }

    /// `0xFFFF` means "no adapter" to the kernel.
    private static func adapterIndex(_ text: Substring) throws(AddressMistake) -> UInt16 {
        guard let index = number(text, as: UInt16.self), index < UInt16.max else {
            throw AddressMistake("‘\(text)’ is no number of an adapter (0 to 65534)")
        }
        return index
    }

    /// Decimal digits only: the integer initializer also accepts signs.
    private static func number<Value: FixedWidthInteger>(_ text: Substring, as type: Value.Type) -> Value? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Value(text)
    }
}

/// What is wrong with the text of an address.
private struct AddressMistake: Error {
    /// `nil`: it has none of the forms.
    let reason: String?

    init(_ reason: String?) { self.reason = reason }

    static var unknownForm: AddressMistake { AddressMistake(nil) }
}

/// What follows the speed of a serial port.
private struct SerialOptions {
    var hasFlowControl = true
    var framing = SerialFraming.h4
    var family: ChipFamily?
    var address: DeviceAddress?

    mutating func take(_ option: Substring) throws(AddressMistake) {
        let value = option.firstIndex(of: "=").map { String(option[option.index(after: $0)...]) }
        switch option.prefix(while: { $0 != "=" }) {
        case "h5" where value == nil:
            try once(framing == .h4, "h5")
            framing = .h5
        // An older spelling of `flow=none`.
        case "noflow" where value == nil:
            try once(hasFlowControl, "flow=none")
            hasFlowControl = false
        case "flow":
            guard value == "none" else {
                throw AddressMistake("there is no flow control ‘\(value ?? "")’: ‘flow=none’, or nothing for RTS/CTS")
            }
            try once(hasFlowControl, "flow=none")
            hasFlowControl = false
        case "chip":
            try once(family == nil, "chip=")
            guard let named = value.flatMap({ ChipFamily(rawValue: $0) }) else {
                let known = ChipFamily.allCases.filter { !$0.needsKernelDriver }.map(\.rawValue)
                throw AddressMistake("there is no chip ‘\(value ?? "")’: \(known.joined(separator: ", "))")
            }
            family = named
        case "address":
            try once(address == nil, "address=")
            guard let value, let written = DeviceAddress(value), !value.contains("/") else {
                throw AddressMistake("‘\(value ?? "")’ is no address (such as B8:27:EB:01:02:03)")
            }
            address = written
        case "" where value == nil: throw AddressMistake("an option is missing after a comma")
        default:
            throw AddressMistake(
                "there is no option ‘\(option)’: h5, flow=none, chip=NAME, address=ADDRESS")
        }
    }

    private func once(_ isFirst: Bool, _ name: String) throws(AddressMistake) {
        guard isFirst else { throw AddressMistake("‘\(name)’ is there twice") }
    }
}
