import BLETestKit
import BLEValues
import Testing

@Suite("An app on BLE, tested with simulated devices")
struct BeltMonitorTests {
    private var belt: TestDevice {
        TestDevice("Belt") {
            TestService(.heartRate) {
                TestCharacteristic(.heartRateMeasurement, [.notify])
                    .notifying(every: .seconds(1)) { [0, UInt8(60 + $0 % 100)] }
            }
            TestService(.batteryService) { TestCharacteristic(.batteryLevel, [.read], value: [87]) }
        }
    }

    /// An app that runs on this radio for the time of the body.
    private func running(_ radio: TestRadio, _ body: (BeltMonitor) async throws -> Void) async throws {
        let adapter = try await radio.openAdapter()
        let app = BeltMonitor(adapter: adapter)
        let run = Task { await app.run() }
        do { try await body(app) } catch {
            run.cancel()
            await adapter.close()
            throw error
        }
        run.cancel()
        await run.value
        await adapter.close()
    }

    @Test("the nearest belt is found, its battery is read, and its values are shown")
    func measures() async throws {
        let radio = try TestRadio {
            belt
            TestDevice("Far belt") { TestService(.heartRate) }.signal(-90)
            TestDevice("Beacon").advertising([.heartRate]).notConnectable()
        }
        try await running(radio) { app in
            try await eventually("the app searches") { app.screens == [.searching] }
            try await eventually("values: \(app.screens)") {
                await radio.clock.advance(by: .seconds(1))
                return app.screens.contains(.rate(62))
            }
            #expect(app.screens.starts(with: [.searching, .measuring(battery: 87), .rate(60), .rate(61), .rate(62)]))
        }
    }

    @Test("without a belt the app says so after its five seconds, which do not pass in the test")
    func noBelt() async throws {
        let radio = try TestRadio { TestDevice("Lamp") { TestService("FFE0") } }
        let began = ContinuousClock.now
        try await running(radio) { app in
            try await eventually("the app gives up: \(app.screens)") {
                await radio.clock.advance(by: .seconds(1))
                return app.screens == [.searching, .noBelt]
            }
        }
        #expect(ContinuousClock.now - began < .seconds(280))
    }

    @Test("a belt that goes away and comes back is measured again")
    func comesBack() async throws {
        let radio = try TestRadio()
        let belt = radio.add(belt)
        try await running(radio) { app in
            try await eventually("connected: \(app.screens)") {
                await radio.clock.advance(by: .seconds(1))
                return belt.isConnected && app.screens.contains(.rate(60))
            }
            belt.goOutOfRange()
            try await eventually("the loss is noticed: \(app.screens)") {
                await radio.clock.advance(by: .seconds(5))
                return app.screens.last == .away
            }
            #expect(!belt.isConnected && belt.statistics.connections == 1)
            belt.comeIntoRange()
            try await eventually("connected again: \(app.screens)") {
                await radio.clock.advance(by: .seconds(1))
                return belt.isConnected && app.screens.last == .rate(61)
            }
            #expect(belt.statistics.connections == 2)
            #expect(app.screens.filter { $0 == .measuring(battery: 87) }.count == 2)
        }
    }

    @Test("a belt that refuses to give its charge is told of; a slow one is not")
    func faults() async throws {
        let radio = try TestRadio()
        let belt = radio.add(belt.responding(after: .seconds(2)))
        belt.failReads(of: .batteryLevel, with: .insufficientAuthorization)
        try await running(radio) { app in
            try await eventually("the error is shown: \(app.screens)") {
                await radio.clock.advance(by: .seconds(1))
                if case .broken(let text)? = app.screens.last { return text.contains("0x08") }
                return false
            }
            belt.failReads(of: .batteryLevel, with: nil)
            belt.disconnect()
            try await eventually("and then it works: \(app.screens)") {
                await radio.clock.advance(by: .seconds(1))
                return app.screens.contains(.rate(60))
            }
        }
    }
}
