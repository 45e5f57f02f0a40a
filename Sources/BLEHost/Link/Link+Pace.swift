import BLEPackets

/// Parameters that follow what runs on the link.
extension Link {
    /// Begins with the busy parameters, with which the link was made.
    func begin(_ pace: LinkPace?, at now: Instant) {
        guard BuiltIn.pace, role == .central, let pace else { return }
        self.pace = PaceMachine(pace, at: now)
    }

    /// Frames were received or sent.
    @inline(__always)
    func noteTraffic(_ count: Int = 1, at now: Instant, into effects: inout Effects) {
        guard BuiltIn.pace, pace != nil else { return }
        countTraffic(count, at: now, into: &effects)
    }

    private func countTraffic(_ count: Int, at now: Instant, into effects: inout Effects) {
        if let wish = pace?.note(count, interval: parameters.interval, at: now) {
            follow(wish, at: now, into: &effects)
        }
    }

    func advancePace(to now: Instant, into effects: inout Effects) {
        guard BuiltIn.pace else { return }
        if let wish = pace?.advance(to: now) { follow(wish, at: now, into: &effects) }
    }

    private func follow(_ wish: ConnectionParameterRequest, at now: Instant, into effects: inout Effects) {
        guard !isClosing else { return }
        let isInForce =
            wish.interval.contains(parameters.interval) && parameters.peripheralLatency == wish.peripheralLatency
        if isInForce || startOwn(.updateParameters(wish), at: now, into: &effects) {
            pace?.asked()
        } else {
            pace?.postpone(at: now)
        }
    }
}
