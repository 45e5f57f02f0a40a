import BLE
import CoreBluetoothTestKit
import Foundation
import Synchronization
import Testing

@Suite("Apps on Core Bluetooth, tested with simulated devices")
struct CoreBluetoothAppTests {
    private var belt: TestDevice {
        TestDevice("Belt") {
            TestService(.heartRate) {
                TestCharacteristic(.heartRateMeasurement, [.notify])
                    .notifying(every: .milliseconds(200)) { [0, UInt8(60 + $0 % 100)] }
            }
        }
    }

    @Test("an unchanged app finds its device, shows values, notices the loss and connects again")
    func central() async throws {
        let radio = try TestRadio()
        let belt = radio.add(belt)
        let app = TestApp(on: radio)
        let controller = app.run { HeartRateController() }
        try await eventually("values: \(controller.shown)") { controller.shown.contains("61 bpm") }
        belt.disconnect()
        try await eventually("the loss: \(controller.shown)") { controller.shown.contains("lost Belt") }
        try await eventually("the second connection") { belt.statistics.connections == 2 }
        let count = controller.shown.count
        try await eventually("told") { controller.shown.count >= count }
        await app.terminate()
    }

    @Test("an app that may not use Bluetooth, and one whose controller is unplugged, hear of it")
    func states() async throws {
        let radio = try TestRadio { belt }
        var launch = TestApp.Launch()
        launch.authorization = .denied
        let denied = TestApp(on: radio, launch)
        let controller = denied.run { HeartRateController() }
        try await eventually("told: \(controller.shown)") { controller.shown == ["allow Bluetooth in the settings"] }
        await denied.terminate()
        launch = TestApp.Launch()
        launch.log = { _ in }
        let app = TestApp(on: radio, launch)
        let other = app.run { HeartRateController() }
        try await eventually("values: \(other.shown)") { other.shown.contains("60 bpm") }
        radio.unplug()
        try await eventually("told: \(other.shown)") { other.shown.contains("Bluetooth is off") }
        await app.terminate()
    }

    @Test("an unchanged app in the peripheral role serves a central that the test drives")
    func peripheral() async throws {
        let radio = try TestRadio()
        let app = TestApp(on: radio)
        let lamp = app.run { LampController() }
        let phone = try await radio.openAdapter()
        try await phone.withConnection(to: "Lamp", timeout: .seconds(600)) { found in
            let power = try await found.findCharacteristic("FFE1")
            let changes = try await found.notifications(of: power)
            #expect(try await found.read(power) == [0])
            try await found.write([1], to: power)
            for try await change in changes {
                #expect(change.bytes == [1])
                break
            }
            #expect(lamp.isLit)
        }
        await phone.close()
        await app.terminate()
    }

    @Test("two apps on one radio find each other: one serves, the other reads")
    func twoApps() async throws {
        let radio = try TestRadio { belt }
        let first = TestApp(on: radio, identifier: "org.example.first")
        let second = TestApp(on: radio, identifier: "org.example.second")
        let lamp = first.run { LampController() }
        let controller = second.run { HeartRateController() }
        try await eventually("values: \(controller.shown)") { controller.shown.contains("60 bpm") }
        #expect(!lamp.isLit)
        await first.terminate()
        await second.terminate()
    }
}
