import BLEPackets
import Testing

@testable import BLEAppLifecycle
@testable import BLEHost

@Suite("The report that was parsed last")
struct LatestReportTests {
    private func report(_ advertisement: [UInt8]) -> LatestReport {
        var report = LatestReport()
        _ = report.update(
            Discovery(
                scan: OperationID(rawValue: 1), client: ClientID(rawValue: 1), address: Alone.address, rssi: -50,
                isConnectable: true, isScannable: false, advertisement: advertisement, scanResponse: [], txPower: nil,
                isExtended: false, time: .zero))
        return report
    }

    @Test("an app gets the hashed services in the order of its scan, without those that are shown (SPEC 3.6)")
    func hashedServices() {
        let services = (0..<400).map { BluetoothUUID(0xF000 + UInt16($0)) }
        let (shown, hidden) = (services[7], services[3])
        let area = OverflowArea(hashing: [shown, hidden])
        let report = report([3, 0x03, 0x07, 0xF0, 20, 0xFF, 0x4C, 0x00, 0x01] + area.mask)
        #expect(!report.isSameForAll)
        // Also twice, as the app names them.
        let scan = Array(services.reversed()) + [hidden]
        let content = report.content(scannedFor: ScannedServices(scan))
        #expect(content.serviceUUIDs == [shown])
        #expect(content.overflowServiceUUIDs == scan.filter { area.contains($0) && $0 != shown })
        #expect(content.overflowServiceUUIDs.count { $0 == hidden } == 2)
        let others = ScannedServices(services.filter { !area.contains($0) })
        #expect(report.content(scannedFor: others) == report.content(scannedFor: nil))
        #expect(report.content(scannedFor: nil).overflowServiceUUIDs.isEmpty)
    }

    @Test("without an overflow area all apps get the same")
    func sameForAll() {
        let report = report([3, 0x03, 0x0D, 0x18])
        #expect(report.isSameForAll)
        let scan = ScannedServices([Profiles.heartRate, Profiles.battery])
        #expect(report.content(scannedFor: scan) == report.content(scannedFor: nil))
    }
}
