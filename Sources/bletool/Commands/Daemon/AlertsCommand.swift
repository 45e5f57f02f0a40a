import ArgumentParser
import BLEDaemonClient
import BLEJSON
import BLEText

struct AlertsCommand: CommandGroupHelp, ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "alerts",
        abstract: "Show the alerts of apps at bled, and answer them.",
        discussion: """
            Apps ask for alerts when they connect: for a connection, a disconnection or a value that comes while they are \
            suspended. Accepting an alert brings the app to the foreground. For operators: root, the user of bled and \
            the group of bled --operators.

              bletool alerts --follow
              bletool alerts answer 3
            """,
        subcommands: [AlertsAnswerCommand.self])

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @Flag(help: "Go on until ^C: show alerts as they come, and those that are over.") var follow = false

    func run(in session: Session) async throws {
        guard follow else {
            var count = 0
            try await session.operateAll(.alerts) { answer, suffix in
                for alert in answer.alerts { session.print(alert, suffix) }
                count += answer.alerts.count
            }
            if count == 0 { session.console.note("no alert waits for an answer") }
            return
        }
        var areSeveral = false
        try await session.watch(.alerts) {
            areSeveral = $0.count > 1
        } _: { _, event in
            let suffix = areSeveral ? "  \(session.console.adapter ?? "")" : ""
            if case .alert(let alert) = event { session.print(alert, suffix) }
            return !session.console.outputHasEnded
        }
    }
}

struct AlertsAnswerCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "answer", abstract: "Accept an alert, which brings its app to the foreground; or dismiss it.")
    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @Argument("The number of the alert.") var id: UInt32
    @Flag(help: "Dismiss it: the app stays where it is.") var dismiss = false

    func run(in session: Session) async throws { try await session.answerAlert(id, accepts: !dismiss) }
}

extension Session {
    fileprivate func print(_ alert: DaemonOperator.Alert, _ suffix: String) {
        let what =
            switch alert.kind {
            case .connection: "is connected"
            case .disconnection: "is disconnected"
            case .notification: "has sent a value"
            case .powerOff: "Bluetooth is off"
            }
        let device = alert.name?.printable ?? alert.peripheral?.uuidString
        console.print(
            [
                "event": "alert", "id": JSONValue(alert.id), "app": .string(alert.app),
                "kind": .string(alert.kind.rawValue), "peripheral": JSONValue(alert.peripheral?.uuidString),
                "name": JSONValue(alert.name), "over": .boolean(alert.isOver),
            ],
            text: "\(alert.id)  \(alert.app.printable)  " + (device.map { "\($0) " } ?? "") + what
                + (alert.isOver ? "  (over)" : "") + suffix)
    }
}
