import ArgumentParser
import BLE
import BLEDaemonClient
import BLEJSON

struct AppCommand: CommandGroupHelp {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "Look after the apps that are installed at bled.",
        discussion: """
            An app is installed by its manifest in the folder that bled --apps names. For root and the user of bled.

              bletool app list
              bletool app launch org.example.relay
            """,
        subcommands: [
            AppListCommand.self, AppLaunchCommand.self, AppBackgroundCommand.self, AppSuspendCommand.self,
            AppQuitCommand.self, AppReloadCommand.self,
        ])

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
}

extension Session {
    /// Asks the daemon that `-t` names, or that is there.
    func operate(_ request: DaemonOperator.Request) async throws -> [DaemonOperator.App] {
        let path: String
        switch transport {
        case nil: path = DaemonClient.sharedSocketPath ?? DaemonClient.defaultSocketPath
        case .daemon?: path = DaemonClient.socketPath(of: try chosenTransport())
        default: throw Failure("apps are installed at a daemon: name it with -t bled:SOCKET", status: .usage)
        }
        do throws(DaemonOperator.Failure) {
            return try await DaemonOperator.perform(request, at: path)
        } catch {
            if case .transport = error { throw Failure(error.description, status: .transportNotOpened) }
            throw Failure(error.description)
        }
    }

    func printApps(_ apps: [DaemonOperator.App]) {
        for app in apps {
            console.print(
                [
                    "event": "app", "identifier": .string(app.identifier), "place": .string(app.place.rawValue),
                    "process": app.process.map { JSONValue($0) } ?? .null, "user": JSONValue(app.user),
                    "backgroundModes": .array(app.backgroundModes.map { .string($0) }),
                ],
                text: [app.identifier, app.place.rawValue, app.process.map { "process \($0)" }].compactMap(\.self)
                    .joined(separator: "  "))
        }
        if apps.isEmpty { console.note("no app is installed") }
    }
}

struct AppListCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the installed apps, and what their processes are at.")
    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws { session.printApps(try await session.operate(.list)) }
}

struct AppReloadCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Read the manifests again, and list the installed apps.")
    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws { session.printApps(try await session.operate(.reload)) }
}

struct AppLaunchCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "launch", abstract: "Bring an app to the foreground; launch it if it does not run.",
        aliases: ["foreground"])
    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @Argument(help: "The app's identifier, as in its manifest.") var identifier: String

    func run(in session: Session) async throws { _ = try await session.operate(.foreground(identifier)) }
}

struct AppBackgroundCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "background", abstract: "Send an app to the background; it is suspended ten seconds later.")
    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @Argument(help: "The app's identifier, as in its manifest.") var identifier: String

    func run(in session: Session) async throws { _ = try await session.operate(.background(identifier)) }
}

struct AppSuspendCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "suspend", abstract: "Stop an app until an event wakes it.")
    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @Argument(help: "The app's identifier, as in its manifest.") var identifier: String

    func run(in session: Session) async throws { _ = try await session.operate(.suspend(identifier)) }
}

struct AppQuitCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "quit",
        abstract: "End an app by force: nothing of it goes on, and no event launches it again.")
    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @Argument(help: "The app's identifier, as in its manifest.") var identifier: String

    func run(in session: Session) async throws { _ = try await session.operate(.quit(identifier)) }
}
