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

    /// Must be called before any thread exists, for threads inherit what is blocked.
    func start() {
        // Writing to a reader that left is an error of the write, no reason to die in the middle of it.
        signal(SIGPIPE, SIG_IGN)
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP] where !Self.isIgnored(number) { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let waiting = signals
        let context = Unmanaged.passRetained(Waiter(signals: waiting, interruption: self))
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Waiter>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        pthread_detach(thread)
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

    private final class Waiter: Sendable {
        let signals: sigset_t
        let interruption: Interruption

        init(signals: sigset_t, interruption: Interruption) {
            self.signals = signals
            self.interruption = interruption
        }

        func run() {
            var signals = signals
            var number: Int32 = 0
            while sigwait(&signals, &number) == 0 {
                if interruption.isRequested { _exit(128 + number) }
                interruption.request()
            }
        }
    }
}
