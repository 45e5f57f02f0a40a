import ArgumentParser
import BLE
import BLEScripts

struct GATTDiscoverCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "discover",
        abstract: "Print every service, characteristic and descriptor.",
        usage: "bletool gatt PEER discover [--service UUID]",
        discussion: "  bletool gatt Thermometer discover --service 180D")

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup(title: ConnectionOptions.title) var strength: KeyStrengthArguments
    @OptionGroup(title: ConnectionOptions.title) var bearers: BearerOptions

    @Option("Only this service.", "uuid") var service: BluetoothUUID?

    @Argument(peerHelp) var peer: PeerArgument

    func lines() -> [(number: Int?, step: GATTStep)] { [(nil, .discover(service: service))] }
}
