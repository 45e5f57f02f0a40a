import ArgumentParser
import BLEScripts

struct GATTReadCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Read values of any length.",
        usage: "bletool gatt PEER read TARGET… [--together] [--text | --uint8 | --uint16 | …]",
        discussion: """
            Prints the bytes, and their meaning if the Bluetooth SIG defines it. With --text or an integer type, prints \
            the value in that form.

              bletool gatt Thermometer read 'Battery Level' 'Manufacturer Name String'
              bletool gatt Thermometer read 0x0021 --uint16
              bletool gatt Thermometer read 2A19 2A29 --together
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup(title: ConnectionOptions.title) var strength: KeyStrengthArguments
    @OptionGroup(title: ConnectionOptions.title) var bearers: BearerOptions

    @Flag(help: "Read all values with one request.")
    var together = false

    @Flag(exclusivity: .exclusive) var form: ValueForm?

    @Argument(peerHelp) var peer: PeerArgument
    @Argument(targetHelp) var target: [AttributeTarget]

    func validate() throws {
        if together, target.count < 2 { throw ValidationError("--together is for two values or more.") }
    }

    func lines() -> [(number: Int?, step: GATTStep)] {
        if together { return [(nil, .readTogether(target, form: form))] }
        return target.map { (nil, .read($0, form: form, isNamed: target.count > 1)) }
    }
}
