import BLEAppLifecycle
import BLEHost
import BLEMessages

/// The processes of installed apps: launched, stopped, resumed, ended (SPEC 5.4, 5.5, BGX-2 to BGX-5, SPR-5, SPR-30).
extension DaemonCore {
    // MARK: Launching

    /// How a launch goes on.
    enum Launch: Equatable {
        /// The app runs already.
        case done
        /// The owner launches it.
        case begun
        case failed(String)
    }

    /// - Parameter options: why the system launches it; empty if an operator does.
    @discardableResult mutating func launch(_ id: AppID, _ options: LaunchOptions) -> Launch {
        guard let app = apps.installed[id] else { return .failed(Self.notInstalled(id.rawValue)) }
        guard !app.command.isEmpty || app.unit != nil else {
            return .failed("the manifest of ‘\(id.rawValue)’ names no command and no unit")
        }
        if let running = processes[id] {
            // The process was launched before this daemon, or is ending, or hangs.
            resume(id)
            processes.wantedLaunches[id] = options
            let patience = UInt64(max(0, rules.lifecycle.relaunchTimeout.rawValue))
            if connection(of: id) == nil, running.silentSince + patience <= microseconds {
                warn(
                    "‘\(id.rawValue)’ (process \(running.facts.number)) runs but does not connect: it is ended and launched again"
                )
                kill(id)
            }
            return .done
        }
        if processes.launching.insert(id).inserted { effects.append(.launch(app, options)) }
        return .begun
    }

    /// Launches an app for an operator.
    /// - Returns: the answer; `nil` if it follows.
    mutating func launch(_ id: AppID, isForeground: Bool, for person: OperatorClient) -> OperatorAnswer? {
        switch launch(id, LaunchOptions()) {
        case .failed(let problem): return answer(problem)
        case .begun:
            person.awaited = .launch(id, isForeground: isForeground)
            return nil
        case .done:
            // Also if the system has launched it for an event, and it has not greeted yet.
            if isForeground { notePlace(of: id, isInForeground: true) }
            return emptyAnswer
        }
    }

    mutating func receive(_ news: ProcessNews, of id: AppID) {
        switch news {
        case .found(let facts, let isInForeground):
            processes.wasInForeground[id] = isInForeground
            hold(facts, of: id)
        case .launched(let facts):
            processes.launching.remove(id)
            hold(facts, of: id)
            completeLaunch(of: id, nil)
        case .requested:
            processes.launching.remove(id)
            completeLaunch(of: id, nil)
        case .notLaunched(let code, let reason):
            processes.launching.remove(id)
            let problem = apps.installed[id].map { launchProblem($0, code, reason) } ?? reason
            warn(problem)
            completeLaunch(of: id, problem)
        case .ended(let ending): processEnded(id, ending)
        case .notStopped:
            processes[id]?.stoppedAt = nil
            warn("‘\(id.rawValue)’ cannot be stopped: its process belongs to another user")
        case .notLimited: warn("the memory of ‘\(id.rawValue)’ cannot be limited: its process is not this user's")
        }
    }

    private static let notPermitted: Int32 = 1

    private func launchProblem(_ app: InstalledApp, _ code: Int32, _ reason: String) -> String {
        let what = "‘\(app.id.rawValue)’ cannot be launched"
        if app.unit != nil { return "\(what): ‘\(rules.systemctlPath)’: \(reason) (bled --systemctl names another)" }
        if code == Self.notPermitted, app.user.id != rules.ownUser, rules.ownUser != 0 {
            return
                "\(what): only a bled of root starts apps of another user, here ‘\(app.user.name)’; let systemd start it "
                + "(‘unit’), or run bled as root"
        }
        return "\(what): \(reason); check ‘\(app.command.first ?? "")’ and the folder ‘\(app.folder)’, and what "
            + "‘\(app.user.name)’ may do with them"
    }

    /// Notes which app the process belongs to.
    mutating func hold(_ facts: ProcessFacts, of id: AppID) {
        processes[id] = ProcessKeeper.Record(facts: facts, silentSince: microseconds)
        saveProcesses()
    }

    private mutating func processEnded(_ id: AppID, _ ending: ProcessEnding) {
        let hasExited = if case .exited = ending { true } else { false }
        log(ending, of: id)
        effects.append(.process(id, .forget))
        processes.forget(id)
        saveProcesses()
        if let connection = connection(of: id) {
            // Its last messages are not read, because it has ended.
            remove(connection)
            ended(id, hasExited ? .exited : .crashed)
        } else if processes.endWaiting(for: id) {
            ended(id, hasExited ? .exited : .crashed)
        } else if processes.wantedLaunches[id] == nil, apps.lifecycle.apps.place(of: id) == .relaunching {
            // It ended before it connected.
            ended(id, .crashed)
        }
        if let options = processes.wantedLaunches.removeValue(forKey: id) { launch(id, options) }
    }

    /// An app that dies at its launch leaves no other trace.
    private mutating func log(_ ending: ProcessEnding, of id: AppID) {
        guard let process = processes[id] else { return }
        let name = "‘\(id.rawValue)’ (process \(process.facts.number))"
        switch ending {
        case .exited(0): log("\(name) ended")
        case .exited(let status): notice("\(name) ended with status \(status)")
        case .signalled where process.isKilled: if isDebugging { debug("\(name) was ended by this daemon") }
        case .signalled(let number): notice("\(name) was ended by signal \(number)")
        // Without a status: somebody else had started it. It counts as crashed, so that its operations continue.
        case .unknown: if isDebugging { debug("\(name) ended") }
        case .notStarted(let code, let reason):
            if let app = apps.installed[id] { warn(launchProblem(app, code, reason)) }
        }
    }

    /// The connection of an installed app has ended; its process has ended, too, or will.
    mutating func connectionEnded(of id: AppID) {
        guard processes[id] != nil else { return ended(id, .crashed) }
        processes.waitForEnd(of: id, at: microseconds)
    }

    mutating func ended(_ id: AppID, _ end: ProcessEnd) {
        let now = now
        apps.lifecycle.withApps(at: now) { $0.ended(id, end, at: now) }
    }

    /// Ends the app that has been suspended for the longest time. Managers with restore identifiers continue without it
    /// (SPEC SPR-4, SPR-30). Each report of the kernel ends one app.
    mutating func memoryIsShort() {
        let stopped = processes.stopped.filter { apps.lifecycle.apps.place(of: $0) == .suspended }
        let oldest = stopped.min { processes[$0]?.stoppedAt ?? 0 < processes[$1]?.stoppedAt ?? 0 }
        guard let id = oldest, let since = processes[id]?.stoppedAt else {
            return log("memory is short, and no app is suspended that could make room")
        }
        let seconds = (microseconds - since) / 1_000_000
        log("memory is short: ‘\(id.rawValue)’ is ended, suspended for \(seconds) s")
        end(id)
        ended(id, .terminatedBySystem)
    }

    // MARK: Stopping and resuming

    mutating func carryOut(_ action: ProcessAction, _ id: AppID) {
        if isDebugging { debug("‘\(id.rawValue)’: \(action.name)") }
        switch action {
        case .expiring: withApp(id) { $0.expiring() }
        case .terminate:
            if processes[id] != nil {
                end(id)
            } else {
                withApp(id) { $0.refuse(.terminated, "the app ran for too long in the background, again and again") }
            }
        // A program that is not installed continues to run; its events wait.
        case .resume:
            if processes[id] != nil { resume(id) }
            sendTime(to: id)
        case .suspend:
            if let process = processes[id], process.stoppedAt == nil {
                let now = microseconds
                processes[id]?.stoppedAt = now
                effects.append(.process(id, .stop))
            }
        case .relaunch(let options): launch(id, options)
        }
        notePlace(of: id)
    }

    private mutating func resume(_ id: AppID) {
        processes[id]?.stoppedAt = nil
        effects.append(.process(id, .resume))
    }

    mutating func kill(_ id: AppID) {
        guard processes[id] != nil else { return }
        processes[id]?.isKilled = true
        effects.append(.process(id, .kill))
    }

    /// Records whether an app is in the foreground, for the next start of the daemon.
    mutating func notePlace(of id: AppID) {
        guard processes[id] != nil else { return }
        switch apps.lifecycle.apps.place(of: id) {
        case .foreground: notePlace(of: id, isInForeground: true)
        case .background, .woken, .suspended: notePlace(of: id, isInForeground: false)
        // Its process has not connected yet, or not again: it stays where it was.
        case .notRunning, .relaunching: break
        }
    }

    /// Writes a change at once: the daemon may be killed at any moment.
    mutating func notePlace(of id: AppID, isInForeground: Bool) {
        guard processes.wasInForeground[id] != isInForeground else { return }
        processes.wasInForeground[id] = isInForeground
        saveProcesses()
    }

    /// Processes that are stopped when the daemon dies would stay stopped for ever; the next daemon finds them in this
    /// list.
    mutating func saveProcesses() { if rules.listsProcesses { effects.append(.saveProcesses(processes.lines)) } }

    // MARK: For operators

    /// - Returns: the answer; `nil` if it follows.
    mutating func move(_ name: String, to place: AppMove, for person: OperatorClient) -> OperatorAnswer? {
        let id = AppID(rawValue: name)
        guard apps.installed[id] != nil else { return answer(Self.notInstalled(name)) }
        if connection(of: id) == nil {
            guard place == .foreground else { return answer("‘\(name)’ does not run; ‘app launch’ starts it") }
            return launch(id, isForeground: true, for: person)
        }
        move(id, to: place)
        return emptyAnswer
    }

    mutating func quit(_ id: AppID) -> String? {
        // What is preserved may be left of an app that was installed.
        guard apps.installed[id] != nil || processes[id] != nil || !apps.lifecycle.apps.preserved(of: id).isEmpty else {
            return Self.notInstalled(id.rawValue)
        }
        processes.wantedLaunches[id] = nil
        end(id)
        ended(id, .forceQuit)
        return nil
    }

    /// Ends the process of an app. The caller reports it to the life of apps.
    private mutating func end(_ id: AppID) {
        processes.endWaiting(for: id)
        if let connection = connection(of: id) { remove(connection) }
        kill(id)
    }

    func describe(_ app: InstalledApp) -> AppStatus {
        var status = AppStatus()
        status.identifier = app.id.rawValue
        status.user = app.user.id
        status.process = processes[app.id].map { UInt32($0.facts.number) }
        status.isConnected = connection(of: app.id) != nil
        status.strikes = apps.lifecycle.apps.strikes(of: app.id)
        if app.manifest.backgroundModes.contains(.central) { status.backgroundModes.append("bluetooth-central") }
        if app.manifest.backgroundModes.contains(.peripheral) { status.backgroundModes.append("bluetooth-peripheral") }
        status.place =
            switch apps.lifecycle.apps.place(of: app.id) {
            case .notRunning: .notRunning
            case .relaunching: .relaunching
            case .foreground: .foreground
            case .background: .background
            case .woken: .woken
            case .suspended: .suspended
            }
        return status
    }
}

extension ProcessAction {
    fileprivate var name: String {
        switch self {
        case .expiring: "its time is nearly over"
        case .terminate: "it is ended"
        case .resume: "it is resumed"
        case .suspend: "it is suspended"
        case .relaunch: "it is launched"
        }
    }
}
