import Glibc

/// The signals that tell a service what to do. It waits for them on one thread, while it works on others.
package struct ServiceSignals {
    private var signals = sigset_t()

    /// Blocks the signals: threads that begin afterwards inherit that, and only `next` gets them.
    package init(_ numbers: Int32...) {
        unsafe sigemptyset(&signals)
        for number in numbers { unsafe sigaddset(&signals, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Waits for the next one.
    package mutating func next() -> Int32 {
        var signal: Int32 = 0
        while unsafe sigwait(&signals, &signal) != 0 {}
        return signal
    }
}
