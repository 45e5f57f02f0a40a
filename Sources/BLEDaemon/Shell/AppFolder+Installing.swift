import BLEStateFiles
import BLETransport
import FoundationEssentials
import Glibc
import Synchronization

/// The folder with the manifests of installed apps, as operators change it.
struct AppFolder {
    let path: String
    /// Held while an app is installed or removed.
    let isInstalling: AdapterBook

    /// Installs an app, or replaces its manifest: anyone who can write a manifest can run any program as its user, so
    /// root and the daemon's own user may install for every user, other operators for themselves.
    /// - Parameters:
    ///   - known: the apps that are installed.
    ///   - owners: the users of apps, also of those whose manifest cannot be read.
    func install(
        _ file: [UInt8], for peer: PeerCredentials, _ known: InstalledApps, _ owners: AppOwners
    ) -> Installation {
        guard file.count <= SettingsFile.longestFile else {
            return .refused("a manifest has at most \(SettingsFile.longestFile) octets")
        }
        let app: InstalledApp
        do { app = try InstalledApp(file: Data(file)) } catch { return .refused("it cannot be installed: \(error)") }
        do throws(InstalledApp.Problem) {
            let path = try isInstalling.installing.withLock { _ throws(InstalledApp.Problem) in
                try keep(app, file, for: peer, known, owner: owners[app.id])
            }
            return .written(app, path: path)
        } catch { return .refused(error.description) }
    }

    /// Writes the manifest of an app, if the operator may.
    /// - Returns: its path.
    private func keep(
        _ app: InstalledApp, _ file: [UInt8], for peer: PeerCredentials, _ installed: InstalledApps, owner: UInt32?
    ) throws(InstalledApp.Problem) -> String {
        // Also the apps of other adapters have their files here.
        let files = InstalledApps.manifests(in: path) ?? (apps: [], broken: [])
        let replaced = files.apps.filter { $0.id == app.id }
        // An app whose manifest cannot be read any more stays installed.
        let known = (installed.all + installed.elsewhere).filter {
            $0.id == app.id && files.broken.contains($0.path ?? "")
        }
        // Since bled was started, it may never have been readable.
        let owner = files.broken.isEmpty ? nil : owner
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
        let path = replaced.first?.path ?? path + "/" + app.id.rawValue + ".json"
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
}
