import BLEAppLifecycle
import BLELinux
import BLETransport
import FoundationEssentials
import Glibc

/// The process of an installed app: launched by this daemon, or started elsewhere and connected.
///
/// A process descriptor identifies it, because its number may belong to another process after its end.
package final class AppProcess {
    /// They identify the process across a restart of the daemon.
    let facts: ProcessFacts
    private var number: Int32 { facts.number }
    private let group: ControlGroup?
    private let descriptor: Int32
    private var registration: EventLoop.Registration?
    private var isStopped = false
    /// Why its program could not be started, if that was not known at once; negative without such an answer.
    private var answer: Int32 = -1

    /// - Parameters:
    ///   - descriptor: an open descriptor of the process, which is taken over; `nil`: one is opened.
    ///   - group: its cgroup, if that is known; otherwise it is the one in which the process is now.
    /// - Returns: `nil` if there is no such process.
    init?(_ number: Int32, _ kind: ProcessKind, descriptor: Int32? = nil, group: ControlGroup? = nil) {
        let descriptor = descriptor ?? clinux_open_process(number)
        guard descriptor >= 0 else { return nil }
        // What /proc says is about this process only if it has not ended since.
        guard let began = Self.beginning(of: number), clinux_signal_process(descriptor, 0) == 0 || errno == EPERM else {
            close(descriptor)
            return nil
        }
        facts = ProcessFacts(number: number, began: began, kind: kind)
        self.descriptor = descriptor
        self.group =
            switch kind {
            case .cgroup, .unit: group ?? ControlGroup(of: number)
            case .process, .group: nil
            }
    }

    deinit {
        registration?.cancel()
        close(descriptor)
        if answer >= 0 { close(answer) }
    }

    /// - Parameter ended: called once.
    func watch(on loop: EventLoop, ended: @escaping (ProcessEnding) -> Void) throws(TransportError) {
        registration = try loop.register(descriptor, for: .readable) { [weak self] _ in
            guard let self else { return }
            unwatch()
            var status: Int32 = 0
            let isOurs = unsafe clinux_reap(number, &status) == number
            let failure = answer < 0 ? 0 : clinux_launch_failure(answer)
            answer = -1
            if failure != 0 { return ended(.notStarted(failure, unsafe String(cString: strerror(failure)))) }
            guard isOurs else { return ended(.unknown) }
            let signal = status & 0x7F
            ended(signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal))
        }
    }

    /// Ends watching; only on the loop's own thread.
    func unwatch() {
        registration?.cancel()
        registration = nil
    }

    /// Stops the process until `resume`.
    /// - Returns: whether it stopped; not if it belongs to a user whom this daemon must not signal.
    func stop() -> Bool {
        if isStopped { return true }
        // Nobody could resume this process; an app in it is a test's.
        guard number != getpid() else { return false }
        guard group?.setFrozen(true) ?? false || signal(SIGSTOP) else { return false }
        isStopped = true
        return true
    }

    func resume() {
        isStopped = false
        _ = group?.setFrozen(false)
        _ = signal(SIGCONT)
    }

    /// - Returns: whether it ends; not if it belongs to a user whom this daemon must not signal.
    @discardableResult func kill() -> Bool {
        let isGroupEnded = group?.kill() ?? false
        return signal(SIGKILL) || isGroupEnded || errno == ESRCH
    }

    /// Ends what the app has left behind, after the end of its process.
    func removeGroup() {
        guard let group else { return }
        // A unit's group may outlive the process; frozen, it would hold the next one.
        if isStopped { _ = group.setFrozen(false) }
        guard facts.kind == .cgroup else { return }
        _ = group.kill()
        group.remove()
    }

    /// Limits the data of a process that was started elsewhere.
    /// - Returns: whether the kernel accepted it.
    func limitMemory(_ octets: UInt64) -> Bool { clinux_limit_data(number, octets) == 0 }

    private func signal(_ signal: Int32) -> Bool {
        // The group may contain helper processes; its number is not reused until the leader has been reaped.
        if facts.kind == .group || facts.kind == .cgroup, Glibc.kill(-number, signal) == 0 { return true }
        return clinux_signal_process(descriptor, signal) == 0
    }

    private static func beginning(of process: Int32) -> String? {
        guard let file = unsafe fopen("/proc/\(process)/stat", "r") else { return nil }
        defer { unsafe fclose(file) }
        var line = [CChar](repeating: 0, count: 1024)
        guard unsafe fgets(&line, Int32(line.count), file) != nil else { return nil }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // The name, in parentheses, may hold anything; what follows is fields 3 and up.
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[end...].split(separator: " ")
        return fields.count > 20 ? "\(fields[20])@\(boot)" : nil
    }

    /// Identifies the start of the machine.
    private static let boot: String = {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        return text.map { $0.filter { $0 != "\n" } } ?? ""
    }()

    /// Starts an installed app.
    /// - Parameters:
    ///   - socket: the path of the daemon's socket.
    ///   - groups: the cgroup in which the app gets a group of its own; `nil`: it gets none.
    ///   - options: why the system launches it.
    /// - Throws: the errno value.
    static func launch(
        _ app: InstalledApp, socket: String, groups: String?, _ options: LaunchOptions
    ) throws(LaunchFailure) -> AppProcess {
        var variables = [
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": app.user.home,
            "USER": app.user.name, "LOGNAME": app.user.name,
        ]
        variables.merge(app.environment) { $1 }
        variables["JELLING_SOCKET"] = socket
        variables["JELLING_APP"] = app.id.rawValue
        if !options.centrals.isEmpty { variables["CB_LAUNCH_CENTRALS"] = options.centrals.joined(separator: ",") }
        if !options.peripherals.isEmpty {
            variables["CB_LAUNCH_PERIPHERALS"] = options.peripherals.joined(separator: ",")
        }
        let group = groups.flatMap { ControlGroup.make(for: app.id.rawValue, in: $0) }
        let isLimited = group?.limitMemory(app.memoryLimit) ?? false
        let processes = group?.openProcesses() ?? -1
        defer { if processes >= 0 { close(processes) } }
        // Only root can change its groups; any other daemon launches apps of its own user.
        let user = geteuid() == 0 || app.user.id != geteuid() ? app.user : nil
        let (number, answer) = try start(
            app.command, variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }, in: app.folder, as: user,
            group: processes, data: isLimited ? 0 : app.memoryLimit ?? 0)
        // On a busy machine it may not have joined its cgroup yet: it would seem to be in this process's own.
        guard let process = AppProcess(number, processes >= 0 ? .cgroup : .group, group: group) else {
            if answer >= 0 { close(answer) }
            throw LaunchFailure(code: ESRCH)
        }
        process.answer = answer
        return process
    }

    /// Asks systemd to start a unit.
    /// - Parameter systemctl: the path of the program.
    /// - Returns: the process of systemctl, which ends at once.
    static func startUnit(_ unit: String, systemctl: String) throws(LaunchFailure) -> AppProcess {
        try start([systemctl, "start", "--no-block", "--", unit])
    }

    /// Starts a program of the daemon's own.
    static func start(_ command: [String]) throws(LaunchFailure) -> AppProcess {
        let (number, answer) = try start(
            command, ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"], in: "/", as: nil, group: -1,
            data: 0)
        guard let process = AppProcess(number, .group) else {
            if answer >= 0 { close(answer) }
            throw LaunchFailure(code: ESRCH)
        }
        process.answer = answer
        return process
    }

    struct LaunchFailure: Error { let code: Int32 }

    /// How long the daemon waits to hear whether a program could be started. Later it hears of it when the process
    /// ends.
    private static let patienceMilliseconds: Int32 = 100

    private static func start(
        _ command: [String], _ environment: [String], in folder: String, as user: Accounts.User?, group: Int32,
        data: UInt64
    ) throws(LaunchFailure) -> (number: Int32, answer: Int32) {
        var answer: Int32 = -1
        let number = unsafe withStrings(command) { arguments in
            unsafe withStrings(environment) { environment in
                unsafe (user?.groups ?? []).withUnsafeBufferPointer { groups in
                    var user = unsafe CLinuxUser(
                        isSet: user == nil ? 0 : 1, user: user?.id ?? 0, group: user?.group ?? 0,
                        groups: groups.baseAddress, groupCount: groups.count)
                    return unsafe clinux_launch(
                        arguments, environment, folder, &user, group, data, patienceMilliseconds, &answer)
                }
            }
        }
        guard number > 0 else { throw LaunchFailure(code: errno) }
        return (number, answer)
    }

    private static func withStrings<Value>(
        _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value
    ) -> Value {
        var pointers = unsafe strings.map { unsafe UnsafePointer(strdup($0)) }
        unsafe pointers.append(nil)
        defer {
            for place in unsafe pointers.indices { unsafe free(UnsafeMutableRawPointer(mutating: pointers[place])) }
        }
        return unsafe pointers.withUnsafeBufferPointer { list in
            // The list is never empty, so it has a base address.
            unsafe body(list.baseAddress!)
        }
    }
}
