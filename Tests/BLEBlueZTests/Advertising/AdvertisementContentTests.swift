import BLEHost
import BLEPackets
import Testing

@testable import BLEBlueZ

@Suite("Contents of advertisements")
struct AdvertisementContentTests {
    @Test("Flags, services and data are advertised, name and appearance are in the scan response")
    func octets() throws {
        let content = try AdvertisementContent([
            ("Type", .string("peripheral")), ("ServiceUUIDs", .strings(["180D", "180F"])),
            ("ManufacturerData", .dictionary(of: "qv", [.init(.uint16(0xFFFF), .variant(.octets([1, 2])))])),
            ("LocalName", .string("Heart")), ("Appearance", .uint16(0x0341)), ("Discoverable", .boolean(true)),
        ])
        let set = try content.set(name: "here", isDiscoverable: false)
        #expect(set.data == [2, 1, 6, 5, 3, 0x0D, 0x18, 0x0F, 0x18, 5, 0xFF, 0xFF, 0xFF, 1, 2])
        #expect(set.scanResponse == [3, 0x19, 0x41, 0x03, 6, 9] + Array("Heart".utf8))
        #expect(set.isConnectable && set.usesLegacyPDUs && set.fault == nil)
    }

    @Test("A name that has no room is shortened; too much data is refused")
    func room() throws {
        let name = String(repeating: "n", count: 40)
        let named = try AdvertisementContent([("Type", .string("broadcast")), ("LocalName", .string(name))])
        let set = try named.set(name: "here", isDiscoverable: false)
        #expect(set.scanResponse.count == 31 && set.scanResponse[1] == 8)
        #expect(!set.isConnectable && set.isScannable && set.data.isEmpty)
        let full = try AdvertisementContent([
            ("Type", .string("broadcast")),
            (
                "ServiceData",
                .dictionary(
                    of: "sv",
                    [
                        .init(.string("180D"), .variant(.octets(Array(repeating: 0, count: 28))))
                    ])
            ),
        ])
        #expect(throws: AdvertisementContent.unusable) { try full.set(name: "", isDiscoverable: false) }
    }

    @Test("Bad types, UUIDs and values of other types are refused")
    func refusals() {
        let wrong: [[(name: String, value: BusValue)]] = [
            [], [("Type", .string("pigeon"))], [("Type", .string("peripheral")), ("ServiceUUIDs", .strings(["zz"]))],
            [("Type", .string("peripheral")), ("Includes", .strings(["everything"]))],
            [("Type", .string("peripheral")), ("LocalName", .byte(1))],
            [
                ("Type", .string("peripheral")),
                ("Data", .dictionary(of: "yv", [.init(.byte(9), .variant(.octets([1])))])),
            ],
        ]
        for properties in wrong {
            #expect(throws: AdvertisementContent.unusable) { try AdvertisementContent(properties) }
        }
    }
}
