import ArgumentParser

struct GATTWriteCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Write a value of up to 512 bytes.",
        usage: "bletool gatt PEER write TARGET VALUE [--command] [--text | --uint8 | --uint16 | …]",
        discussion: """
            The device confirms the write, except with --command or if the characteristic only supports Write Commands.

              bletool gatt Thermometer write 2A39 01
              bletool gatt Thermometer write 'Device Name' Kitchen --text
              bletool gatt Thermometer write 2A21 600 --uint16
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var strength: KeyStrengthArguments
    @OptionGroup var bearers: BearerOptions

    @Flag(help: "Use a Write Command: at most MTU − 3 bytes, without a response.")
    var command = false

    @Flag(exclusivity: .exclusive) var form: ValueForm?

    @Argument(help: peerHelp) var peer: PeerArgument
    @Argument(help: targetHelp) var target: TargetArgument
    @Argument(help: "The value in hexadecimal, or in the form of the option.") var value: String

    private func octets() throws -> [UInt8] {
        guard let octets = form.map({ $0.octets(of: value) }) ?? Hexadecimal.bytes(value) else {
            throw ValidationError("‘\(value)’ is not a value \(form.map { "of \($0.rawValue)" } ?? "in hexadecimal").")
        }
        guard octets.count <= 512 else { throw ValidationError("A value has at most 512 bytes.") }
        return octets
    }

    func validate() throws { _ = try octets() }

    func lines() throws -> [(number: Int?, step: GATTStep)] {
        [(nil, .write(target, try octets(), isCommand: command))]
    }
}
