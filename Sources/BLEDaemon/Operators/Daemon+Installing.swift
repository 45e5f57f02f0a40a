import BLEStateFiles
import BLETransport
import FoundationEssentials
import Glibc

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
        // Also the apps of other adapters have their files here.
        let others = InstalledApps(folder: folder) { _ in }
        let replaced = others[app.id]
        let mayBeAny = peer.user == 0 || peer.user == geteuid()
        guard mayBeAny || app.user.id == peer.user && (replaced == nil || replaced?.user.id == peer.user) else {
            return "user \(peer.user) may only install apps that run as that user"
        }
        // systemd starts any unit that root asks for, whatever the unit runs as.
        guard mayBeAny || app.unit == nil && replaced?.unit == nil else {
            return "only root and the user of bled may install an app that is a systemd unit"
        }
        // One of another name may have the app.
        let path = replaced?.path ?? folder + "/" + app.id.rawValue + ".json"
        if let other = others.all.first(where: { $0.path == path && $0.id != app.id }) {
            return "‘\(path)’ is the manifest of ‘\(other.id.rawValue)’; give one of the apps another identifier"
        }
        // What cannot be read might be anyone's.
        let isFree = unsafe access(path, F_OK) != 0
        guard mayBeAny || replaced != nil || isFree else {
            return
                "‘\(path)’ is there, and is not the manifest of this app; only root and the user of bled may replace it"
        }
        do throws(StateFileError) { try Self.write(file, to: path) } catch { return "it cannot be installed: \(error)" }
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

    /// Once it returns, the file is on the disk.
    private static func write(_ file: [UInt8], to path: String) throws(StateFileError) {
        let (folder, name) = OutputPlace.parts(path)
        try SafeFolder(path: folder, isMade: false).replace(name, with: file)
        // As a manifest that root has put there: others may read it.
        unsafe chmod(path, 0o644)
    }
}
