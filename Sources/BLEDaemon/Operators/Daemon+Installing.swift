import BLEStateFiles
import BLETransport
import FoundationEssentials
import Glibc
import Synchronization

/// Installing apps, for operators.
extension Daemon {
    /// Installs an app, or replaces its manifest: anyone who can write a manifest can run any program as its user, so
    /// root and the daemon's own user may install for every user, other operators for themselves.
    /// - Returns: why it failed; `nil` if it succeeded.
    func install(_ file: [UInt8], for peer: PeerCredentials) -> String? {
        guard let folder = configuration.appsFolder else {
            return "this daemon has no folder of apps; restart it with ‘bled --apps DIR’"
        }
        guard file.count <= SettingsFile.longestFile else {
            return "a manifest has at most \(SettingsFile.longestFile) octets"
        }
        let app: InstalledApp
        do { app = try InstalledApp(file: Data(file)) } catch { return "it cannot be installed: \(error)" }
        let path: String
        do throws(InstalledApp.Problem) {
            path = try configuration.adapters.installing.withLock { _ throws(InstalledApp.Problem) in
                try keep(app, file, in: folder, for: peer)
            }
        } catch {
            return error.description
        }
        configuration.log("user \(peer.user) installed ‘\(app.id.rawValue)’")
        readInstalledApps()
        configuration.manifestsChanged()
        if installed[app.id] != nil { return nil }
        // Then it is the app of another adapter of this process, which reads it now.
        let adapter = adapter(of: app)
        if adapter.map(configuration.adapters.has) ?? !configuration.isFirst { return nil }
        if let adapter {
            return "‘\(path)’ was written, but this bled does not have the adapter ‘\(adapter)’; name it with "
                + "‘--adapter’, or change ‘adapter’ in the manifest"
        }
        return "‘\(path)’ was written, but is ignored; see the log of bled"
    }

    /// Writes the manifest of an app, if the operator may.
    /// - Returns: its path.
    private func keep(
        _ app: InstalledApp, _ file: [UInt8], in folder: String, for peer: PeerCredentials
    ) throws(InstalledApp.Problem) -> String {
        // Also the apps of other adapters have their files here.
        let files = InstalledApps.manifests(in: folder) ?? (apps: [], broken: [])
        let replaced = files.apps.filter { $0.id == app.id }
        // An app whose manifest cannot be read any more stays installed.
        let known = (installed.all + installed.elsewhere).filter {
            $0.id == app.id && files.broken.contains($0.path ?? "")
        }
        // Since bled was started, it may never have been readable.
        let owner = files.broken.isEmpty ? nil : owners[app.id]
        let users = [app.user.id] + (replaced + known).map(\.user.id) + [owner].compactMap(\.self)
        let mayBeAny = peer.user == 0 || peer.user == geteuid()
        guard mayBeAny || users.allSatisfy({ $0 == peer.user }) else {
            throw InstalledApp.Problem(
                description: "user \(peer.user) may only install apps that run as that user, and replace no others")
        }
        // systemd starts any unit that root asks for, whatever the unit runs as.
        guard mayBeAny || ([app] + replaced + known).allSatisfy({ $0.unit == nil }) else {
            throw InstalledApp.Problem(
                description: "only root and the user of bled may install an app that is a systemd unit")
        }
        // One of another name may have the app.
        let path = replaced.first?.path ?? folder + "/" + app.id.rawValue + ".json"
        if let other = files.apps.first(where: { $0.path == path && $0.id != app.id }) {
            throw InstalledApp.Problem(
                description:
                    "‘\(path)’ is the manifest of ‘\(other.id.rawValue)’; give one of the apps another identifier")
        }
        // What cannot be read might be anyone's.
        let isFree = unsafe access(path, F_OK) != 0
        guard mayBeAny || !replaced.isEmpty || isFree else {
            throw InstalledApp.Problem(
                description: "‘\(path)’ is there, and is not the manifest of this app; only root and the user of bled "
                    + "may replace it")
        }
        do throws(StateFileError) { try Self.write(file, to: path) } catch {
            throw InstalledApp.Problem(description: "it cannot be installed: \(error)")
        }
        return path
    }

    /// Once it returns, the file is on the disk.
    private static func write(_ file: [UInt8], to path: String) throws(StateFileError) {
        let (folder, name) = OutputPlace.parts(path)
        try SafeFolder(path: folder, isMade: false).replace(name, with: file)
        // As a manifest that root has put there: others may read it.
        unsafe chmod(path, 0o644)
    }
}
