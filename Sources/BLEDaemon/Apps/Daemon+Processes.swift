@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEStateFiles
import BLETransport
import FoundationEssentials
import Glibc

/// The processes of installed apps: launched, stopped, resumed, ended (SPEC 5.4, 5.5, BGX-2 to BGX-5, SPR-5, SPR-30).
extension Daemon {
    /// How long a process may take to end after its connection has.
    private static let dyingMicroseconds: UInt64 = 500_000

    // MARK: Launching

    /// - Parameter options: why the system launches it; empty if an operator does.
    /// - Returns: why the launch failed; `nil` if it succeeded.
    @discardableResult
    func launch(_ id: AppID, _ options: LaunchOptions) -> String? {
        guard let app = installed[id] else {
            return "no app ‘\(id.rawValue)’ is installed; see ‘bletool app list’ and ‘bletool app install’"
        }
        guard !app.command.isEmpty || app.unit != nil else {
            return "the manifest of ‘\(id.rawValue)’ names no command and no unit"
        }
        if let running = processes[id] {
            // The process was launched before this daemon, or is ending, or hangs.
            running.resume()
            wantedLaunches[id] = options
            let patience = UInt64(max(0, configuration.lifecycle.relaunchTimeout.rawValue))
            if connection(of: id) == nil, running.silentSince + patience <= loop.nowMicroseconds {
                configuration.warn(
                    "‘\(id.rawValue)’ (process \(running.number)) runs but does not connect: it is ended and launched again"
                )
                running.kill()
            }
            return nil
        }
        let names = (options.centrals + options.peripherals).joined(separator: ", ")
        let reason = names.isEmpty ? "" : " for \(names)"
        do throws(AppProcess.LaunchFailure) {
            if let unit = app.unit {
                try start(unit)
                configuration.log("asked systemd for ‘\(id.rawValue)’, \(unit)\(reason)")
                return nil
            }
            let process = try AppProcess.launch(
                app, socket: configuration.socketPath, groups: configuration.appsGroup, options)
            configuration.log("launched ‘\(id.rawValue)’ as process \(process.number)\(reason)")
            hold(process, of: id)
            return nil
        } catch {
            let reason = launchProblem(app, error.code)
            configuration.warn(reason)
            return reason
        }
    }

    private func launchProblem(_ app: InstalledApp, _ code: Int32) -> String {
        let what = "‘\(app.id.rawValue)’ cannot be launched"
        let reason = unsafe String(cString: strerror(code))
        if app.unit != nil {
            return "\(what): ‘\(configuration.systemctlPath)’: \(reason) (bled --systemctl names another)"
        }
        if code == EPERM, app.user.id != geteuid(), geteuid() != 0 {
            return
                "\(what): only a bled of root starts apps of another user, here ‘\(app.user.name)’; let systemd start it "
                + "(‘unit’), or run bled as root"
        }
        return "\(what): \(reason); check ‘\(app.command.first ?? "")’ and the folder ‘\(app.folder)’, and what "
            + "‘\(app.user.name)’ may do with them"
    }

    /// The unit connects by itself once it runs; systemctl only passes the request on.
    private func start(_ unit: String) throws(AppProcess.LaunchFailure) {
        let systemctl = try AppProcess.startUnit(unit, systemctl: configuration.systemctlPath)
        starting.append(systemctl)
        do throws(TransportError) {
            try systemctl.watch(on: loop) { [weak self, weak systemctl] ending in
                guard let self else { return }
                starting.removeAll { $0 === systemctl }
                switch ending {
                case .exited(0): break
                case .exited(let status):
                    configuration.warn(
                        "systemd does not start \(unit): systemctl ended with status \(status); ‘systemctl start \(unit)’, as "
                            + "the user of bled, says why")
                case .signalled, .unknown: configuration.warn("the request to systemd for \(unit) was interrupted")
                case .notStarted(let code):
                    let reason = unsafe String(cString: strerror(code))
                    configuration.warn("\(unit) was not started: ‘\(configuration.systemctlPath)’: \(reason)")
                }
            }
        } catch {
            configuration.warn("whether systemd accepts \(unit) will not be noticed: \(error)")
        }
    }

    /// Notes which app the process belongs to, and watches for its end.
    func hold(_ process: AppProcess, of id: AppID) {
        processes[id] = process
        do throws(TransportError) {
            try process.watch(on: loop) { [weak self, weak process] ending in
                guard let self, let process, processes[id] === process else { return }
                processEnded(id, ending)
            }
        } catch {
            configuration.warn("the end of ‘\(id.rawValue)’ will not be noticed: \(error)")
        }
        saveProcesses()
    }

    private func processEnded(_ id: AppID, _ ending: AppProcess.Ending) {
        let hasExited = ending.hasExited
        log(ending, of: id)
        processes[id]?.removeGroup()
        processes[id] = nil
        places[id] = nil
        saveProcesses()
        if let connection = connection(of: id) {
            // Its last messages are not read, because it has ended.
            remove(connection)
            ended(id, hasExited ? .exited : .crashed)
        } else if dying.removeValue(forKey: id) != nil {
            ended(id, hasExited ? .exited : .crashed)
        } else if wantedLaunches[id] == nil, lifecycle.apps.place(of: id) == .relaunching {
            // It ended before it connected.
            ended(id, .crashed)
        }
        if let options = wantedLaunches.removeValue(forKey: id) { launch(id, options) }
        pump()
    }

    /// An app that dies at its launch leaves no other trace.
    private func log(_ ending: AppProcess.Ending, of id: AppID) {
        guard let process = processes[id] else { return }
        let name = "‘\(id.rawValue)’ (process \(process.number))"
        switch ending {
        case .exited(0): configuration.log("\(name) ended")
        case .exited(let status): configuration.notice("\(name) ended with status \(status)")
        case .signalled where process.isKilled: configuration.debug("\(name) was ended by this daemon")
        case .signalled(let number): configuration.notice("\(name) was ended by signal \(number)")
        // Without a status: somebody else had started it. It counts as crashed, so that its operations continue.
        case .unknown: configuration.debug("\(name) ended")
        case .notStarted(let code): if let app = installed[id] { configuration.warn(launchProblem(app, code)) }
        }
    }

    /// The connection of an installed app has ended; its process has ended, too, or will.
    func connectionEnded(of id: AppID) {
        guard let process = processes[id] else { return ended(id, .crashed) }
        process.silentSince = loop.nowMicroseconds
        dying[id] = loop.nowMicroseconds + Self.dyingMicroseconds
        armProcesses()
    }

    func ended(_ id: AppID, _ end: ProcessEnd) {
        let now = now
        lifecycle.withApps(at: now) { $0.ended(id, end, at: now) }
    }

    // MARK: Time

    private func armProcesses() {
        if let next = dying.values.min() {
            processDeadline?.set(atMicroseconds: next)
        } else {
            processDeadline?.clear()
        }
    }

    func advanceProcesses() {
        let now = loop.nowMicroseconds
        for id in dying.filter({ $0.value <= now }).keys.sorted() {
            dying[id] = nil
            // The process still runs without a connection.
            ended(id, .crashed)
        }
        armProcesses()
        pump()
    }

    // MARK: Groups

    /// The folder of a cgroup that this process may divide.
    /// - Parameter path: the folder, or `self` for the group of this process.
    /// - Throws: an error that names the path if no group of version 2 is there, or this process may not change it.
    public static func controlGroup(_ path: String) throws -> String {
        let folder = path == "self" ? ControlGroup(of: getpid())?.path : path
        guard let folder else {
            throw InstalledApp.Problem(description: "no cgroup of version 2 is mounted; leave out ‘--cgroup’")
        }
        guard unsafe access(folder + "/cgroup.procs", W_OK) == 0 else {
            throw InstalledApp.Problem(
                description: "‘\(folder)’ is not a cgroup of version 2 that this user may change; name another with "
                    + "‘--cgroup’, or leave it out")
        }
        return folder
    }

    // MARK: Memory

    /// Watches for a shortage of memory, if there are apps that could make room.
    func watchMemory() {
        guard configuration.appsFolder != nil, let path = configuration.memoryPressurePath else { return }
        guard let pressure = MemoryPressure(path: path) else {
            let reason = unsafe String(cString: strerror(errno))
            return configuration.warn(
                "suspended apps will not make room: no reports of memory from ‘\(path)’: \(reason)")
        }
        do throws(TransportError) {
            try pressure.watch(on: loop) { [unowned self] in memoryIsShort() }
            memoryPressure = pressure
        } catch {
            configuration.warn("suspended apps will not make room: \(error)")
        }
    }

    /// Ends the app that has been suspended for the longest time. Managers with restore identifiers continue without it
    /// (SPEC SPR-4, SPR-30). Each report of the kernel ends one app.
    private func memoryIsShort() {
        let stopped = processes.filter { $0.value.isStopped && lifecycle.apps.place(of: $0.key) == .suspended }
        let oldest = stopped.min { ($0.value.stoppedAt ?? 0, $0.key) < ($1.value.stoppedAt ?? 0, $1.key) }
        guard let (id, process) = oldest, let since = process.stoppedAt else {
            return configuration.log("memory is short, and no app is suspended that could make room")
        }
        let seconds = (loop.nowMicroseconds - since) / 1_000_000
        configuration.log("memory is short: ‘\(id.rawValue)’ is ended, suspended for \(seconds) s")
        end(id)
        ended(id, .terminatedBySystem)
        pump()
    }

    // MARK: Stopping and resuming

    func carryOut(_ action: ProcessAction, _ id: AppID) {
        let process = processes[id]
        configuration.debug("‘\(id.rawValue)’: \(action.name)")
        switch action {
        case .expiring: withApp(id) { $0.expiring() }
        case .terminate:
            if process != nil {
                end(id)
            } else {
                withApp(id) { $0.refuse(.terminated, "the app ran for too long in the background, again and again") }
            }
        // A program that is not installed continues to run; its events wait.
        case .resume:
            process?.resume()
            tellTime(of: id)
        case .suspend:
            if let process, !process.stop() {
                configuration.warn("‘\(id.rawValue)’ cannot be stopped: its process belongs to another user")
            }
        case .relaunch(let options): launch(id, options)
        }
        notePlace(of: id)
    }

    /// Records whether an app is in the foreground, for the next start of the daemon.
    func notePlace(of id: AppID) {
        guard processes[id] != nil else { return }
        switch lifecycle.apps.place(of: id) {
        case .foreground: keepPlace(of: id, isInForeground: true)
        case .background, .woken, .suspended: keepPlace(of: id, isInForeground: false)
        // Its process has not connected yet, or not again: it stays where it was.
        case .notRunning, .relaunching: break
        }
    }

    /// Writes a change at once: the daemon may be killed at any moment.
    private func keepPlace(of id: AppID, isInForeground: Bool) {
        guard places[id] != isInForeground else { return }
        places[id] = isInForeground
        saveProcesses()
    }

    // MARK: Across the daemon's lives

    /// Processes that are stopped when the daemon dies would stay stopped for ever; the next daemon finds them in this
    /// file.
    func saveProcesses() {
        guard let path = configuration.processesPath else { return }
        let lines = processes.sorted { $0.key < $1.key }.map { id, process in
            let place = places[id] == true ? "foreground" : "background"
            return "\(process.number) \(process.began) \(process.kind.rawValue) \(place) \(id.rawValue)\n"
        }
        let (folder, name) = OutputPlace.parts(path)
        do throws(StateFileError) {
            try SafeFolder(path: folder, isMade: true).replace(name, with: Array(lines.joined().utf8), isAlone: true)
        } catch {
            configuration.warn("which apps run cannot be written down: \(error)")
        }
    }

    /// Takes over the processes that an earlier daemon launched; they connect by themselves.
    func findProcesses() {
        guard let path = configuration.processesPath, let data = FileManager.default.contents(atPath: path) else {
            return
        }
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 4).map(String.init)
            guard fields.count == 5, let number = Int32(fields[0]), number > 1,
                let kind = AppProcess.Kind(rawValue: fields[2]), let process = AppProcess(number, kind),
                process.began == fields[1]
            else { continue }
            let id = AppID(rawValue: fields[4])
            // Whether it is still installed or not: nothing else would resume it.
            process.resume()
            guard installed[id] != nil, processes[id] == nil else { continue }
            places[id] = fields[3] == "foreground"
            hold(process, of: id)
        }
    }

    func move(_ name: String, to place: AppMove) -> String? {
        let id = AppID(rawValue: name)
        guard installed[id] != nil else {
            return "no app ‘\(name)’ is installed; see ‘bletool app list’ and ‘bletool app install’"
        }
        if connection(of: id) == nil {
            guard place == .foreground else { return "‘\(name)’ does not run; ‘app launch’ starts it" }
            if let problem = launch(id, LaunchOptions()) { return problem }
            // Also if the system has launched it for an event, and it has not greeted yet.
            keepPlace(of: id, isInForeground: true)
            return nil
        }
        move(id, to: place)
        return nil
    }

    func quit(_ id: AppID) -> String? {
        // What is preserved may be left of an app that was installed.
        guard installed[id] != nil || processes[id] != nil || !lifecycle.apps.preserved(of: id).isEmpty else {
            return "no app ‘\(id.rawValue)’ is installed; see ‘bletool app list’ and ‘bletool app install’"
        }
        wantedLaunches[id] = nil
        end(id)
        ended(id, .forceQuit)
        return nil
    }

    /// Ends the process of an app. The life of apps hears of it from the caller.
    private func end(_ id: AppID) {
        dying[id] = nil
        if let connection = connection(of: id) { remove(connection) }
        processes[id]?.kill()
    }

    /// Ends the connection of an app. The life of apps hears of it from the caller.
    func remove(_ connection: Connection) {
        connection.stream.close()
        connections.removeAll { $0 === connection }
        tools[connection.tool.client] = nil
        forget(connection)
    }

    func describe(_ app: InstalledApp) -> AppStatus {
        var told = AppStatus()
        told.identifier = app.id.rawValue
        told.user = app.user.id
        told.process = processes[app.id].map { UInt32($0.number) }
        told.isConnected = connection(of: app.id) != nil
        told.strikes = lifecycle.apps.strikes(of: app.id)
        if app.manifest.backgroundModes.contains(.central) { told.backgroundModes.append("bluetooth-central") }
        if app.manifest.backgroundModes.contains(.peripheral) { told.backgroundModes.append("bluetooth-peripheral") }
        told.place =
            switch lifecycle.apps.place(of: app.id) {
            case .notRunning: .notRunning
            case .relaunching: .relaunching
            case .foreground: .foreground
            case .background: .background
            case .woken: .woken
            case .suspended: .suspended
            }
        return told
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
