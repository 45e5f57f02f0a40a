import BLELinux

/// A clock that tests stop and run ahead.
@_spi(VirtualTime)
extension EventLoop {
    /// Whether the clock runs by itself.
    public var isClockRunning: Bool { standstill.load(ordering: .relaxed) == 0 }

    /// Stops the clock where it stands, or lets it run on from there.
    /// - Precondition: called on the loop's thread.
    public func setClockRunning(_ isRunning: Bool) {
        checkOnLoop()
        guard isRunning != isClockRunning else { return }
        let now = nowMicroseconds
        if isRunning {
            lead.store(now &- clinux_boottime_microseconds(), ordering: .relaxed)
            standstill.store(0, ordering: .relaxed)
        } else {
            standstill.store(max(now, 1), ordering: .relaxed)
        }
        confined.deadlinesChanged = true
        armTimer()
    }

    /// Moves the clock to the next deadline and calls its handler; what the handler defers runs after this call.
    /// - Parameter limit: the clock is not moved beyond it, and stands there if no deadline comes before it.
    /// - Returns: whether there was a deadline.
    /// - Precondition: called on the loop's thread.
    public func step(notAfter limit: UInt64) -> Bool {
        checkOnLoop()
        var earliest = UInt64.max
        for deadline in confined.deadlines {
            if let due = deadline.microseconds, due < earliest { earliest = due }
        }
        moveClock(to: min(earliest, limit))
        guard earliest <= limit else { return false }
        fireDeadlines()
        return true
    }

    private func moveClock(to time: UInt64) {
        let now = nowMicroseconds
        guard time > now else { return }
        if isClockRunning {
            lead.add(time - now, ordering: .relaxed)
        } else {
            standstill.store(time, ordering: .relaxed)
        }
        confined.deadlinesChanged = true
    }
}
