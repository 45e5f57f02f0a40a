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
struct EarlyKey {
    /// When it came.
    var time: Instant
    /// The connection interval of the link at that time.
    var interval: Microseconds

    /// The shortest connection interval (Core 5.4, Vol 6, Part B, 4.5.1).
    static let leastInterval = Microseconds(ConnectionInterval.least)

    /// Whether the key, and each one that followed it, may have come unencrypted, and so from any device.
    /// - Parameters:
    ///   - report: when the controller reported that the link is encrypted.
    ///   - interval: the connection interval then.
    func mayBeInTheClear(encryptedAt report: Instant, interval: Microseconds) -> Bool {
        let bound = max(Self.leastInterval, min(self.interval, interval))
        return time.advanced(by: bound) < report
    }
}

extension Microseconds {
    /// The time between two connection events.
    init(_ interval: ConnectionInterval) { self.init(rawValue: Int64(interval.microseconds)) }
}
