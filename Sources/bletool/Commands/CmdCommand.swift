import ArgumentParser
import BLE
import BLEJSON
import BLEScripts

struct CmdCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "cmd",
        abstract: "Send any HCI command and print the controller's response.",
        discussion: """
            All numbers are hexadecimal, with or without 0x, as in hcitool. With raw:, the command goes to the \
            kernel's controller unchanged; with other transports bletool resets and initialises the controller first.

              bletool -t raw:0 cmd 0x04 0x0001
              bletool cmd 08 0005 01 02 03 04 05 c6
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Argument("The opcode group field (OGF), 0 to 3f.") var ogf: HexNumber

    @Argument("The opcode command field (OCF), 0 to 3ff.") var ocf: HexNumber

    @Argument("The parameters, one octet each, with one or two digits.", "byte") var bytes: [ParameterBytes] = []

    func validate() throws {
        guard ogf.value <= 0x3F else { throw ValidationError("The OGF must be 0 to 3f.") }
        guard ocf.value <= 0x3FF else { throw ValidationError("The OCF must be 0 to 3ff.") }
        guard parameters.count <= 255 else { throw ValidationError("A command has at most 255 octets of parameters.") }
    }

    private var parameters: [UInt8] { bytes.flatMap(\.bytes) }
    private var opcode: HCIOpcode { HCIOpcode(rawValue: ogf.value << 10 | ocf.value) }

    func run(in session: Session) async throws {
        let opcode = opcode
        let parameters = parameters
        let events = EventWatch()
        let answer = try await session.withAdapter(observer: events) { adapter in
            let answers = events.events { $0.answers(opcode) }
            let returned = try await adapter.sendHCICommand(opcode, parameters: parameters)
            var event: ReceivedEvent?
            for await received in answers {
                event = received
                break
            }
            return (event: event, returned: returned)
        }
        let status = answer.returned.first.map(HCIStatus.init(rawValue:))
        session.console.print(
            [
                "event": "answer", "opcode": .string(Hexadecimal.number(opcode.rawValue, digits: 4)),
                "status": JSONValue(status?.rawValue),
                "parameters": .string(Hexadecimal.text(answer.returned)),
            ],
            text: text(of: answer.event))
        if let status, !status.isSuccess {
            throw Failure("the controller refused the command: \(status.text)", code: .controllerRefused)
        }
    }

    private func text(of event: ReceivedEvent?) -> String {
        var lines = [
            "< HCI Command: ogf \(Hexadecimal.number(ogf.value, digits: 2)), ocf "
                + "\(Hexadecimal.number(ocf.value, digits: 4)), plen \(parameters.count)"
        ]
        lines += rows(of: parameters)
        if let event {
            lines.append(
                "> HCI Event: \(Hexadecimal.number(event.code.rawValue, digits: 2)) plen \(event.parameters.count)")
            lines += rows(of: event.parameters)
        }
        return lines.joined(separator: "\n")
    }

    private func rows(of bytes: [UInt8]) -> [String] {
        stride(from: 0, to: bytes.count, by: 20).map { start in
            "  " + bytes[start..<min(start + 20, bytes.count)].map { Hexadecimal.text($0) }.joined(separator: " ")
        }
    }
}
