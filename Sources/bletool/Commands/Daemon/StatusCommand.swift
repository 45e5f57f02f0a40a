import ArgumentParser
import BLE
import BLEDaemonClient

struct StatusCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what bled, its controller and its programs are at.",
        discussion: """
            Why the radio scans, advertises or connects: every program and what it wants; the links and who holds them; \
            what waits to be read; the strikes of apps; counters of errors and recoveries. For operators: root, the user \
            of bled and the group of bled --operators.

              bletool status
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws {
        guard let status = try await session.operate(.status).status else {
            throw Failure("the daemon does not say what it is at; it is older than this program")
        }
        let output = StatusOutput(status)
        session.console.print(output.object, text: output.text)
    }
}
