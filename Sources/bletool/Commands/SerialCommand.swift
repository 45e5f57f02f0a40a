import ArgumentParser
import BLE
import BLEJSON

struct SerialCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "serial",
        abstract: "Use a device's UART service as a serial line.",
        discussion: """
            Carries octets between the device and standard input and output; with --pty, programs for serial ports use \
            it, and with --listen, one that connects by TCP. It ends with the program on this side, or with the input. \
            A lost link is told and made again; what was sent and not confirmed may have arrived, so it is told and not \
            sent again.

              bletool serial Sensor
              bletool serial Sensor --pty /tmp/sensor        # then: picocom /tmp/sensor
              bletool serial 24:6F:28:AA:BB:CC --uart hm10 --listen 7000
              bletool serial Sensor < firmware.bin > answer
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup var serial: SerialOptions

    @Argument("ADDRESS, ADDRESS/random or a name.") var peer: PeerArgument

    @Flag(help: "End when the link is lost.")
    var noReconnect = false

    func run(in session: Session) async throws {
        let (peer, search, serial, noReconnect) = (peer, connection.search, serial, noReconnect)
        let console = session.console
        let end = try serial.open(console)
        let line = SerialLine(console: console, end: end, linger: serial.linger.duration)
        let client = SerialClient(
            line: line, profile: serial.profile, chunk: serial.chunk, reconnects: !noReconnect)
        let adjust: (inout AdapterConfiguration) throws -> Void = { try session.secure(&$0, pairing: nil) }
        do {
            try await session.withAdapter(adjusting: adjust) { adapter in
                try await line.run(ready: { console.reportReady(end) }) {
                    try await client.run { isFirst in
                        var search = search
                        if !isFirst, !line.input.isFinished { search.limit = nil }
                        return try await session.connect(to: peer, through: adapter, search)
                    }
                }
            }
        } catch {
            end.close()
            throw error
        }
    }
}

extension Console {
    /// Says what programs open.
    func reportReady(_ end: SerialEnd, name: String? = nil) {
        guard end.name != nil || name != nil else { return }
        let place = end.name.map { "the serial line is at \($0)" }
        let advertised = name.map { "advertising as “\($0)”" }
        report(
            ["event": "serialReady", "path": JSONValue(end.name), "name": JSONValue(name)],
            note: [advertised, place].compactMap { $0 }.joined(separator: "; "))
    }
}
