import ArgumentParser
import BLE

struct InfoCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Print the controller's version, features and commands.",
        discussion: """
            Some controllers list commands as supported that they refuse.

              bletool -t user:0 info
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws {
        let output = try await session.withAdapter { adapter in
            let information = await adapter.information
            return ControllerOutput(information, advertising: await AdvertisingCapacity(information, of: adapter))
        }
        session.console.print(output.json, text: output.text)
    }
}
