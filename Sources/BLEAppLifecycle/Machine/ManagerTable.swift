import BLEHost
import BLEPackets

/// The managers of all apps, in the order in which they were created.
typealias ManagerTable = OrderedTable<ClientID, Manager>

extension OrderedTable where Key == ClientID, Value == Manager {
    func client(of manager: ManagerID, _ app: Int) -> ClientID? {
        let place = keys.indices.first { place in
            withValue(at: place) { $0.id == manager && $0.app == app } ?? false
        }
        return place.map { keys[$0] }
    }

    func role(of client: ClientID) -> Manager.Role? { withValue(of: client) { $0.role } }
    func kind(of client: ClientID) -> ManagerRole? { withValue(of: client) { $0.kind } }

    /// The managers of an app that were preserved and that no process has created again, as a process is launched for
    /// them.
    func preserved(_ app: Int, where isWanted: (PreservedManager) -> Bool = { _ in true }) -> LaunchOptions {
        let kept = filter { $0.app == app && $0.id == nil && $0.snapshot.map(isWanted) ?? false }
        return LaunchOptions(
            centrals: kept.filter { $0.kind == .central }.compactMap(\.restoreIdentifier),
            peripherals: kept.filter { $0.kind == .peripheral }.compactMap(\.restoreIdentifier))
    }

    /// Whether an app refers to a device by one of these names.
    func refer(to device: RememberedDevices.Device) -> Bool {
        keys.contains { client in
            withValue(of: client) { manager in
                device.names.contains { $0.app == manager.app && manager.refers(to: $0.identifier) }
            } ?? false
        }
    }

    // MARK: Connection events

    /// The services of registered connection events, each once.
    var watchedServices: [BluetoothUUID] {
        var watched: [BluetoothUUID] = []
        // Only for lookup, never iterated.
        var known: Set<BluetoothUUID> = []
        for manager in self {
            for service in manager.central?.state.connectionEvents?.services ?? [] where known.insert(service).inserted
            {
                watched.append(service)
            }
        }
        return watched
    }

    /// The services of connection events of an app, and of all apps, if a manager registers for these.
    func watchedCounts(with filter: ConnectionEventFilter, _ client: ClientID, _ app: Int) -> (own: Int, all: Int) {
        var (own, all) = (filter.services.count, filter.services.count)
        // The registration takes the place of the manager's earlier one.
        for manager in self where manager.client != client {
            let count = manager.central?.state.connectionEvents?.services.count ?? 0
            all += count
            if manager.app == app { own += count }
        }
        return (own, all)
    }

    // MARK: What waits

    /// What waits for an app, and for all apps of its user.
    mutating func waitingOctets(for app: Int, _ apps: AppTable) -> (own: Int, all: Int) {
        let user = apps[app].manifest.user
        var (own, all) = (0, 0)
        forEachInPlace { _, manager in
            let octets = manager.queue.octets
            guard octets > 0 else { return }
            if manager.app == app { own += octets }
            if manager.app == app || apps[manager.app].manifest.user == user { all += octets }
        }
        return (own, all)
    }

    /// The app of a user for which the most octets wait.
    mutating func longestWaiting(of user: UInt32, _ apps: AppTable) -> Int {
        var octets = [Int](repeating: 0, count: apps.indices.count)
        forEachInPlace { _, manager in octets[manager.app] += manager.queue.octets }
        var longest = 0
        for app in apps.indices where apps[app].manifest.user == user && octets[app] >= octets[longest] {
            longest = app
        }
        return longest
    }

    /// Drops an event of the manager of an app for which the most octets wait.
    /// - Returns: `false` if none may be dropped.
    mutating func dropOne(of app: Int) -> Bool {
        var longest: (client: ClientID, octets: Int)?
        forEachInPlace { client, manager in
            guard manager.app == app, manager.queue.octets > longest?.octets ?? 0 else { return }
            longest = (client, manager.queue.octets)
        }
        guard let longest else { return false }
        var isDropped = false
        change(longest.client) { isDropped = $0.queue.drop() }
        return isDropped
    }

    // MARK: What is limited

    /// What the managers of these apps have together.
    func use(of places: [Int], _ apps: AppTable) -> AppUse {
        var isCounted = [Bool](repeating: false, count: apps.indices.count)
        for place in places { isCounted[place] = true }
        var sum = AppUse()
        for place in keys.indices {
            let use = withValue(at: place) { isCounted[$0.app] ? $0.use : AppUse() }
            sum.add(use ?? AppUse())
        }
        return sum
    }

    /// The octets in the requests of an app that have not ended.
    func requestOctets(of app: Int, _ commands: CommandLedger) -> Int {
        var sum = 0
        for place in keys.indices {
            let own = withValue(at: place) { manager in
                manager.app != app
                    ? 0 : commands.octets(of: manager.client) + (manager.central?.state.waitingOctets ?? 0)
            }
            sum += own ?? 0
        }
        return sum
    }
}
