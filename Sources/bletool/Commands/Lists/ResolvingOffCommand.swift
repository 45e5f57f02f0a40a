import ArgumentParser
import BLE

struct ResolvingOffCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "lerloff",
        abstract: "Disable address resolution in the controller.",
        discussion: ListCommandText.discussion("lerloff"))

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws {
        try await session.send(LESetAddressResolutionEnable(isEnabled: false))
    }
}
