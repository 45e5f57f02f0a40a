import ArgumentParser
import BLE
import BLEJSON

struct LEDisconnectCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledc",
        abstract: "End a connection.",
        discussion: """
            con and lecc print the handle. The default reason is 0x13 (remote user terminated connection).

              bletool -t raw:0 ledc 64
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Argument("The handle of the connection.") var handle: Number16

    @Argument("The reason to send to the device.") var reason: Number16?

    func validate() throws {
        guard handle.value <= 0x0EFF else { throw ValidationError("A handle is at most 0x0eff.") }
        guard reason?.value ?? 0 <= 0xFF else { throw ValidationError("A reason is at most 0xff.") }
    }

    func run(in session: Session) async throws {
        let handle = ConnectionHandle(rawValue: handle.value)
        let reason = self.reason.map { HCIStatus(rawValue: UInt8($0.value)) } ?? .remoteUserTerminatedConnection
        let events = EventWatch()
        let reported = try await session.withAdapter(observer: events) { adapter in
            try await ControllerCommands(adapter: adapter, events: events).disconnect(handle, reason: reason)
        }
        session.console.print(
            ["event": "disconnected", "handle": JSONValue(handle.rawValue), "reason": JSONValue(reported.rawValue)],
            text: "Disconnected: \(reported.text)")
    }
}
