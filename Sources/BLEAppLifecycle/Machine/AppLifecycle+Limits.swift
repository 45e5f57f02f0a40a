import BLEHost
import BLEPackets

/// What apps may have (`LifecycleSettings`), and what becomes of a request for more.
extension AppLifecycle {
    // MARK: Limits of each app

    /// Answers a request for more than one app may have.
    /// - Returns: whether it did.
    mutating func refuse(_ request: CentralManagerRequest, _ client: ClientID, _ app: Int) -> Bool {
        switch request {
        case .peripheral(_, .openChannel):
            guard useOfApps(at: [app]).channels >= settings.channelsOfApp else { return false }
            log(.appLimitReached("channels", limit: settings.channelsOfApp), app)
        case .peripheral(_, let request):
            guard exceedsWaiting(with: request.octets, app) else { return false }
            log(.appLimitReached(Self.waitingOctets, limit: settings.waitingOctetsOfApp), app)
        case .registerForConnectionEvents(let filter?):
            let limit = settings.watchedServicesOfApp
            let (own, all) = watchedCounts(with: filter, client, app)
            if own > limit {
                log(.appLimitReached("services of connection events", limit: limit), app)
            } else if all > settings.watchedServices, own > limit / 8 {
                // Whatever others watch, each app may watch a few.
                log(.sharedLimitReached("services of connection events"), app)
            } else {
                return false
            }
        case .scan, .stopScan, .connect, .cancelConnection, .letGo, .retrievePeripherals,
            .retrieveConnectedPeripherals, .registerForConnectionEvents(nil):
            return false
        }
        tellNoRoom(for: request, client)
        return true
    }

    mutating func refuse(_ request: PeripheralManagerRequest, _ client: ClientID, _ app: Int) -> Bool {
        switch request {
        case .addService(let service):
            let use = useOfApps(at: [app])
            if use.services >= settings.servicesOfApp {
                log(.appLimitReached("services", limit: settings.servicesOfApp), app)
            } else if use.attributes + service.attributeCount > settings.attributesOfApp {
                log(.appLimitReached("attributes", limit: settings.attributesOfApp), app)
            } else {
                return false
            }
        case .publishChannel:
            guard useOfApps(at: [app]).channels >= settings.channelsOfApp else { return false }
            log(.appLimitReached("channels", limit: settings.channelsOfApp), app)
        case .removeService, .removeAllServices, .startAdvertising, .stopAdvertising, .respond, .updateValue,
            .setConnectionLatency, .unpublishChannel:
            return false
        }
        tellNoRoom(for: request, client)
        return true
    }

    /// Refuses octets that the channel of an app is to send, by closing it.
    /// - Returns: whether it did.
    mutating func refuse(_ request: ChannelRequest, on channel: L2CAPChannelID, _ client: ClientID, _ app: Int) -> Bool
    {
        guard case .send(let octets) = request, exceedsWaiting(with: octets.count, app) else { return false }
        log(.appLimitReached(Self.waitingOctets, limit: settings.waitingOctetsOfApp), app)
        withChannels(client) { $0.refuse(channel, into: &$1) }
        return true
    }

    /// What `waitingOctetsOfApp` limits, for the log.
    private static var waitingOctets: String { "octets in requests that wait" }

    private func exceedsWaiting(with octets: Int, _ app: Int) -> Bool {
        octets > 0 && settings.waitingOctetsOfApp < .max
            && octets + waitingOctets(at: app) > settings.waitingOctetsOfApp
    }

    private func waitingOctets(at app: Int) -> Int {
        var sum = 0
        for place in managers.keys.indices {
            let own = managers.withValue(at: place) { manager in
                manager.app != app
                    ? 0 : effects.commands.octets(of: manager.client) + (manager.central?.waitingOctets ?? 0)
            }
            sum += own ?? 0
        }
        return sum
    }

    /// The services of connection events of an app, and of all apps, if a manager registers for these.
    private func watchedCounts(
        with filter: ConnectionEventFilter, _ client: ClientID, _ app: Int
    ) -> (own: Int, all: Int) {
        var (own, all) = (filter.services.count, filter.services.count)
        // The registration takes the place of the manager's earlier one.
        for manager in managers where manager.client != client {
            let count = manager.central?.connectionEvents?.services.count ?? 0
            all += count
            if manager.app == app { own += count }
        }
        return (own, all)
    }

    /// A scan and a registration for connection events have no answer: the line in the log is all.
    private mutating func tellNoRoom(for request: CentralManagerRequest, _ client: ClientID) {
        switch request {
        case .peripheral(let peer, .openChannel(let psm)):
            deliver(.peripheral(peer, .channelOpened(nil, psm: psm, .coreBluetooth(.outOfSpace))), to: client)
        case .peripheral(let peer, let request):
            withCentral(client) { manager, _, effects in manager.refuse(request, to: peer, into: &effects) }
        case .scan, .stopScan, .connect, .cancelConnection, .letGo, .retrievePeripherals,
            .retrieveConnectedPeripherals, .registerForConnectionEvents:
            break
        }
    }

    private mutating func tellNoRoom(for request: PeripheralManagerRequest, _ client: ClientID) {
        if case .addService(let service) = request {
            deliver(.serviceAdded(service.id, .coreBluetooth(.outOfSpace)), to: client)
        }
        if case .publishChannel = request {
            deliver(.channelPublished(psm: 0, .coreBluetooth(.outOfSpace)), to: client)
        }
    }

    // MARK: Limits of the owner

    /// What the managers of these apps have together.
    public func use(of ids: [AppID]) -> AppUse {
        guard !ids.isEmpty else { return AppUse() }
        let wanted = Set(ids)
        return useOfApps(at: apps.indices.filter { wanted.contains(apps[$0].id) })
    }

    private func useOfApps(at places: [Int]) -> AppUse {
        var isCounted = [Bool](repeating: false, count: apps.count)
        for place in places { isCounted[place] = true }
        var sum = AppUse()
        for place in managers.keys.indices {
            let use = managers.withValue(at: place) { isCounted[$0.app] ? $0.use : AppUse() }
            sum.add(use ?? AppUse())
        }
        return sum
    }

    /// The octets in the requests of an app to peripherals and channels that have not ended.
    public func waitingOctets(of id: AppID) -> Int { app(id).map { waitingOctets(at: $0) } ?? 0 }

    /// What a manager would have in addition if a request of its app were carried out.
    public func demand(of request: ClientRequest, from manager: ManagerID, of id: AppID) -> AppUse {
        var demand = AppUse()
        switch request {
        case .createCentral(let options): demand.managers = isKept(options, .central, of: id) ? 0 : 1
        case .createPeripheral(let options): demand.managers = isKept(options, .peripheral, of: id) ? 0 : 1
        case .central(.scan): demand.scans = isScanning(manager, of: id) ? 0 : 1
        case .central(.peripheral(_, .openChannel)), .peripheral(.publishChannel): demand.channels = 1
        case .peripheral(.addService(let service)):
            demand.services = 1
            demand.attributes = service.attributeCount
        case .release, .central, .peripheral, .channel: break
        }
        return demand
    }

    /// Whether an earlier process has left the manager, which counts already.
    private func isKept(_ options: ManagerOptions, _ role: ManagerRole, of id: AppID) -> Bool {
        guard let app = app(id), let identifier = options.restoreIdentifier else { return false }
        return managers.contains { $0.isKept(app, role, identifier) }
    }

    /// Whether a manager has asked for a scan; a new one takes its place.
    private func isScanning(_ manager: ManagerID, of id: AppID) -> Bool {
        guard let app = app(id), let client = client(of: manager, app) else { return false }
        return managers.withValue(of: client) { $0.central?.scan != nil } ?? false
    }

    /// Answers a request that the owner does not pass on, because several apps together have as much as they may have
    /// of what it asks for: in the same way as if the app alone had too much.
    public mutating func refuse(_ request: ClientRequest, from manager: ManagerID, of id: AppID, at now: Instant) {
        self.now = now
        let app = known(id)
        if let client = client(of: manager, app) {
            log(.sharedLimitReached(request.wanted), app)
            if case .central(let request) = request { tellNoRoom(for: request, client) }
            if case .peripheral(let request) = request { tellNoRoom(for: request, client) }
            if case .channel(let channel, .send) = request {
                withChannels(client) { $0.refuse(channel, into: &$1) }
            }
        } else {
            log(.wrongManager, app)
        }
        finish()
    }
}

extension ClientRequest {
    /// What a request that is refused asks for, as the log says it.
    fileprivate var wanted: String {
        switch self {
        case .createCentral, .createPeripheral: "managers"
        case .central(.scan): "scans"
        case .peripheral(.addService): "services or attributes"
        case .central(.peripheral(_, .openChannel)), .peripheral(.publishChannel): "channels"
        case .central, .peripheral, .channel, .release: "room for requests that wait"
        }
    }

    /// What the request takes of the memory while it waits, if it is one to a peripheral or a channel.
    public var waitingOctets: Int {
        switch self {
        case .central(.peripheral(_, let request)): request.octets
        case .channel(_, .send(let octets)): octets.count
        case .createCentral, .createPeripheral, .release, .central, .peripheral, .channel: 0
        }
    }
}

extension Manager {
    /// What it has of what is limited.
    fileprivate var use: AppUse {
        var use = AppUse()
        use.managers = 1
        use.scans = central?.scan == nil ? 0 : 1
        use.channels = (channels?.count ?? 0) + (central?.peripherals.reduce(0) { $0 + $1.openingCount } ?? 0)
        if let services = peripheral?.services {
            use.services = services.count
            use.attributes = services.reduce(0) { $0 + $1.definition.attributeCount }
        }
        return use
    }
}
