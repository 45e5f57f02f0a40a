import Synchronization

/// Shows on a terminal what is waited for, if that takes long.
final class LateNote: Sendable {
    /// A controller that works has started or answered by then.
    private static let patience = Duration.seconds(1)

    private enum State { case waiting, shown, ended }
    private let console: Console
    private let state: Holder
    private let delay: Task<Void, any Error>?

    private final class Holder: Sendable { let state = Mutex(State.waiting) }

    init(_ text: String, on console: Console) {
        let holder = Holder()
        self.console = console
        state = holder
        guard console.showsProgress else {
            delay = nil
            return
        }
        delay = Task {
            try await Task.sleep(for: Self.patience)
            holder.state.withLock { state in
                guard state == .waiting else { return }
                state = .shown
                console.showProgress("\(text) …")
            }
        }
    }

    /// Nothing is waited for any more.
    func end() {
        delay?.cancel()
        state.state.withLock { state in
            if state == .shown { console.showProgress("") }
            state = .ended
        }
    }
}
