@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import BLETransport
import Glibc

/// The apps among the connected programs.
extension Daemon {
    /// The maximum length of an app's name, in octets.
    private static let longestName = 255

    // MARK: Beginning and end

    /// A program has greeted as an app.
    func begin(_ connection: Connection, as hello: AppGreeting, _ frames: FrameReader) {
        let app = installedApp(hello.identifier, connection)
        let isStranger = app == nil && !connection.isOfAllowedUser
        let id = app?.id ?? freeName(hello.identifier, of: connection.peer.user)
        var session = AppSession(
            app: id, isOperator: connection.isOperator, limits: configuration.limits, frames: frames)
        session.allowance = connection.tool.allowance
        defer {
            connection.app = session
            look(at: connection)
        }
        guard !hello.identifier.isEmpty, hello.identifier.utf8.count <= Self.longestName else {
            return session.refuse(.protocol, "an app has a name, of at most \(Self.longestName) octets")
        }
        guard !isStranger else {
            return session.refuse(.notAllowed, "user \(connection.peer.user) may only run its installed apps here")
        }
        guard app != nil || makeRoom(for: id, of: connection.peer.user) else {
            return session.refuse(
                .tooManyManagers,
                "\(configuration.limits.appsOfUser) apps of this user are here, as many as may be; end one, or raise "
                    + "‘appsOfUser’ in the configuration of bled")
        }
        if let app { session.restrict(to: app.roles) }
        session.mayPair = app?.mayPair ?? true
        var manifest =
            app?.manifest
            ?? AppManifest(
                app: id, authorization: Self.authorization(hello), showsSystemServices: hello.showsSystemServices)
        manifest.user = connection.peer.user
        // An app that an earlier daemon knew stays in the foreground or background, and one that the system launches
        // for an event is in the background, whatever it says.
        let isLaunchedForEvent = app != nil && lifecycle.apps.place(of: id) == .relaunching
        let isInForeground = places[id] ?? !(hello.startsInBackground || isLaunchedForEvent)
        let now = now
        lifecycle.withApps(at: now) { apps in
            apps.declare(manifest)
            apps.launched(id, inForeground: isInForeground, at: now)
        }
        connection.isLaunched = true
        running[id] = connection
        notePlace(of: id)
        nameUser(of: id)
        session.welcome(lifecycle.apps.launchOptions(of: id), manifest.authorization)
        session.tellTime(lifecycle.apps.remainingTime(of: id, at: now))
        if app == nil, !BackgroundModes(names: hello.backgroundModes).isEmpty {
            session.note(
                "background modes need an installed app (‘bletool app install FILE’): this one is in the foreground while "
                    + "it runs, and what it asks for ends with it")
            configuration.debug("\(id.rawValue) has background modes, but is not installed")
        }
        if isReady { session.controllerIsReady(isExtended: runner.information.usesExtendedCommands) }
    }

    private static func authorization(_ hello: AppGreeting) -> ManagerAuthorization {
        switch hello.authorization {
        case .restricted, .denied: hello.authorization
        case .allowedAlways, .notDetermined: .allowedAlways
        }
    }

    /// The installed app that a program is: the program states its name, its user is the app's, and no other process is
    /// that app.
    private func installedApp(_ name: String, _ connection: Connection) -> InstalledApp? {
        guard let app = installed[AppID(rawValue: name)], app.user.id == connection.peer.user else { return nil }
        let number = connection.peer.process
        // The number may be another's by now: of a program that the user wants the daemon to stop or to kill.
        let descriptor = connection.stream.openPeerProcess()
        guard descriptor >= 0 else { return nil }
        var isTaken = false
        defer { if !isTaken { close(descriptor) } }
        if let other = self.connection(of: app.id) {
            guard other.stream.isPeerGone else { return nil }
            other.stream.close()
            left(other)
        }
        if let process = processes[app.id] {
            let isOfGroup =
                switch process.kind {
                case .group, .cgroup: getpgid(number) == process.number
                case .process, .unit: false
                }
            guard process.number == number || isOfGroup else { return nil }
            wantedLaunches[app.id] = nil
            dying[app.id] = nil
        } else {
            // What runs as the app's user, but not as its unit, is not the app.
            if let unit = app.unit {
                // A user's own manager of services has units of any name; their groups are the user's.
                guard let group = ControlGroup(of: number), group.name == unit, group.isOfSystem else { return nil }
            }
            isTaken = true
            guard let process = AppProcess(number, app.unit == nil ? .process : .unit, descriptor: descriptor) else {
                return nil
            }
            hold(process, of: app.id)
            if process.kind == .process, let limit = app.memoryLimit, !process.limitMemory(limit) {
                configuration.warn(
                    "the memory of ‘\(app.id.rawValue)’ cannot be limited: its process is not this user's")
            }
        }
        return app
    }

    /// Makes a name that is free. The apps of each user are separate, so that no user can take the place of another's
    /// app. A second process of the same program is an app of its own.
    private func freeName(_ identifier: String, of user: UInt32) -> AppID {
        var name = "\(user)/\(identifier)"
        var number = 1
        while let other = connection(of: AppID(rawValue: name)) {
            if other.stream.isPeerGone {
                other.stream.close()
                left(other)
            } else {
                number += 1
                name = "\(user)/\(identifier)#\(number)"
            }
        }
        return AppID(rawValue: name)
    }

    /// An app is no longer connected.
    func ended(_ app: AppID, _ connection: Connection) {
        forget(connection)
        guard installed[app] == nil else { return connectionEnded(of: app) }
        ended(app, .exited)
        release(app, of: connection.peer.user)
    }

    // MARK: How many

    /// Notes the name of an app that is not installed. If there are too many, what those that ended first know of
    /// devices is forgotten.
    /// - Returns: `false` if all of them run.
    private func makeRoom(for id: AppID, of user: UInt32) -> Bool {
        var known = knownApps[user] ?? []
        if let place = known.firstIndex(of: id) {
            known.remove(at: place)
        } else {
            // An earlier daemon may have allowed more.
            while known.count >= configuration.limits.appsOfUser {
                let now = now
                let ended = known.firstIndex { other in
                    lifecycle.withApps(at: now) { $0.release(other, forgettingDevices: true, at: now) }
                }
                guard let ended else {
                    knownApps[user] = known
                    return false
                }
                known.remove(at: ended)
                drain()
            }
        }
        knownApps[user] = known + [id]
        return true
    }

    /// An app that is not installed has ended: unless it has left something, nothing is kept of it.
    private func release(_ id: AppID, of user: UInt32) {
        guard var known = knownApps[user], let place = known.firstIndex(of: id) else { return }
        let now = now
        known.remove(at: place)
        if !lifecycle.withApps(at: now, { $0.release(id, forgettingDevices: false, at: now) }) { known.append(id) }
        knownApps[user] = known.isEmpty ? nil : known
    }

    /// Removes what the daemon knows about a connection, apart from the life of its app.
    func forget(_ connection: Connection) {
        if let app = connection.appID, running[app] === connection { running[app] = nil }
        connection.isLaunched = false
        if connection.pairing != nil {
            connection.pairing = nil
            setPairing()
        }
        partners = partners.mapValues { $0.filter { $0.connection !== connection } }
    }

    func connection(of app: AppID) -> Connection? { running[app] }

    /// Calls `body` with the session of an app if it is connected.
    func withApp(_ app: AppID, _ body: (inout AppSession) -> Void) {
        guard let connection = connection(of: app), connection.app != nil else { return }
        body(&connection.app!)
        look(at: connection)
    }

    // MARK: From apps

    func carryOut(_ output: AppSession.Output, _ connection: Connection) {
        guard let app = connection.appID else { return }
        let now = now
        switch output {
        case .request(let request, let manager, let number):
            if let update = lifecycle.apps.parameterUpdate(of: request, by: app),
                isAtOthersExpense(update, of: connection)
            {
                connection.app?.note("other users' programs serve the same central: its latency was not changed")
            } else if !refuses(request, from: manager, of: connection) {
                lifecycle.withApps(at: now) { $0.receive(request, from: manager, of: app, at: now) }
            }
            if request.makesManager {
                nameUser(of: app)
                if installed[app]?.mayPair == false || sharesPairing(connection) { setPairing() }
            }
            drain()
            connection.app?.taken(number)
        case .returned(let manager, let events, let octets):
            lifecycle.withApps(at: now) {
                $0.returned(events: events, octets: octets, by: manager, of: app, at: now)
            }
            drain()
        case .move(.suspended):
            lifecycle.withApps(at: now) { $0.finished(app, at: now) }
            drain()
            notePlace(of: app)
        case .move(let place): if mayMove(app, to: place) { move(app, to: place) }
        case .tasks(let count):
            lifecycle.withApps(at: now) { $0.setTasks(count, of: app, at: now) }
            drain()
        case .pairing(let options, let asks):
            connection.pairing = options
            connection.asksInPairing = asks
            setPairing()
        case .answer(let question, let answer):
            _ = runner.submit(.security(.answerPairing(question, answer)))
        case .send, .close: break
        }
    }

    /// An installed app that runs because it was woken is in the background: only a person or an operator brings it up.
    /// Otherwise its strikes would end, and no limit of time would apply to it.
    private func mayMove(_ app: AppID, to place: AppMove) -> Bool {
        guard place == .foreground, installed[app] != nil else { return true }
        switch lifecycle.apps.place(of: app) {
        case .foreground, .background: return true
        case .notRunning, .relaunching, .woken, .suspended: return false
        }
    }

    func move(_ app: AppID, to place: AppMove) {
        let now = now
        lifecycle.withApps(at: now) { apps in
            switch place {
            case .foreground: apps.enterForeground(app, at: now)
            case .background: apps.enterBackground(app, at: now)
            case .suspended: apps.suspend(app, at: now)
            }
        }
        drain()
        notePlace(of: app)
        tellTime(of: app)
    }

    /// Tells an app how long it may still run.
    func tellTime(of app: AppID) {
        // One that is suspended is told when it is resumed.
        guard lifecycle.apps.place(of: app) != .suspended else { return }
        let span = lifecycle.apps.remainingTime(of: app, at: now)
        withApp(app) { $0.tellTime(span) }
    }

    // MARK: To apps

    func tell(_ event: ClientEvent, to manager: ManagerID, of app: AppID) {
        if case .discovered(let peripheral, let content, let rssi) = event {
            let recipient = SharedDiscovery.Recipient(
                app: app, manager: manager, identifier: peripheral.identifier, state: peripheral.state)
            return tell(SharedDiscovery(peripheral.name, content, rssi: rssi, for: [recipient]))
        }
        if let connection = connection(of: app) { tell(event, to: manager, connection) }
    }

    private func tell(_ event: ClientEvent, to manager: ManagerID, _ connection: Connection) {
        connection.app?.tell(event, to: manager, waiting: connection.stream.waitingByteCount)
        look(at: connection)
    }

    /// Tells apps of a discovery, of which there may be thousands a second for each of many apps.
    func tell(_ shared: SharedDiscovery) {
        let octets = ClientEvent.approximateOctets(ofDiscovery: shared.content)
        let limit = configuration.limits.waitingOctets
        for (place, recipient) in shared.recipients.enumerated() {
            guard let connection = connection(of: recipient.app, near: place) else { continue }
            guard connection.stream.waitingByteCount <= limit, !connection.isCollecting,
                connection.app?.mayBeTold == true
            else {
                tell(shared.event(for: recipient), to: recipient.manager, connection)
                continue
            }
            connection.app?.count(octets: octets, for: recipient.manager)
            hold(for: connection) { discoveryEncoder.append(shared, to: recipient, into: &$0) }
        }
    }

    /// The connection of an app, which is looked for where that of the latest discovery was: most are for the same
    /// apps.
    private func connection(of app: AppID, near place: Int) -> Connection? {
        if place < latestTold.count, latestTold[place].app == app { return latestTold[place].connection }
        guard let connection = running[app] else { return nil }
        if place < latestTold.count {
            latestTold[place] = (app, connection)
        } else if place == latestTold.count {
            latestTold.append((app, connection))
        }
        return connection
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
