import ArgumentParser
import BLE

struct InfoCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Print the controller's version, features and commands.",
        discussion: """
            Some controllers list commands as supported that they refuse. What is known of the controller's family, and \
            what it has shown (learned), is listed with advice; ‘check’ examines it.

              bletool -t user:0 info
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    static var trial: String { "bletool -t sim info" }

    func run(in session: Session) async throws {
        let learned = LearnedTraits()
        var isShared = false
        if case .daemon = try session.chosenTransport() { isShared = true }
        let adjust: (inout AdapterConfiguration) throws -> Void = { learned.follow(&$0) }
        let output = try await session.withAdapter(adjusting: adjust) { adapter in
            let information = await adapter.information
            let advertising = await AdvertisingCapacity(information, of: adapter)
            return ControllerOutput(
                information, advertising: advertising, experience: isShared ? nil : learned.experience)
        }
        session.console.print(output.json, text: output.text)
    }
}
