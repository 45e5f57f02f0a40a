import ArgumentParser
import BLE
import BLEDecoder
import BLEJSON
import BLEScripts

struct LEInfoCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "leinfo",
        abstract: "Print a device's version and features.",
        discussion: """
            Connects, asks and disconnects. With raw:, an existing connection is used and kept. --static uses the \
            random static address, as --own-address static does.

              bletool leinfo 24:6F:28:AA:BB:CC
              bletool leinfo --random C1:22:33:44:55:66
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions

    @Flag(name: .shortAndLong, help: "The address is random, as with /random.")
    var random = false

    @Flag(name: .shortAndLong, help: "Use the adapter's random static address.")
    var `static` = false

    @Argument("ADDRESS, ADDRESS/random or a name.") var peer: PeerArgument

    func run(in session: Session) async throws {
        var chosen = session
        if `static` { chosen.ownAddress = .static }
        let session = chosen
        let peer = peer.asRandom(random)
        let search = connection.search
        let events = EventWatch()
        let handle = try session.rawAdapter.flatMap { try KernelConnections(adapter: $0).handle(of: peer) }
        try await session.withAdapter(observer: handle == nil ? nil : events, adjusting: session.knowBonds) { adapter in
            if let handle {
                let commands = ControllerCommands(adapter: adapter, events: events)
                let version = try await commands.readRemoteVersion(handle)
                let features = try await commands.readRemoteFeatures(handle)
                return print(handle, address: nil, peer, version, features, on: session.console)
            }
            let peripheral = try await session.connect(to: peer, through: adapter, search)
            let remote = try await peripheral.readRemoteVersion()
            let version = PeerVersion(
                version: remote.version, company: remote.companyIdentifier, subversion: remote.subversion)
            let features = try await peripheral.readRemoteFeatures()
            print(
                peripheral.link.handle, address: peripheral.address, peer, version, features,
                on: session.console)
        }
    }

    private func print(
        _ handle: ConnectionHandle, address: DeviceAddress?, _ peer: PeerArgument, _ version: PeerVersion,
        _ features: LEFeatures, on console: Console
    ) {
        let names = FeatureNames.leFeatures(features.rawValue)
        let known = address ?? peer.knownAddress
        console.print(
            [
                "event": "remote", "handle": JSONValue(handle.rawValue),
                "address": JSONValue(known?.addressText), "addressType": JSONValue(known?.kindText),
                "version": .string(version.name), "subversion": JSONValue(version.subversion),
                "manufacturer": JSONValue(version.company), "features": JSONValue(names),
            ],
            text: ([
                "handle        \(handle.rawValue)",
                "address       \(known.map { "\($0.addressText) \($0.kindText)" } ?? peer.text)",
                "version       \(version.name) (subversion \(Hexadecimal.number(version.subversion, digits: 4)))",
                "manufacturer  \(Hexadecimal.number(version.company, digits: 4))",
                "features      \(Hexadecimal.number(features.rawValue, digits: 16))",
            ] + names.map { "  " + $0 }).joined(separator: "\n"))
    }
}

extension PeerArgument {
    /// The address with its type, if the user gave both.
    var knownAddress: DeviceAddress? {
        guard case .address(let address) = self else { return nil }
        return address
    }
}
