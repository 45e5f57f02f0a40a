import BLE
import BLEJSON

/// What a scan of `check` received.
struct ScanFigures: Sendable {
    private(set) var reports = 0
    /// Of these, those without any data.
    private(set) var emptyReports = 0
    /// Of these, those with the controller's own address.
    private(set) var ownReports = 0
    /// In dBm; `nil` until one was reported.
    private(set) var strongest: Int8?
    private var addresses: Set<DeviceAddress> = []
    var seconds = 0.0

    /// Changing addresses must not fill the memory.
    private static let mostDevices = 65_536

    /// An RSSI that the controller does not know.
    private static let unknownStrength: Int8 = 127

    var devices: Int { addresses.count }
    var perSecond: Double { seconds > 0 ? Double(reports) / seconds : 0 }
    /// 0 to 1.
    var emptyShare: Double { reports > 0 ? Double(emptyReports) / Double(reports) : 0 }

    /// Counts a report.
    /// - Parameter own: the addresses of the controller that scans.
    mutating func add(_ discovery: Discovery, own: [DeviceAddress]) {
        reports += 1
        if discovery.advertisement.isEmpty, discovery.scanResponse.isEmpty { emptyReports += 1 }
        if discovery.rssi != Self.unknownStrength { strongest = max(strongest ?? discovery.rssi, discovery.rssi) }
        guard let address = discovery.address?.withoutIdentityMark else { return }
        if own.contains(address) { ownReports += 1 }
        if addresses.count < Self.mostDevices { addresses.insert(address) }
    }

    var object: JSONValue {
        [
            "seconds": .number(seconds), "reports": JSONValue(reports), "devices": JSONValue(devices),
            "reportsPerSecond": .number(perSecond), "strongest": JSONValue(strongest),
            "emptyShare": .number(emptyShare), "ownReports": JSONValue(ownReports),
        ]
    }

    /// A sentence for people.
    var text: String {
        func count(_ number: Int, _ what: String) -> String { "\(number) \(what)\(number == 1 ? "" : "s")" }
        let strength = strongest.map { "strongest \($0) dBm" } ?? "without signal strength"
        return "\(count(reports, "report")) of \(count(devices, "device")) in "
            + "\(LinkSummaryOutput.decimal(seconds, digits: 1)) s (\(LinkSummaryOutput.decimal(perSecond, digits: 1)) a "
            + "second), \(strength), \(LinkSummaryOutput.decimal(emptyShare * 100, digits: 0)) % without data"
    }
}
