import Synchronization

/// A note about something that others may cause without end: it is printed once a second at most.
final class RareNote: Sendable {
    private let console: Console
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    init(_ console: Console) { self.console = console }

    func print(_ text: String) {
        let isDue = last.withLock { last in
            if let last, last.duration(to: .now) < .seconds(1) { return false }
            last = .now
            return true
        }
        if isDue { console.note(text) }
    }
}
