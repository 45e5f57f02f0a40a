import BLEHost

/// What apps may have (`LifecycleSettings`), and what becomes of a request for more.
extension AppRuntime {
    // MARK: Limits of each app

    /// Answers a request for more than one app may have.
    /// - Returns: whether it did.
    mutating func refuse(_ request: CentralManagerRequest, _ client: ClientID, _ app: Int) -> Bool {
        switch request {
        case .peripheral(_, .openChannel):
            guard use(of: app).channels >= settings.channelsOfApp else { return false }
            log(.appLimitReached("channels", limit: settings.channelsOfApp), app)
        case .peripheral(_, let request):
            guard exceedsWaiting(with: request.octets, app) else { return false }
            log(.appLimitReached(Self.waitingOctets, limit: settings.waitingOctetsOfApp), app)
        case .registerForConnectionEvents(let filter?):
            let limit = settings.watchedServicesOfApp
            let (own, all) = managers.watchedCounts(with: filter, client, app)
            if own > limit {
                log(.appLimitReached("services of connection events", limit: limit), app)
            } else if all > settings.watchedServices, own > limit / 8 {
                // Whatever others watch, each app may watch a few.
                log(.sharedLimitReached("services of connection events"), app)
            } else {
                return false
            }
        default: return false
        }
        reportNoRoom(for: request, client)
        return true
    }

    mutating func refuse(_ request: PeripheralManagerRequest, _ client: ClientID, _ app: Int) -> Bool {
        switch request {
        case .addService(let service):
            let use = use(of: app)
            if use.services >= settings.servicesOfApp {
                log(.appLimitReached("services", limit: settings.servicesOfApp), app)
            } else if use.attributes + service.attributeCount > settings.attributesOfApp {
                log(.appLimitReached("attributes", limit: settings.attributesOfApp), app)
            } else {
                return false
            }
        case .publishChannel:
            guard use(of: app).channels >= settings.channelsOfApp else { return false }
            log(.appLimitReached("channels", limit: settings.channelsOfApp), app)
        default: return false
        }
        reportNoRoom(for: request, client)
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
            && octets + managers.requestOctets(of: app, effects.commands) > settings.waitingOctetsOfApp
    }

    private func use(of app: Int) -> AppUse { managers.use(of: [app], apps) }

    // MARK: Limits of the owner

    /// Answers a request that the owner does not pass on, because several apps together have too much of what it asks
    /// for.
    mutating func refuse(_ request: ClientRequest, from manager: ManagerID, _ app: Int) {
        guard let client = managers.client(of: manager, app) else { return log(.wrongManager, app) }
        log(.sharedLimitReached(request.wanted), app)
        switch request {
        case .central(let request): reportNoRoom(for: request, client)
        case .peripheral(let request): reportNoRoom(for: request, client)
        case .channel(let channel, .send): withChannels(client) { $0.refuse(channel, into: &$1) }
        case .createCentral, .createPeripheral, .release, .channel: break
        }
    }

    /// What a manager would have in addition if a request of its app were carried out.
    func demand(of request: ClientRequest, from manager: ManagerID, _ app: Int?) -> AppUse {
        var demand = AppUse()
        switch request {
        case .createCentral(let options): demand.managers = isKept(options, .central, app) ? 0 : 1
        case .createPeripheral(let options): demand.managers = isKept(options, .peripheral, app) ? 0 : 1
        case .central(.scan):
            // A new scan takes the place of the manager's own.
            let client = app.flatMap { managers.client(of: manager, $0) }
            let isScanning = client.flatMap { managers.withValue(of: $0) { $0.central?.state.scan != nil } } ?? false
            demand.scans = isScanning ? 0 : 1
        case .central(.peripheral(_, .openChannel)), .peripheral(.publishChannel): demand.channels = 1
        case .peripheral(.addService(let service)):
            demand.services = 1
            demand.attributes = service.attributeCount
        case .release, .central, .peripheral, .channel: break
        }
        return demand
    }

    /// Whether an earlier process has left the manager, which counts already.
    private func isKept(_ options: ManagerOptions, _ kind: ManagerRole, _ app: Int?) -> Bool {
        guard let app, let identifier = options.restoreIdentifier else { return false }
        return managers.contains { $0.isKept(app, kind, identifier) }
    }

    // MARK: Answers

    /// A scan and a registration for connection events have no answer: the line in the log is all.
    private mutating func reportNoRoom(for request: CentralManagerRequest, _ client: ClientID) {
        switch request {
        case .peripheral(let peer, .openChannel(let psm)):
            deliver(.peripheral(peer, .channelOpened(nil, psm: psm, .coreBluetooth(.outOfSpace))), to: client)
        case .peripheral(let peer, let request):
            withCentral(client) { manager, _, effects in manager.refuse(request, to: peer, into: &effects) }
        default: break
        }
    }

    private mutating func reportNoRoom(for request: PeripheralManagerRequest, _ client: ClientID) {
        if case .addService(let service) = request {
            deliver(.serviceAdded(service.id, .coreBluetooth(.outOfSpace)), to: client)
        }
        if case .publishChannel = request {
            deliver(.channelPublished(psm: 0, .coreBluetooth(.outOfSpace)), to: client)
        }
    }
}

extension ClientRequest {
    /// What the refused request asked for, for the log.
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
    var use: AppUse {
        var use = AppUse()
        use.managers = 1
        use.scans = central?.state.scan == nil ? 0 : 1
        use.channels = channels.count + (central?.state.peripherals.reduce(0) { $0 + $1.openingCount } ?? 0)
        if let services = peripheral?.state.services {
            use.services = services.count
            use.attributes = services.reduce(0) { $0 + $1.definition.attributeCount }
        }
        return use
    }
}
