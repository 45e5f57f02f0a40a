import BLEPackets
import Testing

@testable import BLEBlueZ

@Suite("Filters of discovery")
struct DiscoveryFilterTests {
    @Test("Unknown keys, wrong types and contradictions are refused")
    func refusals() {
        let wrong: [[(name: String, value: BusValue)]] = [
            [("Nonsense", .string(""))], [("RSSI", .string("-60"))], [("RSSI", .int16(-128))],
            [("Transport", .string("pigeon"))], [("UUIDs", .strings(["zz"]))], [("DuplicateData", .int16(1))],
            [("RSSI", .int16(-60)), ("Pathloss", .uint16(20))], [("Pathloss", .uint16(138))],
        ]
        for options in wrong {
            #expect(throws: BusError.invalidArguments) { try DiscoveryFilter(options) }
        }
    }

    private func sighting(_ rssi: Int8, name: String? = nil, _ data: [UInt8] = []) -> Sighting {
        Sighting(
            address: ServiceDriver.peer, rssi: rssi, name: name,
            data: AdvertisingData(advertisement: data.span.bytes))
    }

    @Test("A device is found by its signal, its services, or the beginning of its name or address")
    func matches() throws {
        let near = try DiscoveryFilter([("RSSI", .int16(-60))])
        #expect(near.matches(sighting(-60)) && !near.matches(sighting(-61)) && near.matches(sighting(127)))
        let heart = try DiscoveryFilter([("UUIDs", .strings(["180d"]))])
        #expect(heart.matches(sighting(-50, [3, 3, 0x0D, 0x18])) && !heart.matches(sighting(-50)))
        let named = try DiscoveryFilter([("Pattern", .string("Jel"))])
        #expect(named.matches(sighting(-50, name: "Jelling")) && !named.matches(sighting(-50, name: "Other")))
        let addressed = try DiscoveryFilter([("Pattern", .string("C0:DE"))])
        #expect(addressed.matches(sighting(-50)))
        let close = try DiscoveryFilter([("Pathloss", .uint16(50))])
        #expect(close.matches(sighting(-50, [2, 0x0A, 0])) && !close.matches(sighting(-51, [2, 0x0A, 0])))
        #expect(!close.matches(sighting(-10)))
    }
}
