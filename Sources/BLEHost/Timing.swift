import BLEPackets

/// How often and how intensively the engine uses the radio (SPEC section 4). Every value is a setting.
public struct Timing: Hashable, Sendable {
    /// Duty of the scan while a client in the foreground scans.
    public var foregroundScan: ScanDuty
    /// Duty of the scan while every scanning client is in the background (SPEC BGC-4).
    public var backgroundScan: ScanDuty
    /// Pace of advertising while a client in the foreground advertises.
    public var foregroundAdvertising: AdvertisingPace
    /// Pace of advertising while every advertising client is in the background (SPEC BGP-5).
    public var backgroundAdvertising: AdvertisingPace
    /// Connection interval that the engine asks for when it connects.
    public var connectionInterval: ClosedRange<ConnectionInterval>
    /// Connection events that the peripheral may skip, 0 to 499.
    public var peripheralLatency: UInt16
    /// How long a link may be silent before it is considered lost.
    public var supervisionTimeout: SupervisionTimeout
    /// How a peripheral's requests for other connection parameters are answered.
    public var parameterPolicy = ParameterPolicy.accept
    /// How the parameters of links that this side has made follow what runs on them; `nil`: they stay as they are.
    public var pace: LinkPace?
    /// Whether links may use a share of their connection events only, as far as both controllers can (Core 5.4, Vol 6,
    /// Part B, 5.1.19). The controller gets it at its start.
    public var allowsSubrating = false
    /// What a peripheral may request on links that this side has made; `nil`: the controller's own choice. Needs
    /// `allowsSubrating`.
    public var acceptedSubrates: SubrateParameters?
    /// ATT_MTU that the engine offers in the MTU exchange, 23 to 517 octets.
    public var attMTU: UInt16

    public init(
        foregroundScan: ScanDuty, backgroundScan: ScanDuty, foregroundAdvertising: AdvertisingPace,
        backgroundAdvertising: AdvertisingPace, connectionInterval: ClosedRange<ConnectionInterval>,
        peripheralLatency: UInt16, supervisionTimeout: SupervisionTimeout, attMTU: UInt16
    ) {
        self.foregroundScan = foregroundScan
        self.backgroundScan = backgroundScan
        self.foregroundAdvertising = foregroundAdvertising
        self.backgroundAdvertising = backgroundAdvertising
        self.connectionInterval = connectionInterval
        self.peripheralLatency = peripheralLatency
        self.supervisionTimeout = supervisionTimeout
        self.attMTU = attMTU
    }

    /// Values for a gateway: continuous scanning, tolerance of short losses of signal, a large MTU (SPEC section 4).
    public static let gateway = Timing(
        foregroundScan: ScanDuty(interval: .milliseconds(60), window: .milliseconds(60)),
        backgroundScan: ScanDuty(interval: .milliseconds(300), window: .milliseconds(30)),
        foregroundAdvertising: AdvertisingPace(initial: .milliseconds(30), .seconds(30), later: .milliseconds(152.5)),
        backgroundAdvertising: AdvertisingPace(
            initial: .milliseconds(211.25), .seconds(600), later: .milliseconds(1022.5)),
        connectionInterval: .milliseconds(15)...ConnectionInterval.milliseconds(30),
        peripheralLatency: 0, supervisionTimeout: .milliseconds(5000), attMTU: 517)

    /// Values of an iPhone, as far as known (SPEC section 4).
    public static let ios = Timing(
        foregroundScan: ScanDuty(interval: .milliseconds(40), window: .milliseconds(30)),
        backgroundScan: ScanDuty(interval: .milliseconds(300), window: .milliseconds(30)),
        foregroundAdvertising: AdvertisingPace(initial: .milliseconds(30), .seconds(30), later: .milliseconds(152.5)),
        backgroundAdvertising: AdvertisingPace(
            initial: .milliseconds(211.25), .seconds(600), later: .milliseconds(1022.5)),
        connectionInterval: .milliseconds(30)...ConnectionInterval.milliseconds(30),
        peripheralLatency: 0, supervisionTimeout: .milliseconds(720), attMTU: 185)
}

/// The advertising interval, at first and after a while without a connection (SPEC section 4).
public struct AdvertisingPace: Hashable, Sendable {
    /// The interval at first.
    public var initial: AdvertisingInterval
    /// How long `initial` is used.
    public var initialSpan: Microseconds
    /// The interval after `initialSpan`.
    public var later: AdvertisingInterval

    public init(initial: AdvertisingInterval, _ initialSpan: Microseconds, later: AdvertisingInterval) {
        self.initial = initial
        self.initialSpan = initialSpan
        self.later = later
    }
}

/// How much of the time the receiver listens: `window` out of each `interval`.
public struct ScanDuty: Hashable, Sendable {
    /// Time between the starts of two scan windows.
    public var interval: ScanInterval
    /// How long the receiver listens each time; at most `interval`.
    public var window: ScanInterval

    public init(interval: ScanInterval, window: ScanInterval) {
        self.interval = interval
        self.window = window
    }
}
