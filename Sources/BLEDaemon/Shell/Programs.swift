import BLELinux
import BLEMessages
import BLETransport
import FoundationEssentials

/// The streams to connected programs, and what the core asks about programs and the machine.
final class Programs: DaemonLookups {
    private final class Program {
        let stream: ByteStream
        /// Whether it is in one of the lists.
        var isListed = false

        init(_ stream: ByteStream) { self.stream = stream }
    }

    /// Only for lookup.
    private var programs: [ConnectionID: Program] = [:]
    private var last = ConnectionID(rawValue: 0)
    /// The programs for which octets were written since the last report to the core.
    private var unreported: [ConnectionID] = []
    /// Those with octets that the kernel gets before the loop waits again.
    private var unsent: [ConnectionID] = []
    private var wakeUps: UInt64 = 0
    private let loop: EventLoop
    private let configuration: Daemon.Configuration
    /// When memory is given back that programs needed which have left, several of them together.
    private var trimming: EventLoop.Deadline?
    /// How long after the first of them has left, in microseconds.
    private static let trimPause: UInt64 = 1_000_000
    /// Reads what is kept of the controller's traits.
    var readLearned: () -> DaemonStatus.Learned? = { nil }

    init(_ configuration: Daemon.Configuration, on loop: EventLoop) {
        self.configuration = configuration
        self.loop = loop
    }

    subscript(id: ConnectionID) -> ByteStream? { programs[id]?.stream }

    func nextID() -> ConnectionID {
        last = last.next
        return last
    }

    func add(_ stream: ByteStream, _ id: ConnectionID) { programs[id] = Program(stream) }

    func remove(_ id: ConnectionID) {
        programs[id] = nil
        let trimming = trimming ?? loop.makeDeadline { malloc_trim(0) }
        self.trimming = trimming
        if trimming.microseconds == nil { trimming.set(atMicroseconds: loop.nowMicroseconds + Self.trimPause) }
    }

    /// Releases the timer of the loop, after the end.
    func shutDown() {
        trimming?.cancel()
        trimming = nil
    }

    // MARK: Sending

    func send(_ octets: RawSpan, to id: ConnectionID) {
        guard let program = programs[id] else { return }
        program.stream.send(octets)
        list(program, id)
    }

    /// The kernel has taken octets for a program.
    func wrote(_ id: ConnectionID) { if let program = programs[id] { list(program, id) } }

    private func list(_ program: Program, _ id: ConnectionID) {
        guard !program.isListed else { return }
        program.isListed = true
        unreported.append(id)
    }

    /// Tells the core how far the octets of programs are.
    func report(to core: inout DaemonCore) {
        if !unsent.isEmpty, loop.wakeUpCount != wakeUps {
            unreported += unsent
            unsent.removeAll(keepingCapacity: true)
        }
        guard !unreported.isEmpty else { return }
        wakeUps = loop.wakeUpCount
        for id in unreported {
            guard let program = programs[id] else { continue }
            let (stream, refused) = (program.stream, program.stream.refusedByteCount)
            let waiting = stream.waitingByteCount
            core.apply(.wrote(id, taken: stream.takenByteCount, refused: refused, waiting: waiting), at: core.now)
            program.isListed = waiting != refused
            if waiting != refused { unsent.append(id) }
        }
        unreported.removeAll(keepingCapacity: true)
    }

    // MARK: Lookups

    func isPeerGone(_ connection: ConnectionID) -> Bool { programs[connection]?.stream.isPeerGone ?? true }

    /// The name of a program as the kernel keeps it; it may contain anything.
    func programName(of process: Int32) -> String {
        guard let name = FileManager.default.contents(atPath: "/proc/\(process)/comm") else { return "a program" }
        return String(decoding: name.filter { $0 != 0x0A }, as: UTF8.self)
    }

    func groups(of user: UInt32) -> [UInt32] { Accounts.user(user)?.groups ?? [] }
    func hasAdapter(_ name: String) -> Bool { configuration.adapters.has(name) }
    func isLogged(_ level: DaemonSettings.LogLevel) -> Bool { configuration.isLogged(level) }
    var learned: DaemonStatus.Learned? { readLearned() }
}
