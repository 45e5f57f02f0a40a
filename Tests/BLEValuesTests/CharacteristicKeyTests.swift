import BLESimulator
import BLEValues
import BLEVirtualTransports
import Testing

@Suite("Characteristics with their meaning")
struct CharacteristicKeyTests {
    @Test("values of a simulated sensor are read and subscribed to as numbers and texts")
    func sensor() async throws {
        var configuration = AdapterConfiguration()
        configuration.makeVirtualTransport = { (address) throws(TransportError) in
            let air = SimulatedAir()
            air.addPeripheral(.jellingHeart)
            return SimulatedTransport(air: air, controller: air.addController(), address: address)
        }
        let adapter = try await Adapter.open("sim", configuration: configuration)
        try await adapter.withConnection(to: "Jelling Heart", timeout: .seconds(60)) { sensor in
            #expect(try await sensor.read(.batteryLevel) == 87)
            #expect(try await sensor.read(.deviceName) == "Jelling Heart")
            #expect(try await !sensor.read(.manufacturerName, inService: .deviceInformation).isEmpty)
            for try await measurement in try await sensor.values(of: .heartRateMeasurement) {
                #expect((30...240).contains(measurement.beatsPerMinute))
                break
            }
            await #expect(throws: BLEError.notFound(.temperature)) { try await sensor.read(.temperature) }
        }
        await adapter.close()
    }

    @Test("formats are those of the GATT Specification Supplement")
    func formats() throws {
        #expect(try CharacteristicKey.temperature.decode([0x0C, 0x09]) == 23.16)
        #expect(throws: BLEError.unknownValue(.temperature)) {
            try CharacteristicKey.temperature.decode([0x00, 0x80])
        }
        #expect(throws: BLEError.malformedValue(.temperature, [1])) {
            try CharacteristicKey.temperature.decode([1])
        }
        let rate = try CharacteristicKey.heartRateMeasurement.decode([0x1E, 66, 0x10, 0x00, 0x00, 0x04])
        #expect(rate.beatsPerMinute == 66 && rate.hasContact == true)
        #expect(rate.energyExpended == 16 && rate.intervals == [1])
        #expect(try CharacteristicKey.modelNumber.decode(Array("J1\0\0".utf8)) == "J1")
        let fields = try #require(CharacteristicKey.assigned(0x2A19)).decode([50])
        #expect(fields.map(\.description) == ["Battery Level 50 %"])
        #expect(CharacteristicKey.assigned("FFE1") == nil)
    }

    @Test("octets of any length are a value or an error, never the end of the program")
    func hostile() {
        for length in 0..<40 {
            let octets = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 0x1F) }
            _ = try? CharacteristicKey.heartRateMeasurement.decode(octets)
            _ = try? CharacteristicKey.batteryLevel.decode(octets)
            _ = try? CharacteristicKey.serialNumber.decode(octets)
        }
    }
}
