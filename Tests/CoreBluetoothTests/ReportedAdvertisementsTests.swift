// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEPackets
import Foundation
import Testing

@testable import BLEAppLifecycle
@testable import CoreBluetooth

@Suite("Discoveries that an app would see no difference in")
struct ReportedAdvertisementsTests {
    private let system = ScriptedSystem()
    private static let device = PeerIdentifier(high: 3, low: 4)

    private final class Listener: NSObject, @unchecked Sendable, CBCentralManagerDelegate {
        // @unchecked Sendable is safe because a test looks only after `settle`.
        let queue = DispatchQueue(label: "listener")
        var manager: CBCentralManager!
        var signals: [Int] = []

        /// Waits until everything that was told before has been handed over.
        func settle() { manager.channel.queue.sync {} }
        func centralManagerDidUpdateState(_ central: CBCentralManager) {}
        func centralManager(
            _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
            rssi RSSI: NSNumber
        ) { signals.append(RSSI.intValue) }
    }

    private func make() -> Listener {
        let listener = Listener()
        listener.manager = CurrentSystem.$override.withValue(system) {
            CBCentralManager(delegate: listener, queue: listener.queue)
        }
        system.deliver(.stateChanged(.poweredOn, .allowedAlways))
        listener.settle()
        return listener
    }

    @Test(
        "a device is reported again only if its dictionary differs, unless duplicates are allowed (SPEC CEN-25 to CEN-27)"
    )
    func sameDictionary() {
        let listener = make()
        var content = AdvertisementContent()
        content.localName = "Scale"
        content.manufacturerData = [1]
        func deliver(_ rssi: Int8, _ change: (inout AdvertisementContent) -> Void = { _ in }) {
            content.microseconds += 1000
            change(&content)
            let description = PeripheralDescription(identifier: Self.device, name: "Scale")
            system.deliver(.discovered(description, content, rssi: rssi))
            listener.settle()
        }
        listener.manager.scanForPeripherals(withServices: nil)
        deliver(-60)
        deliver(-61)
        deliver(-62) { $0.manufacturerData = [2] }
        deliver(-63)
        deliver(-64) { $0.manufacturerData = [1] }
        deliver(-65) { $0.isConnectable = true }
        deliver(-66) { $0.serviceUUIDs = [BluetoothUUID(UInt16(0x180D))] }
        deliver(-67)
        #expect(listener.signals == [-60, -62, -64, -65, -66])
        // Another scan reports it once more, and one with duplicates always.
        listener.signals = []
        listener.manager.scanForPeripherals(withServices: nil)
        deliver(-70)
        deliver(-71)
        #expect(listener.signals == [-70])
        listener.signals = []
        listener.manager.scanForPeripherals(
            withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        deliver(-80)
        deliver(-81)
        #expect(listener.signals == [-80, -81])
    }

    @Test("each device has a content of its own, and each manager its own reports")
    func apart() {
        let listeners = [make(), make()]
        for listener in listeners { listener.manager.scanForPeripherals(withServices: nil) }
        // The second manager is the one that the system tells.
        for (low, rssi) in [(4, -1), (5, -2), (4, -3), (5, -4)] as [(UInt64, Int8)] {
            let description = PeripheralDescription(identifier: PeerIdentifier(high: 3, low: low))
            system.deliver(.discovered(description, AdvertisementContent(), rssi: rssi))
        }
        for listener in listeners { listener.settle() }
        #expect(listeners[0].signals == [] && listeners[1].signals == [-1, -2])
    }

    @Test("what was reported of devices is remembered in bounded memory")
    func many() {
        var reported = ReportedAdvertisements()
        func isNews(_ high: UInt64, _ low: UInt64) -> Bool {
            reported.isNews(AdvertisementContent(), of: PeerIdentifier(high: high, low: low))
        }
        let count = UInt64(ReportedAdvertisements.maximumCount)
        #expect((0..<count).filter { isNews(1, $0) }.count == Int(count))
        #expect((0..<count).filter { isNews(1, $0) }.isEmpty)
        // With one more, all are forgotten.
        let news = [isNews(2, 0), isNews(2, 0), isNews(1, 0), isNews(1, 0)]
        #expect(news == [true, false, true, false])
    }
}
