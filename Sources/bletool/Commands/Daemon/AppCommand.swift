import ArgumentParser
import BLEDaemonClient
import BLEJSON
import BLEText

struct AppCommand: CommandGroupHelp {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "Manage the apps that are installed at bled.",
        discussion: """
            An app is installed by its manifest in the folder that bled --apps names. For operators: root, the user of \
            bled and the group of bled --operators.

              bletool app install relay.json
              bletool app list
              bletool app launch org.example.relay
            """,
        subcommands: [
            AppListCommand.self, AppShowCommand.self, AppInstallCommand.self, AppRemoveCommand.self,
            AppLaunchCommand.self, AppBackgroundCommand.self, AppSuspendCommand.self, AppQuitCommand.self,
            AppReloadCommand.self,
        ])

    @OptionGroup(title: "Options of every command") var global: GlobalOptions
}

extension Session {
    /// Prints the apps of every adapter, as they are after a request.
    fileprivate func printApps(_ request: DaemonOperator.Request) async throws {
        var (count, ignored) = (0, 0)
        try await operateAll(request) { answer, suffix in
            count += answer.apps.count
            // Every adapter reads the same folder.
            ignored = max(ignored, answer.ignoredFiles)
            printApps(answer.apps, suffix)
        }
        if count == 0 { console.note("no app is installed") }
        if ignored > 0 {
            console.note("\(ignored) manifest\(ignored == 1 ? " was" : "s were") ignored; the log of bled says why")
        }
    }

    private func printApps(_ apps: [DaemonOperator.App], _ suffix: String) {
        for app in apps {
            console.print(
                [
                    "event": "app", "identifier": .string(app.identifier), "place": .string(app.place.rawValue),
                    "process": app.process.map { JSONValue($0) } ?? .null, "user": JSONValue(app.user),
                    "backgroundModes": .array(app.backgroundModes.map { .string($0) }),
                ],
                text: [app.identifier.printable, app.place.rawValue, app.process.map { "process \($0)" }].compactMap(
                    \.self
                )
                .joined(separator: "  ") + suffix)
        }
    }
}

struct AppListCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the installed apps, and the state of their processes.")
    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws { try await session.printApps(.list) }
}

struct AppReloadCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload", abstract: "Read the manifests again, and list the installed apps.")
    @OptionGroup(title: "Options of every command") var global: GlobalOptions

    func run(in session: Session) async throws { try await session.printApps(.reload) }
}

struct AppLaunchCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "launch", abstract: "Bring an app to the foreground; launch it if it does not run.",
        aliases: ["foreground"])
    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @Argument(help: "The app's identifier, as in its manifest.") var identifier: String

    func run(in session: Session) async throws {
        _ = try await session.operate(.foreground(identifier), on: identifier)
    }
}

struct AppBackgroundCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "background", abstract: "Send an app to the background; it is suspended ten seconds later.")
    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @Argument(help: "The app's identifier, as in its manifest.") var identifier: String

    func run(in session: Session) async throws {
        _ = try await session.operate(.background(identifier), on: identifier)
    }
}

struct AppSuspendCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "suspend", abstract: "Stop an app until an event wakes it.")
    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @Argument(help: "The app's identifier, as in its manifest.") var identifier: String

    func run(in session: Session) async throws { _ = try await session.operate(.suspend(identifier), on: identifier) }
}

struct AppQuitCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "quit",
        abstract: "End an app by force: nothing of it goes on, and no event launches it again.")
    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @Argument(help: "The app's identifier, as in its manifest.") var identifier: String

    func run(in session: Session) async throws { _ = try await session.operate(.quit(identifier), on: identifier) }
}

struct AppShowCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one installed app: its manifest, its process, and what goes on without it."
    )
    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @Argument(help: "The app's identifier, as in its manifest.") var identifier: String

    func run(in session: Session) async throws {
        for app in try await session.operate(.show(identifier), on: identifier).apps {
            session.console.print(Self.object(app), text: Self.text(app, at: session.console.adapter))
        }
    }

    private static func object(_ app: DaemonOperator.App) -> JSONValue {
        [
            "event": "appDetails", "identifier": .string(app.identifier), "place": .string(app.place.rawValue),
            "process": app.process.map { JSONValue($0) } ?? .null, "user": JSONValue(app.user),
            "backgroundModes": JSONValue(app.backgroundModes), "strikes": JSONValue(app.strikes),
            "command": JSONValue(app.command), "unit": JSONValue(app.unit), "environment": JSONValue(app.environment),
            "directory": .string(app.directory), "manifestAdapter": JSONValue(app.adapter),
            "memoryMegabytes": app.memoryMegabytes.map { JSONValue($0) } ?? .null,
            "wakeSeconds": JSONValue(app.wakeSeconds), "authorization": .string(app.authorization),
            "roles": JSONValue(app.roles), "mayPair": .boolean(app.mayPair),
            "systemServices": .string(app.showsSystemServices ? "shown" : "hidden"),
            "overflow": .string(app.overflow),
            "preservedCentrals": JSONValue(app.preservedCentrals),
            "preservedPeripherals": JSONValue(app.preservedPeripherals),
        ]
    }

    /// - Parameter adapter: the adapter that has the app.
    private static func text(_ app: DaemonOperator.App, at adapter: String?) -> String {
        let named = app.adapter.map { " (‘\($0)’ in the manifest)" } ?? ""
        let rows: [(String, String)] = [
            ("process", app.process.map { "\($0), \(app.place.rawValue)" } ?? app.place.rawValue),
            ("strikes", "\(app.strikes)"), ("user", "\(app.user)"),
            ("adapter", (adapter ?? "") + named), ("command", app.command.joined(separator: " ")),
            ("unit", app.unit ?? ""), ("directory", app.directory),
            ("environment", app.environment.joined(separator: " ")), ("roles", app.roles.joined(separator: ", ")),
            ("background modes", app.backgroundModes.joined(separator: ", ")),
            ("memory", app.memoryMegabytes.map { "at most \($0) MB" } ?? "not limited"),
            ("wake", app.wakeSeconds == 0 ? "" : "\(app.wakeSeconds) s at most"),
            ("authorization", app.authorization),
            ("pairing", app.mayPair ? "may ask a person" : "may not ask a person"),
            ("system services", app.showsSystemServices ? "shown" : "hidden"),
            ("overflow area", app.overflow),
            ("preserved centrals", app.preservedCentrals.joined(separator: ", ")),
            ("preserved peripherals", app.preservedPeripherals.joined(separator: ", ")),
        ]
        return ([app.identifier.printable] + rows.filter { !$0.1.isEmpty }.map { "  \($0.0): \($0.1.printable)" })
            .joined(separator: "\n")
    }
}

struct AppInstallCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Install an app, or replace its manifest.",
        discussion: """
            The daemon checks the manifest and keeps it in its folder of apps. Root and the user of bled may install apps \
            of every user, other operators only apps that run as themselves.

              bletool app install relay.json
            """)
    @OptionGroup(title: "Options of every command") var global: GlobalOptions
    @Argument(help: "The manifest, as JSON.", completion: .file(extensions: ["json"])) var file: String

    func run(in session: Session) async throws {
        _ = try await session.operate(.install(try TextFile.bytes(of: file)))
    }
}
