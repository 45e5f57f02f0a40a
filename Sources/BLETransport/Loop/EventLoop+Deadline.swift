import BLELinux

extension EventLoop {
    /// One point in time at which a handler runs. Used on the loop's thread only.
    ///
    /// All deadlines share one kernel timer, armed for the earliest right before the thread sleeps: moving a deadline
    /// back and forth while packets are handled costs no system call. One that only moves away a little, as that of
    /// each next request does, leaves the timer as it is: it then fires a little early, and is armed again.
    public final class Deadline {
        private let loop: EventLoop
        let handler: () -> Void

        /// Microseconds on the loop's clock; `nil` while none is set.
        public private(set) var microseconds: UInt64?

        init(loop: EventLoop, handler: @escaping () -> Void) {
            self.loop = loop
            self.handler = handler
        }

        /// Sets the time and replaces the previous one. A time in the past is due at once, but never within this call.
        /// - Parameter microseconds: absolute, on the loop's clock.
        public func set(atMicroseconds microseconds: UInt64) {
            loop.checkOnLoop()
            guard self.microseconds != microseconds else { return }
            self.microseconds = microseconds
            loop.confined.deadlinesChanged = true
        }

        /// Removes the time: the handler is not called.
        public func clear() {
            loop.checkOnLoop()
            guard microseconds != nil else { return }
            microseconds = nil
            loop.confined.deadlinesChanged = true
        }

        /// Clears the deadline and lets the loop forget it.
        public func cancel() {
            clear()
            loop.confined.deadlines.removeAll { $0 === self }
        }

        func isDue(at now: UInt64) -> Bool { microseconds.map { $0 <= now } ?? false }

        /// Takes the time away if it has come; the caller then runs the handler.
        func clearIfDue(at now: UInt64) -> Bool {
            guard isDue(at: now) else { return false }
            microseconds = nil
            return true
        }
    }

    /// Creates a deadline without a time. The loop keeps it until it is cancelled.
    /// - Parameter handler: runs on the loop once each time the deadline is due.
    /// - Precondition: called on the loop's thread, or before `start()`.
    public func makeDeadline(handler: @escaping () -> Void) -> Deadline {
        checkOnLoop()
        let deadline = Deadline(loop: self, handler: handler)
        confined.deadlines.append(deadline)
        return deadline
    }

    /// The timer may fire early by this part of its time.
    private static let earlyPart: UInt64 = 32

    func armTimer() {
        guard confined.deadlinesChanged else { return }
        confined.deadlinesChanged = false
        var earliest = UInt64.max
        for deadline in confined.deadlines {
            if let due = deadline.microseconds, due < earliest { earliest = due }
        }
        // Zero disarms the kernel's timer; it is never a time of the clock.
        let isStopped = standstill.load(ordering: .relaxed) != 0
        let lead = lead.load(ordering: .relaxed)
        let wanted = earliest == .max || isStopped ? 0 : max(earliest > lead ? earliest - lead : 0, 1)
        let armed = confined.armedDeadline
        guard wanted != armed else { return }
        if armed != 0, armed < wanted {
            let now = clinux_boottime_microseconds()
            if armed > now, wanted - armed <= (armed - now) / EventLoop.earlyPart { return }
        }
        confined.armedDeadline = wanted
        _ = clinux_timerfd_set_microseconds(timer, wanted)
    }
}
