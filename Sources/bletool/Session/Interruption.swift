import Glibc
import Synchronization

/// ^C, ^\, SIGTERM and the end of the terminal: the first ends the work cleanly, a later one ends the program at once.
///
/// One wish to end may come as several signals: `timeout` sends its own to the program and to the program's group, and
/// a terminal that closes sends SIGHUP beside what its shell sends. What follows within a moment counts as the same.
///
/// ^Z, the way back from it, and another size of the terminal concern only who draws on it.
///
/// The signals are blocked in every thread and taken by one that waits for them: no code runs in a signal's context.
final class Interruption: Sendable {
    private struct State {
        var requestTime: ContinuousClock.Instant?
        var action: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    /// How long after the first signal others mean the same.
    static let moment = Duration.seconds(1)

    /// How long output may wait for a slow reader after the first signal. It leaves time to release the adapter before
    /// a second signal counts.
    static let outputTimeout = Duration.milliseconds(500)

    /// Blocks the signals. Must be called before there is a second thread, for threads inherit what is blocked.
    func prepare() {
        // Writing to a closed pipe must be an error of the call, not the end of the program.
        signal(SIGPIPE, SIG_IGN)
        var signals = Self.signals
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Receives the signals until the program ends.
    func serve() -> Never {
        var signals = Self.signals
        while true {
            var number: Int32 = 0
            guard unsafe sigwait(&signals, &number) == 0 else {
                pause()
                continue
            }
            switch number {
            case SIGWINCH: TerminalMode.resized()
            case SIGCONT: TerminalMode.resume()
            case SIGTSTP:
                TerminalMode.suspend()
                Self.stop()
                TerminalMode.resume()
            default:
                guard receiveSignal(at: .now) else { continue }
                TerminalMode.end()
                _exit(128 + number)
            }
        }
    }

    /// Stops the program as ^Z does, until it is continued; where no shell could continue it, nothing happens.
    private static func stop() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGTSTP)
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(SIGTSTP)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Handles one signal.
    /// - Returns: whether the program must end at once.
    func receiveSignal(at time: ContinuousClock.Instant) -> Bool {
        if let first = state.withLock({ $0.requestTime }) { return first.duration(to: time) >= Self.moment }
        request(at: time)
        return false
    }

    private static var signals: sigset_t {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH] where !isIgnored(number) {
            unsafe sigaddset(&signals, number)
        }
        return signals
    }

    /// When the work was asked to end; `nil` before.
    var requestTime: ContinuousClock.Instant? { state.withLock { $0.requestTime } }

    /// Sets the action of the first signal; runs it at once if the signal was received already.
    func onRequest(_ action: @escaping @Sendable () -> Void) {
        let isRequested = state.withLock { state in
            state.action = action
            return state.requestTime != nil
        }
        if isRequested { action() }
    }

    /// Ends the work as a signal does.
    func request(at time: ContinuousClock.Instant = .now) {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.requestTime == nil else { return nil }
            state.requestTime = time
            return state.action
        }
        action?()
    }

    /// A shell makes background jobs ignore ^C, and nohup makes them ignore the end of the terminal.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
