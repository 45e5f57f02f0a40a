import ArgumentParser
import BLE

struct ResolvingListClearCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "lerlclr",
        abstract: "Clear the resolving list.",
        discussion: ListCommandText.discussion("lerlclr"))

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws {
        try await session.send(LEClearResolvingList())
    }
}
