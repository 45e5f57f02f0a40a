import BLEAppLifecycle
import BLETransport
import Glibc
import Synchronization

/// Removing installed apps, for operators.
extension AppFolder {
    /// Deletes the manifests of an app, if the operator may. Once it returns, they stay deleted, also if the power fails.
    /// - Parameters:
    ///   - installed: the apps that are installed.
    ///   - owner: the user of the app, also if it is not installed.
    ///   - hasState: whether something is left of the app, installed or not.
    func remove(
        _ removal: inout Removal, for peer: PeerCredentials, _ installed: InstalledApps, owner: UInt32?, hasState: Bool
    ) {
        do throws(RemovalRefusal) {
            try isInstalling.installing.withLock { _ throws(RemovalRefusal) in
                try delete(&removal, for: peer, installed, owner: owner, hasState: hasState)
            }
        } catch { removal.refusal = error.description }
        if removal.refusal == nil || !removal.deleted.isEmpty { sync() }
    }

    private func delete(
        _ removal: inout Removal, for peer: PeerCredentials, _ installed: InstalledApps, owner: UInt32?, hasState: Bool
    ) throws(RemovalRefusal) {
        let id = removal.app
        let manifests = try manifests(of: id, installed)
        let known = installed[id] ?? installed.elsewhere.first { $0.id == id }
        guard !manifests.isEmpty || known != nil || hasState else {
            throw RemovalRefusal(description: notInstalled(id))
        }
        try check(peer, mayRemove: manifests, known, owner: owner)
        for manifest in manifests {
            guard let path = manifest.path else { continue }
            if unsafe unlink(path) != 0, errno != ENOENT {
                let reason = unsafe String(cString: strerror(errno))
                let rest = removal.deleted.isEmpty ? "" : "; \(Self.quoted(removal.deleted)) is deleted already"
                throw RemovalRefusal(
                    description: "the app stays installed: ‘\(path)’ cannot be deleted: \(reason)\(rest)")
            }
            removal.deleted.append(path)
        }
    }

    /// All files that have the app, also those that are ignored because another one has it, and the one that has had it
    /// and cannot be read any more.
    private func manifests(of id: AppID, _ installed: InstalledApps) throws(RemovalRefusal) -> [InstalledApp] {
        guard let files = InstalledApps.manifests(in: path) else {
            throw RemovalRefusal(description: "the folder of apps ‘\(path)’ cannot be read; nothing has been changed")
        }
        let known = (installed.all + installed.elsewhere).filter { $0.id == id && files.broken.contains($0.path ?? "") }
        return files.apps.filter { $0.id == id } + known
    }

    /// Who may install an app may remove it.
    private func check(
        _ peer: PeerCredentials, mayRemove manifests: [InstalledApp], _ known: InstalledApp?, owner: UInt32?
    ) throws(RemovalRefusal) {
        if peer.user == 0 || peer.user == geteuid() { return }
        let users = (manifests + [known].compactMap(\.self)).map(\.user.id) + [owner].compactMap(\.self)
        guard users.allSatisfy({ $0 == peer.user }) else {
            throw RemovalRefusal(description: "user \(peer.user) may only remove apps that run as that user")
        }
        guard manifests.allSatisfy({ $0.unit == nil }), known?.unit == nil else {
            throw RemovalRefusal(description: "only root and the user of bled may remove an app that is a systemd unit")
        }
        // What cannot be read might be anyone's.
        let broken = InstalledApps.manifests(in: path)?.broken ?? []
        if let path = manifests.compactMap(\.path).first(where: broken.contains) {
            throw RemovalRefusal(
                description: "‘\(path)’ is no manifest any more; only root and the user of bled may remove it")
        }
    }

    private func sync() {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private static func quoted(_ names: [String]) -> String { names.map { "‘\($0)’" }.joined(separator: ", ") }

    private func notInstalled(_ id: AppID) -> String {
        let path = path + "/" + id.rawValue + ".json"
        let isThere = unsafe access(path, F_OK) == 0
        let isFile = isThere && !id.rawValue.contains("/")
        return "no app ‘\(id.rawValue)’ is installed; "
            + (isFile ? "‘\(path)’ is there and is no manifest of it: see the log of bled" : "see ‘bletool app list’")
    }
}
