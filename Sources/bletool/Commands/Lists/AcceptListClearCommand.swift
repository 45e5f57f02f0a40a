import ArgumentParser
import BLE

struct AcceptListClearCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "lealclr",
        abstract: "Clear the accept list.",
        discussion: ListCommandText.discussion("lealclr"))

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws {
        try await session.send(LEClearFilterAcceptList())
    }
}
