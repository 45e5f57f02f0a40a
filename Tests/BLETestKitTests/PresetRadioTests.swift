import BLETestKit
import Testing

@Suite("Test radios with controllers of real families")
struct PresetRadioTests {
    private var belt: TestDevice {
        TestDevice("Belt") { TestService("180F") { TestCharacteristic("2A19", [.read], value: [87]) } }
    }

    @Test(
        "an adapter whose controller is of a real family reads a value",
        arguments: [SimulatedControllerPreset.realtek8761, .cc2564])
    func preset(preset: SimulatedControllerPreset) async throws {
        let radio = try TestRadio { belt }
        let adapter = try await radio.openAdapter(preset)
        let peer = try await adapter.connect(to: "Belt", timeout: .seconds(30))
        let level = try await peer.findCharacteristic("2A19")
        #expect(try await peer.read(level) == [87])
        await adapter.close()
    }

    @Test("a fault lasts until its remedy")
    func until() async throws {
        let radio = try TestRadio { belt }
        let adapter = try await radio.openAdapter()
        radio.changeFaults(until: .reset) { $0.silencesReports = true }
        radio.failHardware()
        // The engine resets the controller, which ends the silence.
        _ = try await adapter.connect(to: "Belt", timeout: .seconds(30))
        await adapter.close()
    }
}
