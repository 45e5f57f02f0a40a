import BLETestKit
import CoreBluetooth
import CoreBluetoothPublishers
import CoreBluetoothTestKit
import OpenCombine
import Synchronization
import Testing

@Suite("Publishers of Core Bluetooth's states")
struct PublisherTests {
    @Test("a publisher sends the state that is, then each that follows, until it is cancelled")
    func states() async throws {
        let radio = try TestRadio { TestDevice("Belt") { TestService(.heartRate) } }
        let app = TestApp(on: radio)
        let manager = app.run { CBCentralManager(delegate: nil, queue: DispatchQueue(label: "states")) }
        let seen = Seen()
        let states = manager.publisher(for: \.state).sink { seen.append("state \($0.rawValue)") }
        let scanning = manager.publisher(for: \.isScanning).sink { seen.append("scanning \($0)") }
        try await eventually { seen.all.contains("state 5") && seen.all.contains("scanning false") }
        manager.scanForPeripherals(withServices: nil)
        try await eventually { seen.all.contains("scanning true") }
        scanning.cancel()
        manager.stopScan()
        radio.unplug()
        try await eventually { seen.all.last != "state 5" && seen.all.filter { $0.hasPrefix("state") }.count > 1 }
        #expect(seen.all.filter { $0 == "scanning false" }.count == 1)
        states.cancel()
    }

    private func eventually(_ holds: () -> Bool) async throws {
        let end = ContinuousClock.now.advanced(by: .seconds(300))
        while !holds() {
            try #require(ContinuousClock.now < end)
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

private final class Seen: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
}
