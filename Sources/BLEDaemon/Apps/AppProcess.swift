import BLEAppLifecycle
import BLELinux
import BLETransport
import Glibc

/// The process of an installed app: launched by this daemon, or started elsewhere and connected.
///
/// A process descriptor identifies it, because its number may belong to another process after its end.
final class AppProcess {
    let number: Int32
    /// Its start time as /proc reports it; together with the number it identifies the process across a restart of the
    /// daemon.
    let began: String
    /// Whether the daemon launched it, so that it leads its own process group.
    let leadsGroup: Bool
    private let descriptor: Int32
    private var registration: EventLoop.Registration?
    private(set) var isStopped = false

    /// `nil` if there is no such process.
    init?(_ number: Int32, leadsGroup: Bool) {
        let descriptor = clinux_open_process(number)
        guard descriptor >= 0 else { return nil }
        guard let began = Self.beginning(of: number) else {
            close(descriptor)
            return nil
        }
        self.number = number
        self.began = began
        self.leadsGroup = leadsGroup
        self.descriptor = descriptor
    }

    deinit {
        registration?.cancel()
        close(descriptor)
    }

    /// - Parameter ended: called once; `hasExited` says whether the process exited by itself and was not killed by a
    ///   signal.
    func watch(on loop: EventLoop, ended: @escaping (_ hasExited: Bool) -> Void) throws(TransportError) {
        registration = try loop.register(descriptor, for: .readable) { [weak self] _ in
            guard let self else { return }
            registration?.cancel()
            registration = nil
            var status: Int32 = 0
            // A process that is not our child leaves no status; it counts as killed, so that its operations continue.
            ended(unsafe clinux_reap(number, &status) == number && status & 0x7F == 0)
        }
    }

    /// Stops the process until `resume`.
    func stop() {
        guard !isStopped else { return }
        isStopped = true
        signal(SIGSTOP)
    }

    func resume() {
        isStopped = false
        signal(SIGCONT)
    }

    func kill() { signal(SIGKILL) }

    private func signal(_ signal: Int32) {
        // The group may contain helper processes; its number is not reused until the leader has been reaped.
        if leadsGroup, Glibc.kill(-number, signal) == 0 { return }
        _ = clinux_signal_process(descriptor, signal)
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
        return fields.count > 20 ? String(fields[20]) : nil
    }

    /// Starts an installed app.
    /// - Parameters:
    ///   - socket: the path of the daemon's socket.
    ///   - options: why the system launches it.
    /// - Throws: the errno value.
    static func launch(
        _ app: InstalledApp, socket: String, _ options: LaunchOptions
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
        let environment = variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let number = unsafe withStrings(app.command) { arguments in
            unsafe withStrings(environment) { environment in
                unsafe app.user.groups.withUnsafeBufferPointer { groups in
                    var user = unsafe CLinuxUser(
                        isOther: app.user.id == geteuid() ? 0 : 1, user: app.user.id, group: app.user.group,
                        groups: groups.baseAddress, groupCount: groups.count)
                    return unsafe clinux_launch(arguments, environment, app.folder, &user)
                }
            }
        }
        guard number > 0 else { throw LaunchFailure(code: errno) }
        guard let process = AppProcess(number, leadsGroup: true) else { throw LaunchFailure(code: ESRCH) }
        return process
    }

    struct LaunchFailure: Error { let code: Int32 }

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
