import ArgumentParser
import BLE
import BLEJSON

struct AcceptListSizeCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "lealsz",
        abstract: "Print the size of the accept list.",
        discussion: ListCommandText.discussion("lealsz"))

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws {
        let size = try await session.send(LEReadFilterAcceptListSize()).size
        session.console.print(["event": "listSize", "size": JSONValue(size)], text: "Accept list size: \(size)")
    }
}
