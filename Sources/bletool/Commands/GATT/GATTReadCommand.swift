import ArgumentParser

struct GATTReadCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Read values of any length.",
        usage: "bletool gatt PEER read TARGET… [--text | --uint8 | --uint16 | --uint32 | --int8 | --int16 | --int32]",
        discussion: """
            Prints the bytes, and their meaning if the Bluetooth SIG defines it. With --text or an integer type, prints \
            the value in that form.

              bletool gatt Thermometer read 'Battery Level' 'Manufacturer Name String'
              bletool gatt Thermometer read 0x0021 --uint16
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var strength: KeyStrengthArguments
    @OptionGroup var bearers: BearerOptions

    @Flag(exclusivity: .exclusive) var form: ValueForm?

    @Argument(help: peerHelp) var peer: PeerArgument
    @Argument(help: targetHelp) var target: [TargetArgument]

    func lines() -> [(number: Int?, step: GATTStep)] {
        target.map { (nil, .read($0, form: form, isNamed: target.count > 1)) }
    }
}
