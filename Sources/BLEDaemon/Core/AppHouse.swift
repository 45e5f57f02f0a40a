import BLEAppLifecycle
import BLEHost

/// The apps among the programs, and those that are installed.
struct AppHouse: ~Copyable {
    var lifecycle: LifecycleEngine<EnginePort>
    var installed = InstalledApps()
    var hasReadManifests = false
    /// The users of installed apps, as the journal knows them.
    var owners: AppOwners
    /// The names of apps that are not installed, by user: those that run, and those that have left something. Those that
    /// began or ended last come last. Only for lookup.
    var known: [UInt32: [AppID]]
    /// The connections of apps. Only for lookup.
    var connections: [AppID: Connection] = [:] { didSet { latest = [] } }
    /// The apps that the latest discovery was for.
    private var latest: [(app: AppID, connection: Connection)] = []
    /// When the log says which adapters of manifests are not there.
    var absenceDeadline: UInt64?
    /// Those that it has named.
    var namedAbsent: Set<String> = []

    init(_ lifecycle: consuming LifecycleEngine<EnginePort>, _ owners: AppOwners, known: [UInt32: [AppID]]) {
        self.lifecycle = lifecycle
        self.owners = owners
        self.known = known
    }

    /// The connection of an app, which is looked for where that of the latest discovery was: most are for the same
    /// apps.
    mutating func connection(of app: AppID, near place: Int) -> Connection? {
        if place < latest.count, latest[place].app == app { return latest[place].connection }
        guard let connection = connections[app] else { return nil }
        if place < latest.count {
            latest[place] = (app, connection)
        } else if place == latest.count {
            latest.append((app, connection))
        }
        return connection
    }
}
