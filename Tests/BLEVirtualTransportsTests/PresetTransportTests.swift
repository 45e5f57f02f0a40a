import BLE
import BLESimulator
import BLETransport
import Testing

@testable import BLEVirtualTransports

@Suite("Simulated controllers of real families as transports")
struct PresetTransportTests {
    @Test("sim:NAME has the faults of the family", arguments: SimulatedControllerPreset.allCases)
    func faults(preset: SimulatedControllerPreset) throws {
        let address = try TransportAddress("sim:\(preset.name)")
        #expect(address == .simulator(scenario: preset.name))
        let (air, controller) = try VirtualTransports.makeAir(address)
        #expect(air.faults(of: controller) == preset.faults)
    }

    @Test("sim:NAME has the devices of sim")
    func devices() async throws {
        var configuration = AdapterConfiguration()
        configuration.makeVirtualTransport = VirtualTransports.open
        let adapter = try await Adapter.open("sim:realtek-8761", configuration: configuration)
        let peer = try await adapter.connect(to: "Jelling Heart", timeout: .seconds(30))
        let level = try await peer.findCharacteristic("2A19")
        #expect(try await peer.read(level) == [87])
        await adapter.close()
    }

    @Test("another word is no preset, and the nearest one is named; what has a place or an ending is a file")
    func file() {
        let known = SimulatedControllerPreset.allCases.map(\.name)
        for (word, nearest) in [("realtek-8671", "realtek-8761"), ("esp23", "esp32"), ("nothing-like-it", nil)] {
            #expect(throws: TransportError.unknownPreset(word, nearest: nearest, known: known)) {
                _ = try VirtualTransports.open(.simulator(scenario: word))
            }
        }
        for path in ["./realtek-8671", "x.json"] {
            #expect(throws: TransportError.pathNotFound(path)) {
                _ = try VirtualTransports.open(.simulator(scenario: path))
            }
        }
    }
}
