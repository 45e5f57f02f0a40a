import ArgumentParser
import BLE
import BLEJSON

struct LEConnectCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "lecc",
        abstract: "Connect to a device and print the handle.",
        discussion: """
            With raw:, the connection stays after the program until ledc or the device ends it; with other transports \
            it ends with the program.

              bletool -t raw:0 lecc 24:6F:28:AA:BB:CC
              bletool -t raw:0 lecc --accept-list
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions

    @Flag(name: .shortAndLong, help: "The address is random, as with /random.")
    var random = false

    @Flag(name: .shortAndLong, help: "Use the adapter's random address (raw: only).")
    var `static` = false

    @Flag(
        name: [.customLong("accept-list"), .customLong("whitelist")],
        help: "Connect to any device on the accept list (raw: only).")
    var acceptList = false

    @Argument("ADDRESS, ADDRESS/random or a name.") var peer: PeerArgument?

    func validate() throws {
        guard (peer == nil) == acceptList else {
            throw ValidationError("Give a peer or --accept-list.")
        }
    }

    func run(in session: Session) async throws {
        let peer = peer?.asRandom(random)
        let search = connection.search
        let events = EventWatch()
        let isRaw = session.rawAdapter != nil
        guard isRaw || (peer != nil && !`static`) else {
            throw Failure("--accept-list and --static require raw:N", status: .usage)
        }
        let ownAddressType: OwnAddressType = `static` ? .random : .public
        let (handle, address) = try await session.withAdapter(
            observer: isRaw ? events : nil, adjusting: session.knowBonds
        ) { adapter in
            if let peer, !isRaw {
                let peripheral = try await session.connect(to: peer, through: adapter, search)
                return (handle: peripheral.link.handle, peer: peripheral.address)
            }
            var address: DeviceAddress?
            if let peer {
                address = try await session.find(peer, through: adapter, search)
            }
            return try await ControllerCommands(adapter: adapter, events: events)
                .connect(to: address, ownAddressType: ownAddressType, timeout: search.limit)
        }
        session.console.print(
            [
                "event": "connected", "handle": JSONValue(handle.rawValue), "address": .string(address.addressText),
                "addressType": .string(address.kindText),
            ],
            text: "Connection handle \(handle.rawValue)")
    }
}
