import ArgumentParser
import BLE
import Glibc

struct GATTShellCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell",
        abstract: "Type operations one after the other over one connection.",
        usage: "bletool gatt PEER [shell]",
        discussion: """
            On a terminal, ‘gatt PEER’ alone starts it. It edits lines, keeps their history, completes commands, names, \
            UUIDs and handles with Tab, and prints the values of subscriptions as they come; ‘help’ lists the commands. \
            From a pipe, each line is run in turn, also after one that failed.

              bletool gatt Thermometer
              printf 'read 2A19\\nread 2A29\\n' | bletool gatt Lamp shell
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @OptionGroup(title: ConnectionOptions.title) var connection: ConnectionOptions
    @OptionGroup(title: ConnectionOptions.title) var strength: KeyStrengthArguments
    @OptionGroup(title: ConnectionOptions.title) var bearers: BearerOptions

    @Argument(peerHelp) var peer: PeerArgument

    static var trial: String { "bletool -t sim gatt 'Jelling Heart'" }

    func run(in session: Session) async throws {
        let (peer, search, strength) = (peer, connection.search, strength)
        let isInteractive = session.console.showsProgress && TerminalMode.isPossible
        let bearers = bearers.settings
        let adjust: (inout AdapterConfiguration) throws -> Void = {
            try session.prepareGATT(&$0, strength)
            $0.enhancedBearers = bearers
        }
        try await session.withAdapter(adjusting: adjust) { adapter in
            let shell = GATTShell(session, adapter, peer, search)
            let outcome: Result<Void, any Error>
            do {
                outcome = .success(isInteractive ? try await shell.runInteractively() : try await shell.runLines())
            } catch {
                outcome = .failure(error)
            }
            await shell.end()
            try outcome.get()
        }
    }
}
