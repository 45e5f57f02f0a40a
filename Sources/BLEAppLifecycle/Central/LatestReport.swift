import BLEHost
import BLEPackets

/// The report that was parsed last. Where discoveries are joined (`Host.joinsDiscoveries`), as in `bled`, one of them
/// is for all apps that scan. Otherwise each app gets a separate discovery from a report, one after the other, and
/// they differ little.
struct LatestReport {
    private var report: Discovery?
    private var content = AdvertisementContent()
    private var overflowArea: OverflowArea?
    /// The services outside the overflow area, if there is one. Only for lookup, never iterated.
    private var visibleServices: Set<BluetoothUUID> = []
    private(set) var localName: String?

    /// - Returns: whether the report is another one than the one before.
    mutating func update(_ discovery: Discovery) -> Bool {
        if let report, report.time == discovery.time, report.address == discovery.address,
            report.isConnectable == discovery.isConnectable, report.txPower == discovery.txPower,
            report.advertisement == discovery.advertisement, report.scanResponse == discovery.scanResponse
        {
            return false
        }
        let data = AdvertisingData(
            advertisement: discovery.advertisement.span.bytes, scanResponse: discovery.scanResponse.span.bytes)
        report = discovery
        content = AdvertisementContent(data, discovery)
        overflowArea = data.overflowArea
        visibleServices = overflowArea == nil ? [] : Set(content.serviceUUIDs)
        localName = data.localNameWithoutPadding
        return true
    }

    /// Whether all apps get the same, whatever services they scan for.
    var isSameForAll: Bool { overflowArea == nil }

    /// What an app gets that scans for these services; `nil` for none.
    func content(scannedFor services: ScannedServices?) -> AdvertisementContent {
        guard let overflowArea, let services, services.mayBe(in: overflowArea) else { return content }
        var content = content
        content.overflowServiceUUIDs = services.hidden(in: overflowArea, besides: visibleServices)
        return content
    }
}
