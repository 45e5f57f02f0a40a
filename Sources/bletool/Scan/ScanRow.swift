import BLE
import BLEText

/// What is known of one device of a live scan.
struct ScanRow {
    let address: DeviceAddress
    private(set) var name = ""
    /// What the device offers, in a line.
    private(set) var offers = ""
    /// All that its advertisements say, a line each.
    private(set) var details: [String] = []
    /// What its advertisements mean, as far as their formats are known.
    private(set) var says: [String] = []
    /// The advertising data as it was sent.
    private(set) var advertisement: [UInt8] = []
    private(set) var scanResponse: [UInt8] = []
    /// Whether it accepts connections with any of the advertisements that it sends in turn.
    private(set) var isConnectable = false
    private(set) var reports = 0
    /// The last measurement, in dBm; `nil` where none was reported.
    private(set) var rssi: Int8?
    /// Seconds on the scan's clock.
    private(set) var lastSeen = 0.0
    /// Seconds between advertisements; `nil` until there were enough of them.
    private(set) var interval: Double?

    private var fast = 0.0
    private var slow = 0.0
    private var lastTime: Int64?
    private var gaps: [Double] = []
    private var lastConnectable: Double?

    /// Differences of the averages that count as a trend, in dB.
    private static let trendThreshold = 2.0
    private static let gapCount = 15
    /// How long a device accepts connections after it has said so, in seconds: some send other advertisements meanwhile.
    private static let connectableTime = 5.0

    init(_ address: DeviceAddress) { self.address = address }

    /// Whether the signal grows (1), stays (0) or fades (-1).
    var trend: Int {
        guard rssi != nil, reports > 4 else { return 0 }
        return fast - slow > Self.trendThreshold ? 1 : slow - fast > Self.trendThreshold ? -1 : 0
    }

    /// The strength that is shown and sorted by: short variations are taken out.
    var strength: Int? { rssi == nil ? nil : Int(fast.rounded()) }

    mutating func update(_ discovery: Discovery, at seconds: Double, describe: (Discovery) -> DiscoveryOutput) {
        reports += 1
        lastSeen = seconds
        if discovery.isConnectable { lastConnectable = seconds }
        isConnectable = lastConnectable.map { seconds - $0 <= Self.connectableTime } ?? false
        if discovery.rssi != 127 {
            let value = Double(discovery.rssi)
            fast = rssi == nil ? value : fast * 0.7 + value * 0.3
            slow = rssi == nil ? value : slow * 0.95 + value * 0.05
            rssi = discovery.rssi
        }
        measureInterval(discovery.time.microseconds)
        guard reports == 1 || advertisement != discovery.advertisement || scanResponse != discovery.scanResponse else {
            return
        }
        (advertisement, scanResponse) = (discovery.advertisement, discovery.scanResponse)
        let output = describe(discovery)
        let given = (output.data.localNameWithoutPadding ?? "").printable(limit: 64)
        if !given.isEmpty { name = given }
        offers = output.offers
        details = output.lines
        says = output.reports.map(\.text)
    }

    /// The middle of the last distances: a lost packet, or a scan response soon after its advertisement, does not
    /// count.
    private mutating func measureInterval(_ time: Int64) {
        defer { lastTime = time }
        guard let lastTime, time > lastTime else { return }
        let gap = Double(time - lastTime) / 1_000_000
        guard gap > 0.01 else { return }
        gaps.append(gap)
        if gaps.count > Self.gapCount { gaps.removeFirst() }
        if gaps.count >= 3 { interval = gaps.sorted()[gaps.count / 2] }
    }
}
