import BLEPackets

/// A key of the peer that came before the controller's report that the link is encrypted. Data and events may come over
/// different pipes, as with USB adapters (Core 5.4, Vol 4, Part B, 2.1): 10 ms between them have been measured.
///
/// Whether such a key was encrypted is decided by when it came. Before the report the link layers exchange LL_ENC_RSP,
/// LL_START_ENC_REQ and LL_START_ENC_RSP, and data that come unencrypted after the first of them, or before them but
/// after LL_ENC_REQ from a central, end the link (Core 5.4, Vol 6, Part B, 5.1.3.1). A controller answers such a PDU at
/// a later connection event, so whatever the peer does, ours makes one interval pass between a key in the clear and the
/// report, but for the length of an event. To change a key takes longer still, because encryption is paused first
/// (5.1.3.2).
///
/// Peripheral latency does not lengthen that time: it permits a peripheral to skip events, and an attacker need not. A
/// subrate does not either, as data end it for a while. So only the interval counts, and the shorter one if it has
/// changed in between.
///
/// Some controllers report so late that this proves nothing (zephyr#22086 waits for 100 ms). There is no other proof:
/// within several intervals an attacker could have sent the key in the clear. Where the association model protects
/// against nobody who can send on the link (Core 5.4, Vol 3, Part H, 2.3.5.1), and the link was not encrypted before,
/// such an attacker could have taken the place of the peer from the first PDU on, and gains nothing by a key. There a
/// controller that is known for this gets longer. Everywhere else the proof is required.
struct EarlyKey {
    /// When it came.
    var time: Instant
    /// The connection interval of the link at that time.
    var interval: Microseconds

    /// The shortest connection interval (Core 5.4, Vol 6, Part B, 4.5.1).
    static let leastInterval = Microseconds(ConnectionInterval.least)

    /// How long a key waits that needs no proof: some intervals, within limits.
    private static let patientIntervals: Int64 = 4
    private static let leastPatience: Microseconds = .milliseconds(20)
    private static let longestPatience: Microseconds = .milliseconds(100)

    /// Whether the key, and each one that followed it, may have come unencrypted, and so from any device.
    /// - Parameters:
    ///   - report: when the controller reported that the link is encrypted.
    ///   - interval: the connection interval then.
    func mayBeInTheClear(encryptedAt report: Instant, interval: Microseconds) -> Bool {
        time.advanced(by: bound(interval)) < report
    }

    /// Whether the key came too early for a controller that may report late, where no proof is required.
    func isTooEarly(reportedAt report: Instant, interval: Microseconds) -> Bool {
        let shortest = bound(interval)
        let some = Microseconds(rawValue: min(Self.patientIntervals * shortest.rawValue, Self.longestPatience.rawValue))
        return time.advanced(by: max(shortest, some, Self.leastPatience)) < report
    }

    private func bound(_ interval: Microseconds) -> Microseconds {
        max(Self.leastInterval, min(self.interval, interval))
    }
}

extension Microseconds {
    /// The time between two connection events.
    init(_ interval: ConnectionInterval) { self.init(rawValue: Int64(interval.microseconds)) }
}
