import BLEHost

/// Requests of managers, and what managers have (SPEC CEN-1 to CEN-3, PER-1, 5.5).
extension AppLifecycle {
    /// Handles a request of a manager.
    public mutating func receive(_ request: ClientRequest, from manager: ManagerID, of id: AppID, at now: Instant) {
        runtime.effects.now = now
        let app = peers.known(id, &runtime)
        let client = runtime.managers.client(of: manager, app)
        switch (request, client, client.flatMap { runtime.managers.kind(of: $0) }) {
        case (.createCentral(let options), _, _): runtime.create(.central, options, manager, app, &peers.directory)
        case (.createPeripheral(let options), _, _):
            runtime.create(.peripheral, options, manager, app, &peers.directory)
        case (.release, let client?, _): runtime.drop(client)
        case (.central(let request), let client?, .central):
            if !runtime.refuse(request, client, app) { peers.perform(request, client, app, &runtime) }
        case (.peripheral(let request), let client?, .peripheral):
            if runtime.refuse(request, client, app) { break }
            let links = peers.links(namedIn: request, app)
            runtime.withPeripheral(client) { $0.perform(request, to: links, $1, into: &$2) }
        case (.channel(let channel, let request), let client?, _):
            if runtime.refuse(request, on: channel, client, app) { break }
            runtime.withChannels(client) { $0.perform(request, on: channel, into: &$1) }
        // The manager does not exist, or has the other role.
        case (.release, nil, _), (.central, _, _), (.peripheral, _, _), (.channel, nil, _):
            runtime.log(.wrongManager, app)
        }
        finish()
    }

    /// Answers a request that the owner does not pass on, because several apps together have as much as they may have
    /// of what it asks for: in the same way as if the one app had too much.
    public mutating func refuse(_ request: ClientRequest, from manager: ManagerID, of id: AppID, at now: Instant) {
        runtime.effects.now = now
        runtime.refuse(request, from: manager, peers.known(id, &runtime))
        finish()
    }

    /// An app has handled this many events with this many octets (`ClientEvent.approximateOctets`).
    public mutating func returned(
        events: Int, octets: Int, by manager: ManagerID, of app: AppID, at now: Instant
    ) {
        runtime.effects.now = now
        guard let app = runtime.apps.index(of: app), let client = runtime.managers.client(of: manager, app) else {
            return
        }
        runtime.managers.change(client) { $0.returned(events: events, octets: octets) }
        runtime.flush(app)
        finish()
    }

    // MARK: Questions

    /// The engine's command by which an app's request would change a central's link; `nil`: none would.
    public func parameterUpdate(of request: ClientRequest, by id: AppID) -> HostCommand? {
        guard case .peripheral(.setConnectionLatency(let latency, let central)) = request,
            let app = runtime.apps.index(of: id),
            let link = peers.links(namedIn: .setConnectionLatency(latency, central: central), app)?.first
        else { return nil }
        return .link(link, .procedure(.updateParameters(latency.parameters)))
    }

    /// The app and the role of the manager that is this client of the engine; `nil` if it is no manager.
    public func manager(_ client: ClientID) -> (app: AppID, role: ManagerRole)? {
        runtime.managers[client].map { (runtime.apps[$0.app].id, $0.kind) }
    }

    /// The clients of the engine that are managers of an app, in the order of their creation.
    public func clients(of id: AppID) -> [ClientID] {
        let app = runtime.apps.index(of: id)
        return runtime.managers.filter { $0.app == app }.map(\.client)
    }

    /// Whether an app has a manager in the peripheral role, so that centrals may use its services.
    public var serves: Bool { runtime.managers.contains { $0.kind == .peripheral } }

    /// The events that wait for an app because it does not run or has not handled earlier ones.
    public func waitingEvents(for id: AppID) -> Int {
        let app = runtime.apps.index(of: id)
        return runtime.managers.reduce(0) { $0 + ($1.app == app ? $1.queue.count : 0) }
    }

    /// Whether a manager gets no more events until its app has handled some.
    public func isHeldBack(_ manager: ManagerID, of app: AppID) -> Bool {
        guard let app = runtime.apps.index(of: app), let client = runtime.managers.client(of: manager, app) else {
            return false
        }
        return runtime.managers.withValue(of: client) { $0.hasRoom } == false
    }

    /// Whether events wait for an app that may receive them.
    public func hasWaiting(for app: AppID) -> Bool {
        guard let app = runtime.apps.index(of: app) else { return false }
        return runtime.managers.keys.contains { client in
            runtime.managers.withValue(of: client) {
                $0.app == app && $0.id != nil && !$0.queue.isEmpty && runtime.apps[app].receives($0.kind)
            } ?? false
        }
    }

    /// What the managers of these apps have together.
    public func use(of ids: [AppID]) -> AppUse {
        guard !ids.isEmpty else { return AppUse() }
        let wanted = Set(ids)
        return runtime.managers.use(
            of: runtime.apps.indices.filter { wanted.contains(runtime.apps[$0].id) }, runtime.apps)
    }

    /// The octets in the requests of an app to peripherals and channels that have not ended.
    public func waitingOctets(of id: AppID) -> Int {
        runtime.apps.index(of: id).map { runtime.managers.requestOctets(of: $0, runtime.effects.commands) } ?? 0
    }

    /// What a manager would have in addition if a request of its app were carried out.
    public func demand(of request: ClientRequest, from manager: ManagerID, of id: AppID) -> AppUse {
        runtime.demand(of: request, from: manager, runtime.apps.index(of: id))
    }

    /// The restore identifiers of the managers that continue for an app that does not run.
    public func preserved(of id: AppID) -> LaunchOptions {
        runtime.apps.index(of: id).map { runtime.managers.preserved($0) } ?? LaunchOptions()
    }

    /// The apps that have managers which continue without a process, in the order in which they became known.
    public var preservedApps: [AppID] {
        runtime.apps.indices.filter { index in
            runtime.managers.contains { $0.app == index && $0.id == nil && $0.snapshot != nil }
        }.map { runtime.apps[$0].id }
    }
}
