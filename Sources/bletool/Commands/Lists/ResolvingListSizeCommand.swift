import ArgumentParser
import BLE
import BLEJSON

struct ResolvingListSizeCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "lerlsz",
        abstract: "Print the size of the resolving list.",
        discussion: ListCommandText.discussion("lerlsz"))

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws {
        let size = try await session.send(LEReadResolvingListSize()).size
        session.console.print(["event": "listSize", "size": JSONValue(size)], text: "Resolving list size: \(size)")
    }
}
