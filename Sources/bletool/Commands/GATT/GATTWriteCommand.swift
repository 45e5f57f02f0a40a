import ArgumentParser

struct GATTWriteCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Write a value of up to 512 bytes.",
        usage: "bletool gatt PEER write TARGET HEX [--command]",
        discussion: """
            The device confirms the write. It does not with --command, or if the characteristic only takes Write \
            Commands.

              bletool gatt Thermometer write 2A39 01
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var strength: KeyStrengthArguments

    @Flag(help: "Use a Write Command: at most MTU − 3 bytes, without a response.")
    var command = false

    @Argument(help: peerHelp) var peer: PeerArgument
    @Argument(help: targetHelp) var target: TargetArgument
    @Argument(help: ArgumentHelp("The value in hexadecimal.", valueName: "hex")) var value: HexBytes

    func validate() throws {
        guard value.bytes.count <= 512 else { throw ValidationError("A value has at most 512 bytes.") }
    }

    func lines() -> [(number: Int?, step: GATTStep)] { [(nil, .write(target, value.bytes, isCommand: command))] }
}
