import Glibc
import Synchronization

/// ^C, SIGTERM and the end of the terminal: the first ends the work cleanly, the second ends the program at once.
///
/// The signals are blocked in every thread and taken by one that waits for them: no code runs in a signal's context.
final class Interruption: Sendable {
    private struct State {
        var isRequested = false
        var action: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// Blocks the signals. Must be called before there is a second thread, for threads inherit what is blocked.
    func prepare() {
        // Writing to a reader that left is an error of the write, no reason to die in the middle of it.
        signal(SIGPIPE, SIG_IGN)
        var signals = Self.signals
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Takes the signals for as long as the program lives.
    func serve() -> Never {
        var signals = Self.signals
        while true {
            var number: Int32 = 0
            guard sigwait(&signals, &number) == 0 else {
                pause()
                continue
            }
            if isRequested { _exit(128 + number) }
            request()
        }
    }

    private static var signals: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) { sigaddset(&signals, number) }
        return signals
    }

    /// What the first signal does; at once, if it came already.
    func onRequest(_ action: @escaping @Sendable () -> Void) {
        let isRequested = state.withLock { state in
            state.action = action
            return state.isRequested
        }
        if isRequested { action() }
    }

    /// Whether an end was asked for.
    var isRequested: Bool { state.withLock { $0.isRequested } }

    /// Ends the work as a signal does.
    func request() {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isRequested else { return nil }
            state.isRequested = true
            return state.action
        }
        action?()
    }

    /// A shell that starts a job in the background lets it ignore ^C, and nohup the end of the terminal.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
