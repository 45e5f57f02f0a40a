@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLETransport
import Glibc

/// The manifests of installed apps.
extension Daemon {
    /// What is wrong with the folder of apps that the command line names, and the remedy; `nil`: nothing. A folder that
    /// vanishes later is no reason to end: the apps stay as they are.
    public static func problem(ofAppsFolder path: String) -> String? {
        var information = stat()
        if unsafe stat(path, &information) != 0 {
            guard errno == ENOENT else {
                let reason = unsafe String(cString: strerror(errno))
                return "the folder of apps ‘\(path)’ cannot be reached: \(reason); correct ‘--apps’"
            }
            return
                "the folder of apps ‘\(path)’ does not exist; correct ‘--apps’, or make it (mkdir -p): it may be empty, "
                + "or the place at which something is mounted, before bled starts"
        }
        guard information.st_mode & S_IFMT == S_IFDIR else {
            return "‘\(path)’ is not a folder; ‘--apps’ names the folder in which the manifests of apps are"
        }
        guard unsafe access(path, R_OK | X_OK) == 0 else {
            return "the folder of apps ‘\(path)’ cannot be read by the user of bled; change its owner or mode"
        }
        return nil
    }

    /// Reads the manifests again. A file that has become wrong changes nothing for its app. An app that is no longer
    /// installed, or has become another user's, ends as one that was quit.
    public func readInstalledApps() {
        guard let folder = configuration.appsFolder else {
            openSocketToOthers()
            return takeRightsAway()
        }
        hasReadApps = true
        let before = installed
        // The first daemon logs what is wrong with the files.
        installed = InstalledApps(
            folder: folder, before: before, log: configuration.isFirst ? configuration.warn : { _ in })
        let names = [
            configuration.isNamedByTransport ? configuration.transport.description : nil, adapterAddress?.addressText,
        ]
        installed.keep { app in adapter(of: app).map { names.contains($0) } ?? configuration.isFirst }
        for app in before.all where installed[app.id]?.user.id != app.user.id { uninstalled(app) }
        for app in installed.all {
            if let owner = owners[app.id], owner != app.user.id { abandon(app.id) }
            owners[app.id] = app.user.id
            lifecycle.withApps(at: now) { $0.declare(app.manifest) }
            if before[app.id] == nil { warnOfOwnUser(app) }
            if before[app.id]?.manifest.overflow != app.manifest.overflow { warnOfOverflow(app) }
        }
        if isReady { setPairing() }
        openSocketToOthers()
        takeRightsAway()
        // By then all daemons of the process have said which adapters they have.
        if !absentAdapters.isEmpty { absence?.set(atMicroseconds: loop.nowMicroseconds + Self.absenceMicroseconds) }
    }

    /// The name of an app's adapter; `nil`: that of the first daemon.
    func adapter(of app: InstalledApp) -> String? { app.adapter ?? configuration.defaultAdapter }

    // MARK: Adapters that are not there

    private static let absenceMicroseconds: UInt64 = 3_000_000

    /// The adapters that manifests name and no daemon of this process has, with the apps that wait for each.
    var absentAdapters: [(name: String, apps: [AppID])] {
        guard configuration.isFirst else { return [] }
        var absent: [(name: String, apps: [AppID])] = []
        for app in installed.elsewhere {
            guard let name = adapter(of: app), !configuration.adapters.has(name) else { continue }
            if let place = absent.firstIndex(where: { $0.name == name }) {
                absent[place].apps.append(app.id)
            } else {
                absent.append((name, [app.id]))
            }
        }
        return absent
    }

    static func absence(of adapter: String, _ apps: [AppID]) -> String {
        let names = apps.map { "‘\($0.rawValue)’" }.joined(separator: ", ")
        return "this bled does not have the adapter, for which \(names) \(apps.count == 1 ? "waits" : "wait"); name it "
            + "with ‘--adapter’, or change ‘adapter’ in the manifest"
    }

    /// Names each adapter once.
    func logAbsentAdapters() {
        for (name, apps) in absentAdapters where toldAbsent.insert(name).inserted {
            configuration.warn("\(name): \(Self.absence(of: name, apps))")
        }
    }

    /// Forgets what earlier daemons have preserved for apps that are no longer installed, or have another adapter now.
    func forgetUninstalledApps() {
        // A file that is wrong may be theirs, and so may an adapter whose address is not known yet.
        guard configuration.appsFolder != nil, installed.areComplete, isAdapterKnown else { return }
        for id in lifecycle.apps.preservedApps where installed[id] == nil {
            let isElsewhere = installed.elsewhere.contains { $0.id == id }
            let reason = isElsewhere ? "has another adapter now" : "is no longer installed"
            configuration.log("‘\(id.rawValue)’ \(reason): what it had asked for here ends")
            ended(id, .forceQuit)
        }
    }

    /// The next app with this identifier may be another user's: nothing of this one is left to it.
    private func uninstalled(_ app: InstalledApp) {
        configuration.log("‘\(app.id.rawValue)’ of user \(app.user.id) is no longer installed: it ends")
        wantedLaunches[app.id] = nil
        dying[app.id] = nil
        if let connection = connection(of: app.id) {
            refuse(connection, "the app is no longer installed")
            drain(connection)
            remove(connection)
        }
        if let process = processes[app.id] {
            switch process.kind {
            case .group, .cgroup: process.kill()
            case .process, .unit:
                // It was started elsewhere, and only its connection was the daemon's.
                process.resume()
                process.unwatch()
                processes[app.id] = nil
                places[app.id] = nil
                saveProcesses()
            }
        }
        ended(app.id, .forceQuit)
    }

    /// Forgets what an app of another user with this identifier has left, also which devices it knows.
    private func abandon(_ id: AppID) {
        let now = now
        lifecycle.withApps(at: now) { $0.abandon(id, at: now) }
        // The journal has it under that user's name.
        drain()
    }

    /// Sends an app its last messages.
    private func drain(_ connection: Connection) {
        while let output = connection.app?.nextOutput() {
            if case .send(let message) = output { connection.stream.send(message.framed().span.bytes) }
        }
    }

    /// One overflow area is for all apps, and the configuration names its company.
    func warnOfOverflow(_ app: InstalledApp) {
        guard case .company = app.manifest.overflow, case .company = configuration.overflow,
            app.manifest.overflow != configuration.overflow
        else { return }
        configuration.warn(
            "‘\(app.id.rawValue)’ adds nothing to the overflow area: ‘overflow’ of its manifest is "
                + "\(app.manifest.overflow.rawValue), and that of bled \(configuration.overflow.rawValue); write ‘on’ in "
                + "the manifest, or the same in the configuration")
    }

    /// A process of the daemon's own user can read its files, with the keys of all bonds, and is an operator.
    private func warnOfOwnUser(_ app: InstalledApp) {
        guard !app.command.isEmpty, app.user.id == geteuid(), configuration.isFirst else { return }
        configuration.warn(
            "‘\(app.id.rawValue)’ will run as ‘\(app.user.name)’, as bled does, so it can read the keys of bonds and is "
                + "an operator; give it another ‘user’, or a ‘unit’ with one")
    }
}
