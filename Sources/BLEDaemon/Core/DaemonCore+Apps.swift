import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets

/// The apps among the connected programs.
extension DaemonCore {
    /// The maximum length of an app's name, in octets.
    private static let longestName = 255

    // MARK: Beginning and end

    /// A program has greeted as an app. It is an installed one if it states its name, its user is the app's, and no
    /// other process is that app.
    mutating func greet(_ connection: Connection, as greeting: AppGreeting, _ frames: FrameReader) {
        let allowance = connection.allowance
        guard let app = apps.installed[AppID(rawValue: greeting.identifier)], app.user.id == connection.peer.user else {
            return begin(connection, as: greeting, frames, nil, allowance: allowance)
        }
        connection.session = .identifying(greeting, frames, allowance: allowance)
        effects.append(.identify(connection.id, unit: app.unit))
    }

    mutating func identified(_ id: ConnectionID, _ process: PeerProcess?) {
        guard let connection = connections[id],
            case .identifying(let greeting, let frames, let allowance) = connection.session
        else { return }
        let app = installedApp(greeting.identifier, connection, process)
        begin(connection, as: greeting, frames, app, allowance: allowance)
    }

    private mutating func begin(
        _ connection: Connection, as greeting: AppGreeting, _ frames: FrameReader, _ app: InstalledApp?, allowance: Int
    ) {
        let isStranger = app == nil && !connection.isOfAllowedUser
        let id = app?.id ?? freeName(greeting.identifier, of: connection.peer.user)
        let client = AppClient(
            AppSession(app: id, isOperator: connection.isOperator, limits: rules.limits, frames: frames))
        client.session.allowance = allowance
        connection.session = .app(client)
        look(at: connection)
        guard !greeting.identifier.isEmpty, greeting.identifier.utf8.count <= Self.longestName else {
            return client.session.refuse(.protocol, "an app has a name, of at most \(Self.longestName) octets")
        }
        guard !isStranger else {
            return client.session.refuse(
                .notAllowed, "user \(connection.peer.user) may only run its installed apps here")
        }
        guard app != nil || makeRoom(for: id, of: connection.peer.user) else {
            return client.session.refuse(
                .tooManyManagers,
                "\(rules.limits.appsOfUser) apps of this user are here, as many as may be; end one, or raise "
                    + "‘appsOfUser’ in the configuration of bled")
        }
        if let app { client.session.restrict(to: app.roles) }
        client.session.mayPair = app?.mayPair ?? true
        var manifest =
            app?.manifest
            ?? AppManifest(
                app: id, authorization: Self.authorization(greeting), showsSystemServices: greeting.showsSystemServices)
        manifest.user = connection.peer.user
        // An app that an earlier daemon knew stays in the foreground or background, and one that the system launches
        // for an event is in the background, whatever it says.
        let isLaunchedForEvent = app != nil && apps.lifecycle.apps.place(of: id) == .relaunching
        let isInForeground = processes.wasInForeground[id] ?? !(greeting.startsInBackground || isLaunchedForEvent)
        let (now, declared) = (now, manifest)
        apps.lifecycle.withApps(at: now) { apps in
            apps.declare(declared)
            apps.launched(id, inForeground: isInForeground, at: now)
        }
        client.isLaunched = true
        apps.connections[id] = connection
        notePlace(of: id)
        nameUser(of: id)
        client.session.welcome(apps.lifecycle.apps.launchOptions(of: id), manifest.authorization)
        client.session.setTime(apps.lifecycle.apps.remainingTime(of: id, at: now))
        if app == nil, !BackgroundModes(names: greeting.backgroundModes).isEmpty {
            client.session.note(
                "background modes need an installed app (‘bletool app install FILE’): this one is in the foreground while "
                    + "it runs, and what it asks for ends with it")
            if isDebugging { debug("\(id.rawValue) has background modes, but is not installed") }
        }
        if controller.isReady {
            client.session.controllerIsReady(isExtended: port.engine.information.usesExtendedCommands)
        }
    }

    private static func authorization(_ greeting: AppGreeting) -> ManagerAuthorization {
        switch greeting.authorization {
        case .restricted, .denied: greeting.authorization
        case .allowedAlways, .notDetermined: .allowedAlways
        }
    }

    /// The installed app that a program is, whose process has been identified.
    private mutating func installedApp(
        _ name: String, _ connection: Connection, _ process: PeerProcess?
    ) -> InstalledApp? {
        guard let process, let app = apps.installed[AppID(rawValue: name)], app.user.id == connection.peer.user else {
            return nil
        }
        if let other = self.connection(of: app.id) {
            guard lookups.isPeerGone(other.id) else { return nil }
            effects.append(.close(other.id))
            left(other)
        }
        if let known = processes[app.id]?.facts {
            let isOfGroup =
                switch known.kind {
                case .group, .cgroup: process.group == known.number
                case .process, .unit: false
                }
            guard known.number == connection.peer.process || isOfGroup else { return nil }
            processes.wantedLaunches[app.id] = nil
            processes.endWaiting(for: app.id)
        } else {
            // What runs as the app's user, but not as its unit, is not the app.
            guard app.unit == nil || process.isOfUnit, let facts = process.facts else { return nil }
            effects.append(.hold(connection.id, app.id))
            hold(facts, of: app.id)
            if facts.kind == .process, let limit = app.memoryLimit {
                effects.append(.process(app.id, .limitMemory(limit)))
            }
        }
        return app
    }

    /// Makes a name that is free. The apps of each user are separate, so that no user can take the place of another's
    /// app. A second process of the same program is a separate app.
    private mutating func freeName(_ identifier: String, of user: UInt32) -> AppID {
        var name = "\(user)/\(identifier)"
        var number = 1
        while let other = connection(of: AppID(rawValue: name)) {
            if lookups.isPeerGone(other.id) {
                effects.append(.close(other.id))
                left(other)
            } else {
                number += 1
                name = "\(user)/\(identifier)#\(number)"
            }
        }
        return AppID(rawValue: name)
    }

    /// An app is no longer connected.
    mutating func appHasLeft(_ app: AppID, _ connection: Connection) {
        forget(connection)
        guard apps.installed[app] == nil else { return connectionEnded(of: app) }
        ended(app, .exited)
        release(app, of: connection.peer.user)
    }

    // MARK: How many

    /// Notes the name of an app that is not installed. If there are too many, what those that ended first know of
    /// devices is forgotten.
    /// - Returns: `false` if all of them run.
    private mutating func makeRoom(for id: AppID, of user: UInt32) -> Bool {
        var known = apps.known[user] ?? []
        if let place = known.firstIndex(of: id) {
            known.remove(at: place)
        } else {
            // An earlier daemon may have allowed more.
            while known.count >= rules.limits.appsOfUser {
                let now = now
                let ended = known.firstIndex { other in
                    apps.lifecycle.withApps(at: now) { $0.release(other, forgettingDevices: true, at: now) }
                }
                guard let ended else {
                    apps.known[user] = known
                    return false
                }
                known.remove(at: ended)
                drain()
            }
        }
        apps.known[user] = known + [id]
        return true
    }

    /// An app that is not installed has ended: unless it has left something, nothing is kept of it.
    private mutating func release(_ id: AppID, of user: UInt32) {
        guard var known = apps.known[user], let place = known.firstIndex(of: id) else { return }
        let now = now
        known.remove(at: place)
        let isReleased = apps.lifecycle.withApps(at: now) { $0.release(id, forgettingDevices: false, at: now) }
        if !isReleased { known.append(id) }
        apps.known[user] = known.isEmpty ? nil : known
    }

    /// Removes what the daemon knows about a connection, apart from the life of its app.
    mutating func forget(_ connection: Connection) {
        if let app = connection.appID, apps.connections[app] === connection { apps.connections[app] = nil }
        connection.app?.isLaunched = false
        if connection.pairing != nil {
            connection.pairing = nil
            setPairing()
        }
        pairing.forget(connection)
    }

    func connection(of app: AppID) -> Connection? { apps.connections[app] }

    /// Calls `body` with the session of an app if it is connected.
    mutating func withApp(_ app: AppID, _ body: (inout AppSession) -> Void) {
        guard let connection = connection(of: app), let client = connection.app else { return }
        body(&client.session)
        look(at: connection)
    }

    // MARK: From apps

    mutating func carryOut(_ output: AppSession.Output, of client: AppClient, _ connection: Connection) {
        guard let app = connection.appID else { return }
        let now = now
        switch output {
        case .request(let request, let manager, let number):
            if let update = apps.lifecycle.apps.parameterUpdate(of: request, by: app),
                isAtOthersExpense(update, of: connection)
            {
                client.session.note("other users' programs serve the same central: its latency was not changed")
            } else if !refuses(request, from: manager, of: connection) {
                apps.lifecycle.withApps(at: now) { $0.receive(request, from: manager, of: app, at: now) }
            }
            if request.makesManager {
                nameUser(of: app)
                if apps.installed[app]?.mayPair == false || sharesPairing(connection) { setPairing() }
            }
            drain()
            client.session.taken(number)
        case .returned(let manager, let events, let octets):
            apps.lifecycle.withApps(at: now) {
                $0.returned(events: events, octets: octets, by: manager, of: app, at: now)
            }
            drain()
        case .move(.suspended):
            apps.lifecycle.withApps(at: now) { $0.finished(app, at: now) }
            drain()
            notePlace(of: app)
        case .move(let place): if mayMove(app, to: place) { move(app, to: place) }
        case .tasks(let count):
            apps.lifecycle.withApps(at: now) { $0.setTasks(count, of: app, at: now) }
            drain()
        case .pairing(let options, let asks):
            connection.pairing = options
            connection.asksInPairing = asks
            setPairing()
        case .answer(let question, let answer): _ = submit(.security(.answerPairing(question, answer)))
        case .send, .close: break
        }
    }

    /// An installed app that runs because it was woken is in the background: only a person or an operator brings it up.
    /// Otherwise its strikes would end, and no limit of time would apply to it.
    private func mayMove(_ app: AppID, to place: AppMove) -> Bool {
        guard place == .foreground, apps.installed[app] != nil else { return true }
        switch apps.lifecycle.apps.place(of: app) {
        case .foreground, .background: return true
        case .notRunning, .relaunching, .woken, .suspended: return false
        }
    }

    mutating func move(_ app: AppID, to place: AppMove) {
        let now = now
        apps.lifecycle.withApps(at: now) { apps in
            switch place {
            case .foreground: apps.enterForeground(app, at: now)
            case .background: apps.enterBackground(app, at: now)
            case .suspended: apps.suspend(app, at: now)
            }
        }
        drain()
        notePlace(of: app)
        sendTime(to: app)
    }

    /// Sends an app how long it may still run.
    mutating func sendTime(to app: AppID) {
        // One that is suspended gets it when it is resumed.
        guard apps.lifecycle.apps.place(of: app) != .suspended else { return }
        let span = apps.lifecycle.apps.remainingTime(of: app, at: now)
        withApp(app) { $0.setTime(span) }
    }

    // MARK: To apps

    mutating func send(_ event: ClientEvent, to manager: ManagerID, of app: AppID) {
        if case .discovered(let peripheral, let content, let rssi) = event {
            let recipient = SharedDiscovery.Recipient(
                app: app, manager: manager, identifier: peripheral.identifier, state: peripheral.state)
            return send(SharedDiscovery(peripheral.name, content, rssi: rssi, for: [recipient]))
        }
        if let connection = connection(of: app) { send(event, to: manager, connection) }
    }

    private mutating func send(_ event: ClientEvent, to manager: ManagerID, _ connection: Connection) {
        connection.app?.session.tell(event, to: manager, waiting: connection.outbox.waiting)
        look(at: connection)
    }

    /// Sends apps a discovery, of which there may be thousands a second for each of many apps.
    mutating func send(_ shared: SharedDiscovery) {
        let octets = ClientEvent.approximateOctets(ofDiscovery: shared.content)
        let (limit, time) = (rules.limits.waitingOctets, microseconds)
        for (place, recipient) in shared.recipients.enumerated() {
            guard let connection = apps.connection(of: recipient.app, near: place) else { continue }
            guard connection.outbox.waiting <= limit, !connection.outbox.isCollecting, let app = connection.app,
                app.session.mayBeTold
            else {
                send(shared.event(for: recipient), to: recipient.manager, connection)
                continue
            }
            app.session.count(octets: octets, for: recipient.manager)
            outgoing.send(shared, for: recipient, to: connection, at: time, into: &effects)
        }
    }
}

extension ClientRequest {
    fileprivate var makesManager: Bool {
        switch self {
        case .createCentral, .createPeripheral: true
        case .release, .central, .peripheral, .channel: false
        }
    }
}
