import ArgumentParser
import BLE

/// A service that carries octets as a serial line does, and the characteristics of its two directions.
struct SerialProfile: Equatable, Sendable {
    var service: BluetoothUUID
    /// The one that centrals write to.
    var write: BluetoothUUID
    /// The one that the peripheral sends; it may be the same one.
    var notify: BluetoothUUID
}

/// Services that devices are known to have.
enum SerialPreset: String, ExpressibleByArgument, CaseIterable {
    /// The Nordic UART Service.
    case nordic
    /// HM-10 and the many modules like it.
    case hm10
    /// u-blox's Serial Port Service, whose credits are left out: its specification allows that.
    case ublox
    /// Microchip's Transparent UART.
    case microchip

    var profile: SerialProfile {
        switch self {
        case .nordic:
            SerialProfile(
                service: "6E400001-B5A3-F393-E0A9-E50E24DCCA9E", write: "6E400002-B5A3-F393-E0A9-E50E24DCCA9E",
                notify: "6E400003-B5A3-F393-E0A9-E50E24DCCA9E")
        case .hm10: SerialProfile(service: "FFE0", write: "FFE1", notify: "FFE1")
        case .ublox:
            SerialProfile(
                service: "2456E1B9-26E2-8F83-E744-F34F01E9D701", write: "2456E1B9-26E2-8F83-E744-F34F01E9D703",
                notify: "2456E1B9-26E2-8F83-E744-F34F01E9D703")
        case .microchip:
            SerialProfile(
                service: "49535343-FE7D-4AE5-8FA9-9FAFD205E455", write: "49535343-8841-43F4-A8D4-ECBE34729BB3",
                notify: "49535343-1E4D-4BD9-BA61-23C647249616")
        }
    }
}

/// Which service carries the octets, and where they go on this machine.
struct SerialOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A service that devices are known to have: nordic (default), hm10, ublox or microchip.",
            valueName: "name"))
    var uart: SerialPreset?

    @Option("Another service, with --write-to and --notify-from.", "uuid") var uartService: BluetoothUUID?

    @Option("The characteristic that the central writes to.", "uuid") var writeTo: BluetoothUUID?

    @Option("The characteristic that the peripheral sends; by default the one of --write-to.", "uuid")
    var notifyFrom: BluetoothUUID?

    @Option(
        "Make a pseudo-terminal, and a link to it at this path, for programs that open serial ports.", "path",
        completion: .file()) var pty: String?

    @Option(
        "Serve one program that connects by TCP, in place of standard input and output: PORT, or ADDRESS:PORT; "
            + "without an address on this machine only.", "address") var listen: ListenAddress?

    @Option("No write and no notification is longer than this, 1 to 512 octets.", "octets") var chunk: Int?

    @Option(
        "After the end of the input: end when nothing has arrived for this long (default: 1).", "seconds",
        parsing: .unconditional)
    var linger = Seconds(argument: "1")!

    func validate() throws {
        if pty != nil, listen != nil { throw ValidationError("Choose --pty or --listen: the line has one end here.") }
        if uartService != nil || writeTo != nil || notifyFrom != nil {
            guard uart == nil else { throw ValidationError("--uart names the service and what is in it already.") }
            guard uartService != nil, writeTo != nil else {
                throw ValidationError("Another service needs --uart-service and --write-to.")
            }
        }
        if let pty, pty.isEmpty { throw ValidationError("--pty needs the path of the link to make.") }
        guard (1...512).contains(chunk ?? 1) else { throw ValidationError("--chunk is 1 to 512.") }
    }

    /// Whether one of them was given.
    var isGiven: Bool {
        uart != nil || uartService != nil || writeTo != nil || notifyFrom != nil || pty != nil || listen != nil
            || chunk != nil
    }

    var profile: SerialProfile {
        guard let uartService, let writeTo else { return (uart ?? .nordic).profile }
        return SerialProfile(service: uartService, write: writeTo, notify: notifyFrom ?? writeTo)
    }

    /// - Throws: `Failure` if it cannot be made.
    func open(_ console: Console) throws -> SerialEnd {
        if let pty { return try .terminal(link: pty, console: console) }
        if let listen { return try .network(listen, console: console) }
        return .standard(console: console)
    }
}
