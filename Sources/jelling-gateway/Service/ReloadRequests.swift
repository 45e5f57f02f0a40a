import Dispatch
import Glibc
import Synchronization

/// What asks for the settings to be read again: changes of files, and SIGHUP. It begins to watch before the settings are
/// read for the first time, so that nothing is missed.
final class ReloadRequests: Sendable {
    /// SIGHUP is `true`.
    let requests: AsyncStream<Bool>
    private let continuation: AsyncStream<Bool>.Continuation
    /// By path.
    private let watches: Mutex<[String: FileWatch]>
    private let settings: String?
    /// Only kept.
    private let hangUps: Mutex<(any DispatchSourceSignal)?>

    private static let pause = Duration.milliseconds(500)
    /// A program may write a file in several steps: it is read when it has not changed for this time.
    private static let rest = Duration.milliseconds(150)
    /// How often a file that changes all the time is waited for.
    private static let mostRests = 20

    /// - Parameter settings: the settings file; `nil`: none, and SIGHUP ends the program, as a terminal that is closed
    ///   should.
    init(settings: String?) {
        let (requests, continuation) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingNewest(2))
        self.requests = requests
        self.continuation = continuation
        watches = Mutex(settings.map { [$0: FileWatch($0)] } ?? [:])
        self.settings = settings
        guard settings != nil else {
            hangUps = Mutex(nil)
            return
        }
        signal(SIGHUP, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGHUP)
        source.setEventHandler { continuation.yield(true) }
        source.activate()
        hangUps = Mutex(source)
    }

    /// Watches these files besides that of the settings, and no others.
    func watch(_ paths: [String]) {
        watches.withLock { watches in
            let wanted = paths + (settings.map { [$0] } ?? [])
            watches = watches.filter { wanted.contains($0.key) }
            for path in wanted where watches[path] == nil { watches[path] = FileWatch(path) }
        }
    }

    /// Asks for the settings to be read again, with everything that belongs to them.
    func ask() { continuation.yield(false) }

    /// Looks at the files twice a second until the task is cancelled.
    ///
    /// The system's notifications would not come for what a link leads to, for folders that appear later, and for files
    /// that another machine writes.
    func look() async {
        while !Task.isCancelled {
            if hasChanged() {
                for _ in 0..<Self.mostRests {
                    try? await Task.sleep(for: Self.rest)
                    guard hasChanged() else { break }
                }
                continuation.yield(false)
            }
            try? await Task.sleep(for: Self.pause)
        }
    }

    private func hasChanged() -> Bool {
        // Each is asked, so that one change is not noticed twice.
        watches.withLock { $0 }.values.map { $0.hasChanged() }.contains(true)
    }
}
