import BLEAppLifecycle

/// The users of installed apps, as the journal knows them: what is preserved for an app is not another user's, whose
/// app has the same identifier.
package struct AppOwners: Equatable {
    package init() {}

    /// Only for lookup.
    private var users: [AppID: UInt32] = [:]

    /// The user of an app as far as it is known, also before its manifest can be read.
    subscript(id: AppID) -> UInt32? {
        get { users[id] }
        set { users[id] = newValue }
    }

    /// The name of an app in the journal: an installed one has its user before a colon. One that is not installed has
    /// it before a slash, which no identifier has.
    func journalName(of id: AppID) -> AppID { users[id].map { Self.journalName(of: id, $0) } ?? id }

    private static func journalName(of id: AppID, _ user: UInt32) -> AppID {
        AppID(rawValue: "\(user):\(id.rawValue)")
    }

    private static func parts(_ name: AppID) -> (user: UInt32, id: AppID)? {
        let parts = name.rawValue.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let user = UInt32(parts[0]), !parts[1].isEmpty else { return nil }
        return (user, AppID(rawValue: String(parts[1])))
    }

    /// The name that an app has in the journal from now on.
    /// - Returns: `nil` if an app of another user is installed in its place.
    static func currentName(_ name: AppID, _ installed: InstalledApps) -> AppID? {
        guard let (user, id) = parts(name) else {
            // An earlier version wrote no users.
            return installed[name].map { journalName(of: name, $0.user.id) } ?? name
        }
        return installed[id].map { $0.user.id == user } ?? true ? name : nil
    }

    /// Notes the owner of an app in the journal.
    /// - Returns: its identifier; `nil` if the app is known as another user's.
    mutating func identifier(_ name: AppID) -> AppID? {
        guard let (user, id) = Self.parts(name) else { return name }
        if let known = users[id], known != user { return nil }
        users[id] = user
        return id
    }

    /// The user in the name of an app that is not installed.
    static func user(ofUninstalled id: AppID) -> UInt32? {
        let parts = id.rawValue.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? UInt32(parts[0]) : nil
    }

    /// The apps that were not installed and know devices, by user. Those that came to know one last come last.
    static func uninstalled(in state: PreservedState) -> [UInt32: [AppID]] {
        var latestFirst: [UInt32: [AppID]] = [:]
        var seen: Set<AppID> = []
        for id in state.identities.reversed().map(\.app) where seen.insert(id).inserted {
            guard let user = user(ofUninstalled: id) else { continue }
            latestFirst[user, default: []].append(id)
        }
        return latestFirst.mapValues { Array($0.reversed()) }
    }
}
