import BLEPackets

/// How often and how hard the engine uses the radio (SPEC section 4). Every number is a setting.
public struct Timing: Hashable, Sendable {
    /// Duty of a scan that a foreground client asked for.
    public var foregroundScan: ScanDuty
    /// Duty of a scan when every scanning client is in the background (SPEC BGC-4).
    public var backgroundScan: ScanDuty
    /// Connection interval asked for when a link is made.
    public var connectionInterval: ClosedRange<ConnectionInterval>
    /// Connection events that the peripheral may skip, 0 to 499.
    public var peripheralLatency: UInt16
    public var supervisionTimeout: SupervisionTimeout
    /// ATT_MTU that is offered in the exchange, 23 to 517.
    public var attMTU: UInt16

    public init(
        foregroundScan: ScanDuty, backgroundScan: ScanDuty, connectionInterval: ClosedRange<ConnectionInterval>,
        peripheralLatency: UInt16, supervisionTimeout: SupervisionTimeout, attMTU: UInt16
    ) {
        self.foregroundScan = foregroundScan
        self.backgroundScan = backgroundScan
        self.connectionInterval = connectionInterval
        self.peripheralLatency = peripheralLatency
        self.supervisionTimeout = supervisionTimeout
        self.attMTU = attMTU
    }

    /// What a gateway wants: it listens all the time, tolerates short fades and moves long values (SPEC section 4).
    public static let gateway = Timing(
        foregroundScan: ScanDuty(interval: .milliseconds(60), window: .milliseconds(60)),
        backgroundScan: ScanDuty(interval: .milliseconds(300), window: .milliseconds(30)),
        connectionInterval: .milliseconds(15)...ConnectionInterval.milliseconds(30),
        peripheralLatency: 0, supervisionTimeout: .milliseconds(5000), attMTU: 517)

    /// What an iPhone does, as far as it is known (SPEC section 4).
    public static let ios = Timing(
        foregroundScan: ScanDuty(interval: .milliseconds(40), window: .milliseconds(30)),
        backgroundScan: ScanDuty(interval: .milliseconds(300), window: .milliseconds(30)),
        connectionInterval: .milliseconds(30)...ConnectionInterval.milliseconds(30),
        peripheralLatency: 0, supervisionTimeout: .milliseconds(720), attMTU: 185)
}

/// How much of the time the receiver listens: `window` out of every `interval`.
public struct ScanDuty: Hashable, Sendable {
    public var interval: ScanInterval
    public var window: ScanInterval

    public init(interval: ScanInterval, window: ScanInterval) {
        self.interval = interval
        self.window = window
    }

    /// Whether this duty listens more than `other` does.
    func isGreater(than other: ScanDuty) -> Bool {
        UInt32(window.rawValue) * UInt32(other.interval.rawValue)
            > UInt32(other.window.rawValue) * UInt32(interval.rawValue)
    }
}

#if !hasFeature(Embedded)
extension Timing: Codable {}
extension ScanDuty: Codable {}
#endif
