import ArgumentParser
import BLEScripts

struct GATTWriteCommand: GATTVerb {
    static let configuration = CommandConfiguration(
        commandName: "write",
        abstract: "Write a value of up to 512 bytes.",
        usage:
            "bletool gatt PEER write TARGET VALUE [TARGET VALUE … --reliable] [--command | --signed] [--text | --uint8 | --uint16 | …]",
        discussion: """
            The device confirms the write, except with --command or if the characteristic only supports Write Commands. \
            With --reliable, several values are written, all or none.

              bletool gatt Thermometer write 2A39 01
              bletool gatt Thermometer write 'Device Name' Kitchen --text
              bletool gatt Thermometer write 2A21 600 --uint16
              bletool gatt Thermometer write 2A21 5802 2A1E 01 --reliable
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup(title: ConnectionOptions.title) var strength: KeyStrengthArguments
    @OptionGroup(title: ConnectionOptions.title) var bearers: BearerOptions

    @Flag(help: "Use a Write Command: at most MTU − 3 bytes, without a response.")
    var command = false

    @Flag(
        help: ArgumentHelp(
            "Sign the value with the bond's key: at most MTU − 15 bytes, without a response.",
            discussion: "On an encrypted link, where signatures are not allowed, it is a Write Command."))
    var signed = false

    @Flag(help: "Write all values or none, and compare what the device received first.")
    var reliable = false

    @Flag(exclusivity: .exclusive) var form: ValueForm?

    @Argument(peerHelp) var peer: PeerArgument
    @Argument(targetHelp) var target: AttributeTarget
    @Argument(help: "The value in hexadecimal, or in the form of the option.") var value: String

    @Argument(help: ArgumentHelp("Further targets and values, with --reliable.", visibility: .hidden))
    var more: [String] = []

    /// Every target with its value.
    private func assignments() throws -> [GATTStep.Assignment] {
        guard more.isEmpty || reliable else {
            throw ValidationError("Several values are written with --reliable.")
        }
        guard more.count.isMultiple(of: 2) else { throw ValidationError("Each target needs a value.") }
        var assignments = [GATTStep.Assignment(target: target, value: try octets(of: value))]
        for index in stride(from: 0, to: more.count, by: 2) {
            guard let target = AttributeTarget(argument: more[index]) else {
                throw ValidationError("‘\(more[index])’: \(AttributeTarget.mistake(in: more[index])).")
            }
            assignments.append(.init(target: target, value: try octets(of: more[index + 1])))
        }
        return assignments
    }

    private func octets(of value: String) throws -> [UInt8] {
        guard let octets = form.map({ $0.octets(of: value) }) ?? Hexadecimal.bytes(value) else {
            throw ValidationError("‘\(value)’ is not a value \(form.map { "of \($0.rawValue)" } ?? "in hexadecimal").")
        }
        guard octets.count <= 512 else { throw ValidationError("A value has at most 512 bytes.") }
        return octets
    }

    func validate() throws {
        _ = try assignments()
        if [reliable, command, signed].count(where: \.self) > 1 {
            throw ValidationError("--reliable, --command and --signed exclude each other.")
        }
    }

    func lines() throws -> [(number: Int?, step: GATTStep)] {
        let assignments = try assignments()
        if reliable { return [(nil, .writeReliably(assignments))] }
        return [(nil, .write(target, assignments[0].value, signed ? .signed : command ? .withoutResponse : .confirmed))]
    }
}
