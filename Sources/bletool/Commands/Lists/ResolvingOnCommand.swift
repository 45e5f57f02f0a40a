import ArgumentParser
import BLE

struct ResolvingOnCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "lerlon",
        abstract: "Enable address resolution in the controller.",
        discussion: ListCommandText.discussion("lerlon"))

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws {
        try await session.send(LESetAddressResolutionEnable(isEnabled: true))
    }
}
