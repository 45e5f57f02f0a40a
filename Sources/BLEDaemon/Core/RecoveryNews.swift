import BLEHost

/// What the log says of recoveries: links end by them, and nothing else explains why.
struct RecoveryNews {
    /// A controller that hangs again and again has nothing new to say.
    private static let mostLines = 5
    private static let window: UInt64 = 60_000_000

    private var counters = HostCounters()
    private var windowEnd: UInt64 = 0
    private var lines = 0
    private var omitted = 0

    /// The controller is being recovered.
    /// - Parameters:
    ///   - links: how many there are, all of which end.
    ///   - now: in microseconds.
    /// - Returns: the line for the log; `nil`: there were many already.
    mutating func line(of step: RecoveryStep, _ counters: HostCounters, links: Int, at now: UInt64) -> String? {
        let causes = Self.causes(self.counters, counters)
        self.counters = counters
        if now >= windowEnd { (windowEnd, lines) = (now + Self.window, 0) }
        lines += 1
        guard lines <= Self.mostLines else {
            omitted += 1
            return nil
        }
        var text = "the controller is recovered by \(Self.text(of: step))"
        if !causes.isEmpty { text += ", after " + causes.joined(separator: ", ") }
        if links > 0 { text += "; " + (links == 1 ? "its link ends" : "its \(links) links end") }
        if omitted > 0 { text += " (after \(omitted) more recoveries)" }
        omitted = 0
        return text
    }

    private static func text(of step: RecoveryStep) -> String {
        switch step {
        case .reset: "a Reset"
        case .reopenTransport: "closing and opening its transport"
        case .resetDevice: "a reset of its device"
        }
    }

    /// What has gone wrong since the last recovery.
    private static func causes(_ before: HostCounters, _ now: HostCounters) -> [String] {
        let counts: [(UInt64, UInt64, one: String, many: String)] = [
            (before.commandTimeouts, now.commandTimeouts, "a command without an answer", "commands without an answer"),
            (before.hardwareErrors, now.hardwareErrors, "a hardware error", "hardware errors"),
            (before.scanRestarts, now.scanRestarts, "a scan without reports", "scans without reports"),
            (before.stalledLinks, now.stalledLinks, "a link that stalled", "links that stalled"),
            (before.desynchronisations, now.desynchronisations, "a disallowed command", "disallowed commands"),
            (before.malformedPackets, now.malformedPackets, "a malformed packet", "malformed packets"),
        ]
        return counts.compactMap { before, now, one, many in
            let count = now &- before
            return count == 0 ? nil : count == 1 ? one : "\(count) \(many)"
        }
    }
}
