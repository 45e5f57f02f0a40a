import ArgumentParser
import BLE
import BLEScripts

struct GATTDiscoverCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "discover",
        abstract: "Print every service, characteristic and descriptor.",
        usage: "bletool gatt PEER discover [--service UUID] [--profile FILE]",
        discussion: """
              bletool gatt Thermometer discover --service 180D
              bletool gatt Thermometer discover --profile thermometer.json
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup(title: ConnectionOptions.title) var strength: KeyStrengthArguments
    @OptionGroup(title: ConnectionOptions.title) var bearers: BearerOptions

    @Option("Only this service.", "uuid") var service: BluetoothUUID?

    @Option(
        "Write the services and the values that can be read into this file, as serve --profile takes it.", "file",
        completion: .file(extensions: ["json"]))
    var profile: String?

    @Argument(peerHelp) var peer: PeerArgument

    func lines() -> [(number: Int?, step: GATTStep)] { [(nil, .discover(service: service))] }

    func conclude(with runner: GATTRunner) async throws {
        if let profile { try await runner.clone(service, to: profile) }
    }
}
