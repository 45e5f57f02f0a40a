import ArgumentParser
import BLEDaemonClient
import BLEJSON

struct AppRemoveCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove an installed app: end it, delete its manifest, forget what it knew.",
        discussion: """
            The process ends as with quit: its services, advertisements, scans and connections end with it, and what bled \
            preserves for it is dropped. Its manifest is deleted from the folder of bled --apps, and bled forgets by \
            which identifiers the app knew its devices. Bonds stay: they belong to the adapter (see bletool bonds). \
            Who may install an app may remove it.

              bletool app remove org.example.relay
            """,
        aliases: ["uninstall"])
    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    @Flag(help: "Keep the identifiers by which it knows its devices, for when it is installed again.")
    var keepState = false

    @Argument(help: "The app's identifier, as in its manifest.") var identifier: String

    func run(in session: Session) async throws {
        let request = DaemonOperator.Request.remove(identifier, keepsState: keepState)
        guard let removed = try await session.operate(request, on: identifier).removed else {
            throw Failure(
                "this bled cannot remove apps: delete the manifest from its folder, then ‘bletool app reload’")
        }
        session.console.print(
            [
                "event": "appRemoved", "identifier": .string(identifier), "files": JSONValue(removed.files),
                "process": removed.process.map { JSONValue($0) } ?? .null,
                "ended": removed.process == nil ? .null : .boolean(!removed.isRunning),
                "keepsState": .boolean(removed.keepsState),
            ],
            text: Self.text(identifier, removed))
    }

    /// What was done, a line each.
    static func text(_ identifier: String, _ removed: DaemonOperator.RemovedApp) -> String {
        var lines = [
            removed.files.isEmpty
                ? "‘\(identifier)’ was not installed any more"
                : "removed ‘\(identifier)’: deleted \(removed.files.joined(separator: ", "))"
        ]
        if let process = removed.process {
            lines.append(
                removed.isRunning
                    ? "process \(process) is another user's and runs on, without bled" : "ended process \(process)")
        }
        lines.append(
            removed.keepsState
                ? "kept by which identifiers it knows its devices"
                : "forgot what it had asked for, and by which identifiers it knew its devices")
        lines.append("bonds stay: see ‘bletool bonds’")
        return lines.map(\.printable).joined(separator: "\n  ")
    }
}
