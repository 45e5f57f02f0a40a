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
    private var content: [UInt8] = []
    private var response: [UInt8] = []

    /// Differences of the averages that count as a trend, in dB.
    private static let trendThreshold = 2.0
    private static let gapCount = 15

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
        isConnectable = discovery.isConnectable
        if discovery.rssi != 127 {
            let value = Double(discovery.rssi)
            fast = rssi == nil ? value : fast * 0.7 + value * 0.3
            slow = rssi == nil ? value : slow * 0.95 + value * 0.05
            rssi = discovery.rssi
        }
        measureInterval(discovery.time.microseconds)
        guard reports == 1 || content != discovery.advertisement || response != discovery.scanResponse else { return }
        (content, response) = (discovery.advertisement, discovery.scanResponse)
        let output = describe(discovery)
        let given = (output.data.localNameWithoutPadding ?? "").printable(limit: 64)
        if !given.isEmpty { name = given }
        offers = output.offers
        details = output.lines
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
