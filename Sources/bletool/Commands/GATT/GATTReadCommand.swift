import ArgumentParser

struct GATTReadCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Read a value, however long.",
        usage: "bletool gatt PEER read TARGET",
        discussion: "  bletool gatt Thermometer read 180F/2A19")

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var strength: KeyStrengthArguments

    @Argument(help: peerHelp) var peer: PeerArgument
    @Argument(help: targetHelp) var target: TargetArgument

    func lines() -> [(number: Int?, step: GATTStep)] { [(nil, .read(target))] }
}
