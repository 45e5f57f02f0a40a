import BLEPackets

/// Parameters that follow what runs on the link.
extension Link {
    /// Begins with the busy parameters, with which the link was made.
    func begin(_ pace: LinkPace?, at now: Instant) {
        guard Features.pace, role == .central, let pace else { return }
        self.pace = PaceMachine(pace, at: now)
    }

    /// Frames were received or sent.
    @inline(__always)
    func recordTraffic(_ count: Int = 1, into effects: inout Effects) {
        guard Features.pace, pace != nil else { return }
        countTraffic(count, into: &effects)
    }

    private func countTraffic(_ count: Int, into effects: inout Effects) {
        if let wish = pace?.countTraffic(count, interval: parameters.interval, at: effects.now) {
            follow(wish, into: &effects)
        }
    }

    func advancePace(into effects: inout Effects) {
        guard Features.pace else { return }
        if let wish = pace?.advance(to: effects.now) { follow(wish, into: &effects) }
    }

    private func follow(_ wish: ConnectionParameterRequest, into effects: inout Effects) {
        guard !isClosing else { return }
        let isInForce =
            wish.interval.contains(parameters.interval) && parameters.peripheralLatency == wish.peripheralLatency
        if isInForce || startOwn(.updateParameters(wish), into: &effects) {
            pace?.asked()
        } else {
            pace?.postpone(at: effects.now)
        }
    }
}
