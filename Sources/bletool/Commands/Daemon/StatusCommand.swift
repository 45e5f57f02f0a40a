import ArgumentParser
import BLEDaemonClient

struct StatusCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the state of bled, its controllers and its programs.",
        discussion: """
            Why the radio scans, advertises or connects: every program and what it wants; the links and who holds them; \
            what waits to be read; the strikes of apps; counters of errors and recoveries. For operators: root, the user \
            of bled and the group of bled --operators. With several adapters, each has its own programs; \
            -t bled:SOCKET asks one of them only.

              bletool status
            """)

    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws {
        var isFirst = true
        try await session.operateAll(.status) { answer, _ in
            guard let status = answer.status else {
                throw Failure("the daemon does not report its state; it is older than this program")
            }
            let output = StatusOutput(status)
            session.console.print(output.object, text: (isFirst ? "" : "\n") + output.text)
            isFirst = false
        }
    }
}
