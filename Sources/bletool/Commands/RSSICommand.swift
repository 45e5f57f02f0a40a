import ArgumentParser
import BLE
import BLEJSON
import BLEScripts

struct RSSICommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "rssi",
        abstract: "Measure the signal strength of a connected device.",
        discussion: """
            With raw:, the device must be connected (lecc); with other transports bletool connects first.

              bletool -t raw:0 rssi 24:6F:28:AA:BB:CC
              bletool -t raw:0 rssi 64
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions

    @Argument("ADDRESS, ADDRESS/random or a name; with raw: also the handle of a connection.") var peer: PeerArgument

    func run(in session: Session) async throws {
        let peer = peer
        let search = connection.search
        let handle = try session.rawAdapter.map { try kernelHandle(on: $0) }
        let rssi = try await session.withAdapter(adjusting: session.knowBonds) { adapter in
            guard let handle else {
                return try await session.connect(to: peer, through: adapter, search).readRSSI()
            }
            let commands = ControllerCommands(adapter: adapter, events: EventWatch())
            return try await commands.send(ReadRSSI(connectionHandle: handle)).rssi
        }
        session.console.print(
            ["event": "rssi", "rssi": rssi == 127 ? .null : JSONValue(rssi)],
            text: "RSSI return value: \(rssi == 127 ? "unknown" : String(rssi))")
    }

    private func kernelHandle(on index: UInt16) throws -> ConnectionHandle {
        if case .name(let text) = peer, let number = Hexadecimal.integer(text, as: UInt16.self) {
            return ConnectionHandle(rawValue: number)
        }
        guard let handle = try KernelConnections(adapter: index).handle(of: peer) else {
            throw Failure("\(peer.text) is not connected; connect with ‘bletool -t raw:\(index) lecc’ first")
        }
        return handle
    }
}
