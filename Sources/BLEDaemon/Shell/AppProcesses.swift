import BLEAppLifecycle
import BLEStateFiles
import BLETransport
import FoundationEssentials
import Glibc

/// The processes of installed apps, as the daemon launches, signals and watches them.
final class AppProcesses {
    private let configuration: Daemon.Configuration
    private let loop: EventLoop
    /// Only for lookup, or in the order of the names.
    private var processes: [AppID: AppProcess] = [:]
    /// Requests to systemd that have not ended.
    private var starting: [AppProcess] = []
    /// The process that was identified last, and the connection of its program.
    private var identified: (connection: ConnectionID, process: AppProcess)?
    private var memoryPressure: MemoryPressure?
    /// Gets the ends of processes.
    var news: (AppID, ProcessNews) -> Void = { _, _ in }
    /// Gets why systemd does not start a unit.
    var unitFailed: (String) -> Void = { _ in }

    init(_ configuration: Daemon.Configuration, on loop: EventLoop) {
        self.configuration = configuration
        self.loop = loop
    }

    // MARK: Launching

    func launch(_ app: InstalledApp, _ options: LaunchOptions) -> ProcessNews {
        let names = (options.centrals + options.peripherals).joined(separator: ", ")
        let reason = names.isEmpty ? "" : " for \(names)"
        do throws(AppProcess.LaunchFailure) {
            if let unit = app.unit {
                try start(unit)
                configuration.log("asked systemd for ‘\(app.id.rawValue)’, \(unit)\(reason)")
                return .requested
            }
            let process = try AppProcess.launch(
                app, socket: configuration.socketPath, groups: configuration.appsGroup, options)
            configuration.log("launched ‘\(app.id.rawValue)’ as process \(process.facts.number)\(reason)")
            hold(process, app.id)
            return .launched(process.facts)
        } catch { return .notLaunched(error.code, Self.text(error.code)) }
    }

    private static func text(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }

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
                    unitFailed(
                        "systemd does not start \(unit): systemctl ended with status \(status); ‘systemctl start \(unit)’, as "
                            + "the user of bled, says why")
                case .signalled, .unknown: unitFailed("the request to systemd for \(unit) was interrupted")
                case .notStarted(_, let reason):
                    unitFailed("\(unit) was not started: ‘\(configuration.systemctlPath)’: \(reason)")
                }
            }
        } catch { configuration.warn("whether systemd accepts \(unit) will not be noticed: \(error)") }
    }

    /// Watches for the end of an app's process.
    private func hold(_ process: AppProcess, _ app: AppID) {
        processes[app] = process
        do throws(TransportError) {
            try process.watch(on: loop) { [weak self, weak process] ending in
                guard let self, let process, processes[app] === process else { return }
                news(app, .ended(ending))
            }
        } catch { configuration.warn("the end of ‘\(app.rawValue)’ will not be noticed: \(error)") }
    }

    // MARK: Programs that connect

    /// Finds out which process a program is that greeted as an installed app. Its number may be another's by now: of a
    /// program that the user wants the daemon to stop or to kill.
    func identify(_ connection: ConnectionID, _ stream: ByteStream, unit: String?) -> PeerProcess? {
        identified = nil
        let descriptor = stream.openPeerProcess()
        guard descriptor >= 0, let number = stream.peer?.process else { return nil }
        // A user's own manager of services has units of any name; their groups are the user's.
        let group = unit == nil ? nil : ControlGroup(of: number)
        let isOfUnit = group.map { $0.name == unit && $0.isOfSystem } ?? false
        var answer = PeerProcess(group: getpgid(number), isOfUnit: isOfUnit, facts: nil)
        if let process = AppProcess(number, unit == nil ? .process : .unit, descriptor: descriptor) {
            identified = (connection, process)
            answer.facts = process.facts
        }
        return answer
    }

    /// The process of a connection is an app's.
    func hold(_ connection: ConnectionID, as app: AppID) {
        guard let (owner, process) = identified.take(), owner == connection else { return }
        hold(process, app)
    }

    // MARK: Orders

    func carryOut(_ order: ProcessOrder, _ app: AppID) -> ProcessNews? {
        guard let process = processes[app] else { return nil }
        switch order {
        case .stop: return process.stop() ? nil : .notStopped
        case .resume: process.resume()
        case .kill: process.kill()
        case .forget:
            process.removeGroup()
            processes[app] = nil
        case .release:
            process.unwatch()
            processes[app] = nil
        case .limitMemory(let octets): return process.limitMemory(octets) ? nil : .notLimited
        }
        return nil
    }

    /// Ends the process of an app that is removed.
    /// - Returns: its number, and whether it ends; `nil` if it has none.
    func kill(_ app: AppID) -> (Int32?, Bool?) {
        guard let process = processes[app] else { return (nil, nil) }
        return (process.facts.number, process.kill())
    }

    /// Ends watching: the processes outlive the loop, in which nothing may be cancelled afterwards.
    func unwatchAll() {
        for id in processes.keys.sorted() { processes[id]?.unwatch() }
        for process in starting { process.unwatch() }
    }

    // MARK: Across the daemon's lives

    /// Writes the list of processes.
    func save(_ lines: String) {
        guard let path = configuration.processesPath else { return }
        let (folder, name) = OutputPlace.parts(path)
        do throws(StateFileError) {
            try SafeFolder(path: folder, isMade: true).replace(name, with: Array(lines.utf8), isAlone: true)
        } catch { configuration.warn("which apps run cannot be written down: \(error)") }
    }

    /// Takes over the processes that an earlier daemon launched; they connect by themselves.
    func find(_ installed: InstalledApps) -> [(AppID, ProcessNews)] {
        guard let path = configuration.processesPath, let data = FileManager.default.contents(atPath: path) else {
            return []
        }
        var found: [(AppID, ProcessNews)] = []
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 4).map(String.init)
            guard fields.count == 5, let number = Int32(fields[0]), number > 1,
                let kind = ProcessKind(rawValue: fields[2]), let process = AppProcess(number, kind),
                process.facts.began == fields[1]
            else { continue }
            let id = AppID(rawValue: fields[4])
            // Whether it is still installed or not: nothing else would resume it.
            process.resume()
            guard installed[id] != nil, processes[id] == nil else { continue }
            hold(process, id)
            found.append((id, .found(process.facts, isInForeground: fields[3] == "foreground")))
        }
        return found
    }

    // MARK: Memory

    /// Watches for a shortage of memory, if there are apps that could make room.
    func watchMemory(isShort: @escaping () -> Void) {
        guard configuration.appsFolder != nil, let path = configuration.memoryPressurePath else { return }
        guard let pressure = MemoryPressure(path: path) else {
            return configuration.warn(
                "suspended apps will not make room: no reports of memory from ‘\(path)’: \(Self.text(errno))")
        }
        do throws(TransportError) {
            try pressure.watch(on: loop, report: isShort)
            memoryPressure = pressure
        } catch { configuration.warn("suspended apps will not make room: \(error)") }
    }

    func ignoreMemory() { memoryPressure?.cancel() }
}

extension Daemon {
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
}
