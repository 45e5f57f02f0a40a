import BLE
import BLESimulator
import BLETransport
import Testing

@testable import BLEVirtualTransports

@Suite("Two simulated controllers on one air")
struct SimulatedPairTests {
    private static func open(_ pair: SimulatedPair, _ index: Int) async throws -> Adapter {
        var configuration = AdapterConfiguration()
        configuration.makeVirtualTransport = { _ throws(TransportError) in try pair.open(index) }
        return try await Adapter.open(.simulator(scenario: nil), configuration: configuration)
    }

    private static func pair(_ first: String, _ second: String) throws -> SimulatedPair {
        try SimulatedPair(TransportAddress(first), TransportAddress(second))
    }

    @Test("each hears the other, and the first also the devices of its scenario")
    func hear() async throws {
        let pair = try Self.pair("sim", "sim:realtek-8761")
        let first = try await Self.open(pair, 0)
        let second = try await Self.open(pair, 1)
        #expect(await second.information.companyIdentifier == 0x005D)
        let request = AdvertiseRequest(.packed(localName: "Second", serviceUUIDs: []))
        let advertising = Task { try await second.advertise(request) }
        let link = try await first.connect(to: "Second", timeout: .seconds(30))
        try await link.disconnect()
        advertising.cancel()
        let heart = try await first.connect(to: "Jelling Heart", timeout: .seconds(30))
        try await heart.disconnect()
        await first.close()
        await second.close()
    }

    @Test("a controller that is opened again is as after power-on, also while the end of the last host is on its way")
    func reopened() async throws {
        let pair = try Self.pair("sim", "sim")
        for _ in 0..<5 {
            let adapter = try await Self.open(pair, 0)
            for try await _ in adapter.scan() { break }
            await adapter.close()
        }
    }

    @Test("the second one has no scenario")
    func scenarios() {
        #expect(throws: TransportError.notOffered(.simulator(scenario: "./x.json"))) {
            _ = try Self.pair("sim", "sim:./x.json")
        }
        let known = SimulatedControllerPreset.allCases.map(\.name)
        #expect(throws: TransportError.unknownPreset("esp23", nearest: "esp32", known: known)) {
            _ = try Self.pair("sim", "sim:esp23")
        }
        #expect(throws: TransportError.pathNotFound("./x.json")) { _ = try Self.pair("sim:./x.json", "sim") }
    }
}
