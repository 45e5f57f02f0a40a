import BLEAppLifecycle

/// The processes of installed apps.
struct ProcessKeeper {
    /// The process of an app.
    struct Record {
        let facts: ProcessFacts
        /// When it was stopped, in microseconds; `nil` while it runs.
        var stoppedAt: UInt64?
        /// Since when it could have connected and has not, in microseconds.
        var silentSince: UInt64
        /// Whether this daemon has ended it.
        var isKilled = false
    }

    /// Only for lookup, or in the order of the names.
    private(set) var records: [AppID: Record] = [:]
    /// Apps that the owner is to launch, and has not answered for yet.
    var launching: Set<AppID> = []
    /// Whether each installed app was last in the foreground. Only for lookup.
    var wasInForeground: [AppID: Bool] = [:]
    /// Apps to launch when their current process has ended, unless it connects. Only for lookup.
    var wantedLaunches: [AppID: LaunchOptions] = [:]
    /// Apps whose connection has ended, and the time until which their process may take to end, too.
    private var graceEnds: [AppID: UInt64] = [:]

    /// How long a process may take to end after its connection has.
    private static let grace: UInt64 = 500_000

    subscript(id: AppID) -> Record? {
        get { records[id] }
        set { records[id] = newValue }
    }

    var deadline: UInt64? { graceEnds.isEmpty ? nil : graceEnds.values.min() }

    /// The connection of an app has ended, and its process will soon.
    mutating func waitForEnd(of id: AppID, at now: UInt64) {
        records[id]?.silentSince = now
        graceEnds[id] = now + Self.grace
    }

    /// - Returns: whether the end of the process was waited for.
    @discardableResult mutating func endWaiting(for id: AppID) -> Bool { graceEnds.removeValue(forKey: id) != nil }

    /// The apps whose process still runs without a connection, in the order of their names.
    mutating func overdue(at now: UInt64) -> [AppID] {
        let due = graceEnds.filter { $0.value <= now }.keys.sorted()
        for id in due { graceEnds[id] = nil }
        return due
    }

    mutating func forget(_ id: AppID) {
        records[id] = nil
        wasInForeground[id] = nil
    }

    /// The apps that are stopped, in the order of their names.
    var stopped: [AppID] { records.filter { $0.value.stoppedAt != nil }.keys.sorted() }

    /// The list of processes, for the next start of the daemon.
    var lines: String {
        records.sorted { $0.key < $1.key }.map { id, record in
            let place = wasInForeground[id] == true ? "foreground" : "background"
            let facts = record.facts
            return "\(facts.number) \(facts.began) \(facts.kind.rawValue) \(place) \(id.rawValue)\n"
        }.joined()
    }
}
