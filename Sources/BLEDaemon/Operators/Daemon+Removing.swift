import BLEAppLifecycle
import BLEMessages
import BLETransport
import Glibc
import Synchronization

/// Removing installed apps, for operators.
extension Daemon {
    /// Removes an app: deletes its manifest, ends its process and what it has asked for, and forgets what is known of
    /// it, at all adapters. Bonds belong to the adapter and stay.
    /// - Parameter keepsState: whether the devices that it knows are kept (SPEC REC-3).
    func remove(
        _ id: AppID, keepsState: Bool, for peer: PeerCredentials
    ) throws(RemovalRefusal) -> RemovedApp {
        guard let folder = configuration.appsFolder else {
            throw RemovalRefusal(description: "this daemon has no folder of apps; restart it with ‘bled --apps DIR’")
        }
        var told = RemovedApp()
        told.keepsState = keepsState
        var deleted: [String] = []
        do throws(RemovalRefusal) {
            try configuration.adapters.installing.withLock { _ throws(RemovalRefusal) in
                try delete(id, in: folder, for: peer, &deleted)
            }
        } catch {
            // Those that are gone are no longer manifests of the app.
            if !deleted.isEmpty { manifestsHaveChanged(folder) }
            throw error
        }
        told.files = deleted
        configuration.log("user \(peer.user) removed ‘\(id.rawValue)’")
        if let process = processes[id] {
            told.process = UInt32(process.number)
            told.isRunning = !process.kill()
        }
        // It may be the app of another adapter, and have been that of this one.
        readInstalledApps()
        forget(id, keepsState: keepsState)
        configuration.appRemoved(id, keepsState)
        syncFolder(folder)
        return told
    }

    /// Deletes the manifests of an app, if the operator may.
    /// - Parameter deleted: gets their paths, also if one of them cannot be deleted.
    private func delete(
        _ id: AppID, in folder: String, for peer: PeerCredentials, _ deleted: inout [String]
    ) throws(RemovalRefusal) {
        let manifests = try manifests(of: id, in: folder)
        let known = installed[id] ?? installed.elsewhere.first { $0.id == id }
        guard !manifests.isEmpty || known != nil || hasState(of: id) else {
            throw RemovalRefusal(description: Self.notInstalled(id, in: folder))
        }
        try check(peer, mayRemove: id, manifests, known)
        for manifest in manifests {
            guard let path = manifest.path else { continue }
            if unsafe unlink(path) != 0, errno != ENOENT {
                let reason = unsafe String(cString: strerror(errno))
                let rest = deleted.isEmpty ? "" : "; \(Self.quoted(deleted)) is deleted already"
                throw RemovalRefusal(
                    description: "the app stays installed: ‘\(path)’ cannot be deleted: \(reason)\(rest)")
            }
            deleted.append(path)
        }
    }

    /// Ends what is left of an app that has been removed, and forgets it.
    func forget(_ id: AppID, keepsState: Bool) {
        // Somebody may have installed it again.
        guard installed[id] == nil, !installed.elsewhere.contains(where: { $0.id == id }) else { return }
        wantedLaunches[id] = nil
        // What is preserved goes in any case: nothing would ever launch the app for it.
        if !lifecycle.apps.preserved(of: id).isEmpty { ended(id, .forceQuit) }
        guard !keepsState else { return drain() }
        let now = now
        lifecycle.withApps(at: now) { apps in
            apps.abandon(id, at: now)
            _ = apps.release(id, forgettingDevices: true, at: now)
        }
        // The journal has it under its user's name.
        drain()
        owners[id] = nil
    }

    /// Whether something is left of an app that is no longer installed.
    private func hasState(of id: AppID) -> Bool {
        processes[id] != nil || !lifecycle.apps.preserved(of: id).isEmpty || owners[id] != nil
    }

    /// All files that have the app, also those that are ignored because another one has it, and the one that has had it
    /// and cannot be read any more.
    private func manifests(of id: AppID, in folder: String) throws(RemovalRefusal) -> [InstalledApp] {
        guard let files = InstalledApps.manifests(in: folder) else {
            throw RemovalRefusal(
                description: "the folder of apps ‘\(folder)’ cannot be read; nothing has been changed")
        }
        let known = (installed.all + installed.elsewhere).filter { $0.id == id && files.broken.contains($0.path ?? "") }
        return files.apps.filter { $0.id == id } + known
    }

    /// Who may install an app may remove it.
    private func check(
        _ peer: PeerCredentials, mayRemove id: AppID, _ manifests: [InstalledApp], _ known: InstalledApp?
    ) throws(RemovalRefusal) {
        if peer.user == 0 || peer.user == geteuid() { return }
        let users = (manifests + [known].compactMap(\.self)).map(\.user.id) + [owners[id]].compactMap(\.self)
        guard users.allSatisfy({ $0 == peer.user }) else {
            throw RemovalRefusal(description: "user \(peer.user) may only remove apps that run as that user")
        }
        guard manifests.allSatisfy({ $0.unit == nil }), known?.unit == nil else {
            throw RemovalRefusal(
                description: "only root and the user of bled may remove an app that is a systemd unit")
        }
        // What cannot be read might be anyone's.
        let broken = InstalledApps.manifests(in: configuration.appsFolder ?? "")?.broken ?? []
        if let path = manifests.compactMap(\.path).first(where: broken.contains) {
            throw RemovalRefusal(
                description: "‘\(path)’ is no manifest any more; only root and the user of bled may remove it")
        }
    }

    private func manifestsHaveChanged(_ folder: String) {
        readInstalledApps()
        configuration.manifestsChanged()
        syncFolder(folder)
    }

    /// Once it returns, the files stay deleted, also if the power fails.
    private func syncFolder(_ path: String) {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private static func quoted(_ names: [String]) -> String { names.map { "‘\($0)’" }.joined(separator: ", ") }

    private static func notInstalled(_ id: AppID, in folder: String) -> String {
        let path = folder + "/" + id.rawValue + ".json"
        let isThere = unsafe access(path, F_OK) == 0
        let isFile = isThere && !id.rawValue.contains("/")
        return "no app ‘\(id.rawValue)’ is installed; "
            + (isFile ? "‘\(path)’ is there and is no manifest of it: see the log of bled" : "see ‘bletool app list’")
    }
}
