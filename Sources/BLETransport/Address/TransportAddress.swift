import BLEChips
import BLEPackets

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
    /// `uart:DEVICE@BAUD[,h5][,flow=none][,chip=NAME][,address=ADDRESS]`: a serial port, with H4, with RTS/CTS and
    /// without a chip that has to be started, unless the options say otherwise.
    case serialPort(
        device: String, baud: UInt32, hasFlowControl: Bool = true, framing: SerialFraming = .h4,
        chip: SerialChip? = nil)
    /// `usb`, `usb:VID:PID` or `usb:BUS-PORT`: a USB device without the kernel's Bluetooth stack.
    case usb(USBSelector)
    /// `sim`, `sim:PRESET` or `sim:FILE`: the simulator in this process, whose controller can be of a real family.
    case simulator(scenario: String?)
    /// `replay:FILE`: a capture plays the controller; `replay:FILE@RATE` plays it RATE times faster.
    case replay(path: String)
    /// `bled` or `bled:PATH`: the controller of the daemon that listens at the path, shared with other programs.
    case daemon(path: String?)

    /// The forms of addresses, for usage texts. `usb`, `sim`, `replay` and `bled` only work in programs
    /// that offer them.
    public static let forms = [
        "user:N", "raw:N", "unix:PATH", "unix:@NAME", "tcp:HOST:PORT", "tcp:[IPV6]:PORT",
        "uart:DEVICE@BAUD[,h5][,flow=none][,chip=NAME][,address=ADDRESS]", "usb", "usb:VID:PID", "usb:BUS-PORT", "sim",
        "sim:PRESET", "sim:FILE", "replay:FILE", "replay:FILE@RATE", "bled", "bled:PATH",
    ]
}

/// How packets are put on a serial line.
public enum SerialFraming: Hashable, Sendable {
    /// The UART transport (Core 5.4, Vol 4, Part A): needs a line that loses nothing, and so flow control.
    case h4
    /// The three-wire UART transport (Core 5.4, Vol 4, Part D): what gets lost is sent again.
    case h5
}

/// A chip that has to be started before it can be used.
public struct SerialChip: Hashable, Sendable {
    /// Which family it belongs to. Realtek's chips need `SerialFraming.h5`.
    public var family: ChipFamily
    /// The public address that is written to it; `nil`: it keeps its own.
    public var address: DeviceAddress?

    public init(family: ChipFamily, address: DeviceAddress? = nil) {
        self.family = family
        self.address = address
    }
}

extension TransportAddress: CustomStringConvertible {
    public var description: String {
        switch self {
        case .userChannel(let adapter): "user:\(adapter)"
        case .rawChannel(let adapter): "raw:\(adapter)"
        case .unix(let path): "unix:\(path)"
        case .tcp(let host, let port): host.contains(":") ? "tcp:[\(host)]:\(port)" : "tcp:\(host):\(port)"
        case .serialPort(let device, let baud, let hasFlowControl, let framing, let chip):
            Self.text(device: device, baud: baud, hasFlowControl: hasFlowControl, framing: framing, chip: chip)
        case .usb(.first): "usb"
        case .usb(let selector): "usb:\(selector)"
        case .simulator(let scenario): scenario.map { "sim:\($0)" } ?? "sim"
        case .replay(let path): "replay:\(path)"
        case .daemon(let path): path.map { "bled:\($0)" } ?? "bled"
        }
    }

    private static func text(
        device: String, baud: UInt32, hasFlowControl: Bool, framing: SerialFraming, chip: SerialChip?
    ) -> String {
        var text = "uart:\(device)@\(baud)"
        if framing == .h5 { text += ",h5" }
        if !hasFlowControl { text += ",flow=none" }
        if let chip {
            text += ",chip=\(chip.family.rawValue)"
            if let address = chip.address { text += ",address=\(address.addressText)" }
        }
        return text
    }
}
