import BLEHost
import BLEPackets

/// Managers: made, restored, released, and the state that they are in (SPEC CEN-1 to CEN-3, PER-1, SPR-1 to SPR-12).
extension AppLifecycle {
    /// What a manager of an app asks for.
    public mutating func receive(_ request: ClientRequest, from manager: ManagerID, of id: AppID, at now: Instant) {
        let app = known(id)
        switch request {
        case .createCentral(let options): create(.central, options, manager, app, at: now)
        case .createPeripheral(let options): create(.peripheral, options, manager, app, at: now)
        default:
            guard let index = index(of: manager, app) else { return log(.wrongManager, app) }
            perform(request, index, at: now)
        }
        finish()
    }

    private mutating func perform(_ request: ClientRequest, _ index: Int, at now: Instant) {
        switch request {
        case .createCentral, .createPeripheral: break
        case .release: drop(index, at: now)
        case .scan, .stopScan, .connect, .cancelConnection, .letGo, .retrievePeripherals,
            .retrieveConnectedPeripherals, .registerForConnectionEvents, .peripheral:
            guard managers[index].role == .central else { return log(.wrongManager, managers[index].app) }
            performCentral(request, index, at: now)
        case .addService, .removeService, .removeAllServices, .startAdvertising, .stopAdvertising, .respond,
            .updateValue, .setConnectionLatency, .publishChannel, .unpublishChannel:
            guard managers[index].role == .peripheral else { return log(.wrongManager, managers[index].app) }
            performPeripheral(request, index, at: now)
        case .channel(let channel, let request):
            perform(request, on: channel, index, at: now)
        }
    }

    // MARK: Making

    private mutating func create(
        _ role: ManagerRole, _ options: ManagerOptions, _ id: ManagerID, _ app: Int, at now: Instant
    ) {
        guard index(of: id, app) == nil else { return log(.wrongManager, app) }
        if !apps[app].hasProcess { launched(apps[app].id, inForeground: true, at: now) }
        let index: Int
        if let identifier = restoreIdentifier(options, role, app) {
            if let kept = managers.firstIndex(where: { $0.isKept(app, role, identifier) }) {
                index = kept
                managers[index].id = id
                managers[index].options = options
                announceRestoration(index)
            } else {
                index = add(role, app, identifier)
                managers[index].id = id
                managers[index].options = options
            }
        } else {
            index = add(role, app, nil)
            managers[index].id = id
            managers[index].options = options
        }
        tellState(index, at: now)
        if options.showsPowerAlert, managers[index].toldState == .poweredOff { raise(.powerOff, app) }
        converge(index, at: now)
        flush(app)
        // An app that counts as suspended, and runs all the same, has made this manager to hear of what waits for it.
        if !managers[index].queue.isEmpty, apps[app].manifest.backgroundModes.contains(BackgroundModes(role)) {
            wake(app, at: now)
        }
    }

    /// The identifier under which a manager is preserved; `nil`, and a line in the log, where it cannot be.
    private mutating func restoreIdentifier(_ options: ManagerOptions, _ role: ManagerRole, _ app: Int) -> String? {
        guard let identifier = options.restoreIdentifier else { return nil }
        guard apps[app].manifest.backgroundModes.contains(BackgroundModes(role)) else {
            log(.restorationWithoutBackgroundMode(role), app)
            return nil
        }
        let isTaken = managers.contains {
            $0.app == app && $0.role == role && $0.restoreIdentifier == identifier && $0.id != nil
        }
        guard !isTaken else {
            log(.duplicateRestoreIdentifier(role, identifier), app)
            return nil
        }
        return identifier
    }

    private mutating func add(_ role: ManagerRole, _ app: Int, _ identifier: String?) -> Int {
        managers.append(
            Manager(
                client: nextClient(), app: app, role: role, restoreIdentifier: identifier,
                queue: ClientEventQueue(
                    eventLimit: settings.queuedEventLimit, octetLimit: settings.queuedOctetLimit),
                room: (settings.unhandledEventLimit, settings.unhandledOctetLimit)))
        return managers.count - 1
    }

    // MARK: State

    func state(_ app: Int) -> ManagerState {
        switch controller {
        case .starting: .unknown
        case .failed: .unsupported
        case .resetting: .resetting
        case .ready:
            apps[app].manifest.authorization != .allowedAlways
                ? .unauthorized : isPowered ? .poweredOn : .poweredOff
        }
    }

    private mutating func tellState(_ index: Int, at now: Instant) {
        guard managers[index].id != nil else { return }
        let state = state(managers[index].app)
        // The first that is told is one that is known.
        guard state != managers[index].toldState, state != .unknown || managers[index].toldState != nil else { return }
        managers[index].toldState = state
        tell(.stateChanged(state, apps[managers[index].app].manifest.authorization), index, at: now)
    }

    /// The controller, or the switch for all of it, is not what it was.
    mutating func stateChanged(at now: Instant) {
        for index in managers.indices {
            let state = state(managers[index].app)
            if state != .unknown, state < .poweredOn {
                if managers[index].id == nil { loseLinks(index) } else { fall(to: state, index) }
            }
            converge(index, at: now)
            tellState(index, at: now)
        }
        needsJournal = true
    }

    /// What a manager loses below `poweredOn` (SPEC 2.3, 2.4). A wish for a connection stands.
    private mutating func fall(to state: ManagerState, _ index: Int) {
        managers[index].central.scan = nil
        for link in managers[index].central.peripherals.compactMap(\.link) {
            submit(.disconnect(link), from: managers[index].client)
        }
        forgetTasks(of: managers[index].client)
        managers[index].central.peripherals.removeAll { $0.link != nil }
        managers[index].queue.removeDiscoveries()
        guard state < .poweredOff else { return }
        managers[index].server.advertisement = nil
        managers[index].server.owesStart = false
        withdrawServices(index)
        closeChannels(of: index)
    }

    /// What is preserved wants its links back.
    private mutating func loseLinks(_ index: Int) {
        for session in managers[index].central.peripherals.indices {
            guard let link = managers[index].central.peripherals[session].link else { continue }
            submit(.disconnect(link), from: managers[index].client)
            managers[index].central.peripherals[session].state = .connecting(nil, notBefore: nil)
        }
    }

    /// The user switches Bluetooth off or on (SPEC SPR-30).
    public mutating func setPower(_ isOn: Bool, at now: Instant) {
        guard isOn != isPowered else { return }
        isPowered = isOn
        for index in apps.indices where !apps[index].hasProcess { apps[index].mayNotRelaunch = true }
        if !isOn {
            for link in links where link.role == .peripheral { submit(.disconnect(link.id), from: Self.system) }
        }
        stateChanged(at: now)
        finish()
    }

    // MARK: Ending

    /// All that a manager wanted ends, and the manager with it.
    mutating func drop(_ index: Int, at now: Instant) {
        let client = managers[index].client
        if let scan = managers[index].central.runningScan { cancel(scan.token) }
        if let wish = managers[index].server.runningAdvertisement { cancel(wish.token) }
        for session in managers[index].central.peripherals {
            switch session.state {
            case .connecting(let token?, _): cancel(token)
            case .connecting: break
            case .connected(let link): submit(.disconnect(link), from: client)
            }
        }
        withdrawServices(index)
        closeChannels(of: index)
        if managers[index].server.isDisabled { submit(.disableServices(nil), from: client) }
        forgetTasks(of: client)
        if let journaled = managers[index].journaled {
            emit(
                .journal(
                    .managerRemoved(journaled.app, journaled.role, restoreIdentifier: journaled.restoreIdentifier)))
        }
        managers.remove(at: index)
    }
}

extension Manager {
    /// Whether it waits for its app under this identifier.
    func isKept(_ app: Int, _ role: ManagerRole, _ identifier: String) -> Bool {
        self.app == app && self.role == role && restoreIdentifier == identifier && id == nil
    }
}
