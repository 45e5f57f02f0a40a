import BLEHost
import BLEPackets
import TestSupport
import Testing

@testable import BLEAppLifecycle

@Suite("Advertising of several apps")
struct SharedAdvertisingTests {
    @Test("the app that came to the foreground last gets the visible octets first (SPEC 3.5 step 7)")
    func latestFirst() {
        let world = World()
        let station = AppStation(world)
        let apps = ["one", "two"].map { TestApp(station, "org.example.\($0)", modes: .peripheral) }
        for (number, app) in apps.enumerated() {
            let service = BluetoothUUID(high: UInt64(number + 1), low: 5)
            app.peripheral().ask(
                .startAdvertising(AdvertisementRequest(localName: "App \(number)", serviceUUIDs: [service])))
        }
        let remote = HostStation.remote(in: world)
        remote.submit(.radio(.scan(ScanRequest())))
        func visible() -> [BluetoothUUID] {
            world.run(for: .seconds(2))
            let octets = remote.discoveries.last?.advertisement ?? []
            return AdvertisingData(advertisement: octets.span.bytes).serviceUUIDs
        }
        let first = BluetoothUUID(high: 1, low: 5)
        let second = BluetoothUUID(high: 2, low: 5)
        #expect(visible() == [second])
        apps[0].enterBackground()
        #expect(visible() == [second])
        apps[0].enterForeground()
        #expect(visible() == [first])
    }
}
