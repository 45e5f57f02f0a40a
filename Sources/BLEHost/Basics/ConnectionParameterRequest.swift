import BLEPackets

/// Requested connection parameters (Core 5.4, Vol 6, Part B, 4.5.1).
public struct ConnectionParameterRequest: Hashable, Sendable {
    /// The range of acceptable intervals.
    public var interval: ClosedRange<ConnectionInterval>
    /// Connection events that the peripheral may skip, 0 to 499.
    public var peripheralLatency: UInt16
    /// How long the link may be silent before it is considered lost.
    public var supervisionTimeout: SupervisionTimeout

    public init(
        interval: ClosedRange<ConnectionInterval>, peripheralLatency: UInt16, supervisionTimeout: SupervisionTimeout
    ) {
        self.interval = interval
        self.peripheralLatency = peripheralLatency
        self.supervisionTimeout = supervisionTimeout
    }

    /// Whether the specification allows this combination: intervals of 7.5 ms to 4 s, a latency of at most 499, a
    /// timeout of 100 ms to 32 s, and the timeout longer than twice the time that the peripheral may be silent (Core
    /// 5.4, Vol 4, Part E, 7.8.12).
    public var isValid: Bool {
        let silence = UInt64(interval.upperBound.rawValue) * (UInt64(peripheralLatency) + 1) * 2 * 1250
        return interval.lowerBound.rawValue >= 6 && interval.upperBound.rawValue <= 3200
            && peripheralLatency <= 499
            && (10...3200).contains(supervisionTimeout.rawValue)
            && UInt64(supervisionTimeout.rawValue) * 10_000 > silence
    }
}
