import BLEAppLifecycle
import BLEPackets
import BLETransport
import FoundationEssentials
import Glibc

/// An app that an operator has installed, as its manifest describes it.
package struct InstalledApp: Equatable {
    let manifest: AppManifest
    /// Which kinds of manager the app may have.
    let roles: Set<ManagerRole>
    let mayPair: Bool
    /// The user that it runs as.
    let user: Accounts.User
    /// The program and its arguments; empty if the daemon does not launch the app itself.
    let command: [String]
    /// The systemd unit that is the app; `nil`: the app is not a unit.
    let unit: String?
    let environment: [String: String]
    /// The memory that it may use, in octets; `nil`: no limit.
    let memoryLimit: UInt64?
    let folder: String
    /// The transport or the address of its adapter; `nil`: the first one.
    let adapter: String?
    /// Its file; `nil` before it has one.
    var path: String?

    var id: AppID { manifest.app }

    /// The value of `authorization` in the manifest.
    var authorizationName: String {
        switch manifest.authorization {
        case .allowedAlways, .notDetermined: "allowed"
        case .denied: "denied"
        case .restricted: "restricted"
        }
    }

    /// The contents of a file in the folder of apps. A program's own manifest (`JELLING_MANIFEST`) has some of its keys.
    private struct File: Decodable {
        var bundleIdentifier: String
        var backgroundModes: [String]?
        var user: String?
        var command: [String]?
        var unit: String?
        var environment: [String: String]?
        var directory: String?
        var adapter: String?
        var roles: [String]?
        var mayPair: Bool?
        /// `allowed`, `denied` or `restricted`.
        var authorization: String?
        var memoryMegabytes: Int?
        var wakeSeconds: Int?
        /// `hidden` or `shown`: Generic Access and other services that Apple's system hides.
        var systemServices: String?
        /// `off`, `on` or a company identifier: whether its advertisements send the overflow area.
        var overflow: String?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case bundleIdentifier = "BundleIdentifier"
            case backgroundModes = "UIBackgroundModes"
            case user, command, unit, environment, directory, adapter, roles, mayPair, authorization, systemServices
            case memoryMegabytes, wakeSeconds, overflow
        }
    }

    typealias Problem = SettingsFile.Problem

    private static let leastMegabytes = 4
    private static let mostMegabytes = 1_048_576
    private static let mostWakeSeconds = 3600
    /// With what a folder adds while a manifest is written, its file name has at most 255 octets.
    private static let longestIdentifier = 200

    /// - Throws: `Problem` with what is wrong.
    init(file data: Data) throws {
        let file = try SettingsFile.decode(
            File.self, from: data, keys: File.CodingKeys.allCases.map(\.rawValue), isManifest: true)
        if let problem = ManifestNames.problem(ofBackgroundModes: file.backgroundModes ?? []) {
            throw Problem(description: problem)
        }
        let identifier = file.bundleIdentifier
        // It becomes a file name, and part of a line in a file.
        let isPrintable = identifier.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0 != "/" }
        guard !identifier.isEmpty, identifier.utf8.count <= Self.longestIdentifier, isPrintable,
            !identifier.hasPrefix(".")
        else {
            throw Problem(
                description: "‘BundleIdentifier’ has 1 to \(Self.longestIdentifier) octets, no slash and no control "
                    + "character, and does not begin with a dot")
        }
        // A manifest without a user hardly means a program that may do everything.
        guard file.user != nil || (file.command ?? []).isEmpty || geteuid() != 0 else {
            throw Problem(
                description:
                    "‘user’ is missing: name the user that ‘command’ runs as, or ‘root’ if it is to run as root")
        }
        user = try Self.user(file.user)
        let isBare = file.command?.first.map { !$0.hasPrefix("/") } ?? false
        guard !isBare else { throw Problem(description: "‘command’ begins with an absolute path") }
        command = file.command ?? []
        unit = file.unit
        if let unit {
            let isName = unit.hasSuffix(".service") && unit.utf8.count <= 255 && !unit.hasPrefix("-")
            // systemctl takes others as a pattern of several units.
            guard isName, unit.unicodeScalars.allSatisfy(Self.mayBeInUnit) else {
                throw Problem(description: "‘unit’ is the name of a systemd service, such as ‘relay.service’")
            }
            guard command.isEmpty else { throw Problem(description: "an app has a ‘command’ or a ‘unit’, not both") }
        }
        environment = file.environment ?? [:]
        if let megabytes = file.memoryMegabytes {
            guard (Self.leastMegabytes...Self.mostMegabytes).contains(megabytes) else {
                throw Problem(
                    description:
                        "‘memoryMegabytes’ is \(Self.leastMegabytes) to \(Self.mostMegabytes), not \(megabytes)")
            }
            guard unit == nil else {
                throw Problem(description: "the unit of an app limits its memory (MemoryMax=), not ‘memoryMegabytes’")
            }
        }
        memoryLimit = file.memoryMegabytes.map { UInt64($0) << 20 }
        if let seconds = file.wakeSeconds, !(1...Self.mostWakeSeconds).contains(seconds) {
            throw Problem(description: "‘wakeSeconds’ is 1 to \(Self.mostWakeSeconds), not \(seconds)")
        }
        folder = file.directory ?? "/"
        adapter = file.adapter
        if let adapter, !Self.isAdapter(adapter) {
            throw Problem(
                description: "‘adapter’ is a transport, such as ‘user:0’, an address of six octets, or a place, such "
                    + "as ‘port:1-2’, not ‘\(adapter)’")
        }
        mayPair = file.mayPair ?? true
        var roles: Set<ManagerRole> = []
        for name in file.roles ?? ["central", "peripheral"] {
            guard let role = ManagerRole(rawValue: name) else {
                throw Problem(description: "‘roles’ are ‘central’ and ‘peripheral’, not ‘\(name)’")
            }
            roles.insert(role)
        }
        self.roles = roles
        let authorization: ManagerAuthorization
        switch file.authorization {
        case nil, "allowed": authorization = .allowedAlways
        case "denied": authorization = .denied
        case "restricted": authorization = .restricted
        case let other?:
            throw Problem(description: "‘authorization’ is ‘allowed’, ‘denied’ or ‘restricted’, not ‘\(other)’")
        }
        if let shown = file.systemServices, shown != "shown", shown != "hidden" {
            throw Problem(description: "‘systemServices’ is ‘shown’ or ‘hidden’, not ‘\(shown)’")
        }
        var manifest = AppManifest(
            app: AppID(rawValue: identifier), backgroundModes: BackgroundModes(names: file.backgroundModes ?? []),
            authorization: authorization, showsSystemServices: file.systemServices == "shown")
        manifest.overflow = try SettingsFile.overflow(file.overflow)
        manifest.user = user.id
        manifest.wakeBudget = file.wakeSeconds.map { .seconds(Int32($0)) }
        self.manifest = manifest
    }

    /// Whether this could be an adapter's name, see `DaemonCore.readManifests`.
    private static func isAdapter(_ name: String) -> Bool {
        if AdapterKey(name) != nil { return true }
        return (try? TransportAddress(name)) != nil
    }

    /// The characters of the names of units (systemd.unit(5)).
    private static func mayBeInUnit(_ scalar: UnicodeScalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", ":", "-", "_", ".", "\\", "@": true
        default: false
        }
    }

    /// - Parameter name: a user name or number; `nil`: the daemon's own user.
    private static func user(_ name: String?) throws -> Accounts.User {
        guard let user = name.map({ Accounts.user($0) }) ?? Accounts.user(geteuid()) else {
            throw Problem(description: "there is no user ‘\(name ?? String(geteuid()))’")
        }
        return user
    }
}

/// The installed apps, from their files `NAME.json` in one folder.
package struct InstalledApps: Equatable {
    private(set) var apps: [AppID: InstalledApp] = [:]
    /// The apps of other adapters, in the order of their names.
    private(set) var elsewhere: [InstalledApp] = []
    /// Whether the folder and all its files could be read.
    private(set) var areComplete = true
    /// How many of its files were ignored.
    private(set) var ignoredFiles = 0

    /// In the order of their names.
    var all: [InstalledApp] { apps.values.sorted { $0.id < $1.id } }

    /// The users whose apps are installed.
    var users: Set<UInt32> { Set(apps.values.map(\.user.id)) }

    subscript(id: AppID) -> InstalledApp? { apps[id] }

    package init() {}

    /// Reads all files; one with an error is logged.
    /// - Parameter before: the apps so far, also of other adapters: those of files with an error stay.
    init(folder: String, before: InstalledApps = InstalledApps(), log: (String) -> Void) {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
            log("the folder of apps ‘\(folder)’ cannot be read: \(SettingsFile.describe(error))")
            apps = before.apps
            for app in before.elsewhere { apps[app.id] = app }
            areComplete = false
            return
        }
        let former = before.all + before.elsewhere
        var ignored: [(path: String, reason: String)] = []
        var read: [(app: InstalledApp, path: String)] = []
        for name in names.sorted() where Self.isManifest(name) {
            let path = folder + "/" + name
            do {
                var app = try InstalledApp(file: SettingsFile.read(path))
                app.path = path
                read.append((app, path))
            } catch {
                ignored.append((path, "\(error)"))
            }
        }
        // Of several files of one app, the one from which it was installed stays, else the first by name.
        let isFormer = { (app: InstalledApp) in former.contains { $0.id == app.id && $0.path == app.path } }
        for (app, path) in read.filter({ isFormer($0.app) }) + read.filter({ !isFormer($0.app) }) {
            if let other = apps[app.id]?.path {
                ignored.append(
                    (path, "‘\(other)’ is the manifest of ‘\(app.id.rawValue)’, too; delete one of the two files"))
            } else {
                apps[app.id] = app
            }
        }
        for (path, reason) in ignored {
            let known = former.first { $0.path == path && apps[$0.id] == nil }
            if let known { apps[known.id] = known }
            log("‘\(path)’ is ignored: \(reason)\(known.map { "; ‘\($0.id.rawValue)’ stays as it was" } ?? "")")
        }
        ignoredFiles = ignored.count
        areComplete = ignored.isEmpty
    }

    /// Every manifest of a folder, also several of one app, and the files that are none.
    /// - Returns: `nil` if the folder cannot be read.
    static func manifests(in folder: String) -> (apps: [InstalledApp], broken: Set<String>)? {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return nil }
        var (apps, broken): ([InstalledApp], Set<String>) = ([], [])
        for name in names.sorted() where isManifest(name) {
            let path = folder + "/" + name
            do {
                var app = try InstalledApp(file: SettingsFile.read(path))
                app.path = path
                apps.append(app)
            } catch {
                broken.insert(path)
            }
        }
        return (apps, broken)
    }

    private static func isManifest(_ name: String) -> Bool { name.hasSuffix(".json") && !name.hasPrefix(".") }

    /// Keeps the apps of one adapter.
    mutating func keep(where isOurs: (InstalledApp) -> Bool) {
        elsewhere = all.filter { !isOurs($0) }
        apps = apps.filter { isOurs($0.value) }
    }
}
