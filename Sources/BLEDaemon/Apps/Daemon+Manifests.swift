@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLETransport
import Glibc

/// The manifests of installed apps.
extension Daemon {
    /// Reads the manifests again. A file that has become wrong changes nothing for its app. An app that is no longer
    /// installed, or has become another user's, ends as one that was quit.
    public func readInstalledApps() {
        guard let folder = configuration.appsFolder else { return takeRightsAway() }
        hasReadApps = true
        let before = installed
        // The first daemon logs what is wrong with the files.
        installed = InstalledApps(
            folder: folder, before: before, log: configuration.isFirst ? configuration.warn : { _ in })
        let names = [configuration.transport.description, adapterAddress?.addressText]
        installed.keep { app in app.adapter.map { names.contains($0) } ?? configuration.isFirst }
        for app in before.all where installed[app.id]?.user.id != app.user.id { uninstalled(app) }
        for app in installed.all {
            lifecycle.withApps(at: now) { $0.declare(app.manifest) }
            if before[app.id] == nil { warnOfOwnUser(app) }
        }
        if isReady { setPairing() }
        openSocketToOthers()
        takeRightsAway()
    }

    /// Forgets what earlier daemons have preserved for apps that are no longer installed.
    func forgetUninstalledApps() {
        // A file that is wrong may be theirs.
        guard configuration.appsFolder != nil, installed.areComplete else { return }
        for id in lifecycle.apps.preservedApps where installed[id] == nil {
            configuration.log("‘\(id.rawValue)’ is no longer installed: what it had asked for ends")
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

    /// Sends an app its last messages.
    private func drain(_ connection: Connection) {
        while let output = connection.app?.nextOutput() {
            if case .send(let message) = output { connection.stream.send(message.framed().span.bytes) }
        }
    }

    /// A process of the daemon's own user can read its files, with the keys of all bonds, and is an operator.
    private func warnOfOwnUser(_ app: InstalledApp) {
        guard !app.command.isEmpty, app.user.id == geteuid(), configuration.isFirst else { return }
        configuration.warn(
            "‘\(app.id.rawValue)’ will run as ‘\(app.user.name)’, as bled does, so it can read the keys of bonds and is "
                + "an operator; give it another ‘user’, or a ‘unit’ with one")
    }
}
