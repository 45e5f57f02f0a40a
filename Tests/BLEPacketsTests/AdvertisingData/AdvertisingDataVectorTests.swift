import Foundation
import Testing

@testable import BLEPackets

/// Payloads of real devices with what other readers made of them.
@Suite("Advertising data of real devices")
struct AdvertisingDataVectorTests {
    struct File: Decodable { var vectors: [Vector] }

    struct Vector: Decodable {
        var source: String
        var data: String
        var expected: Expected
    }

    struct Expected: Decodable {
        var flags: UInt8?
        var statesFlags: Bool
        var localName: String?
        var nameComplete: Bool?
        var txPower: Int8?
        var appearance: UInt16?
        var serviceUUIDs: Set<BluetoothUUID>?
        var manufacturerData: Pairs?
        var serviceData: Pairs?

        enum Key: String, CodingKey {
            case flags, localName, nameComplete, txPower, appearance, serviceUuids, manufacturerData, serviceData
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Key.self)
            statesFlags = values.contains(.flags)
            flags = try values.decodeIfPresent(UInt8.self, forKey: .flags)
            localName = try values.decodeIfPresent(String.self, forKey: .localName)
            nameComplete = try values.decodeIfPresent(Bool.self, forKey: .nameComplete)
            txPower = try values.decodeIfPresent(Int8.self, forKey: .txPower)
            appearance = try values.decodeIfPresent(UInt16.self, forKey: .appearance)
            if let texts = try values.decodeIfPresent([String].self, forKey: .serviceUuids) {
                serviceUUIDs = Set(texts.compactMap(BluetoothUUID.init(_:)))
            }
            manufacturerData = try values.decodeIfPresent(Pairs.self, forKey: .manufacturerData)
            serviceData = try values.decodeIfPresent(Pairs.self, forKey: .serviceData)
        }
    }

    /// `{identifier: hexadecimal}` or a list of objects; UUIDs in full, companies as four digits.
    struct Pairs: Decodable {
        var isMap: Bool
        var pairs: [[String]]

        struct Entry: Decodable {
            var company: Int?
            var uuid: String?
            var id: String?
            var data: String
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let map = try? container.decode([String: String].self) {
                isMap = true
                pairs = map.map { [Self.full($0.key), $0.value] }
            } else {
                isMap = false
                pairs = try container.decode([Entry].self).map { entry in
                    let company = entry.company.map { Self.full(Self.fourDigits($0)) }
                    return [company ?? Self.full(entry.uuid ?? entry.id ?? ""), entry.data]
                }
            }
            pairs.sort { $0.lexicographicallyPrecedes($1) }
        }

        /// One form for UUIDs and companies, so that both compare as text.
        static func full(_ text: String) -> String { BluetoothUUID(text)?.fullDescription ?? text }

        static func fourDigits(_ value: Int) -> String {
            let digits = String(value, radix: 16)
            return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
    }

    @Test(
        "every payload is read as the shared vectors say",
        .enabled(if: SharedVectors.has("ad.json"), "needs ad.json, see JELLING_VECTORS"))
    func sharedVectors() throws {
        let vectors = try SharedVectors.load("ad.json", as: File.self).vectors
        #expect(!vectors.isEmpty)
        for (index, vector) in vectors.enumerated() {
            let bytes = octets(vector.data)
            compare(AdvertisingData(advertisement: bytes.span.bytes), vector, "\(index) \(vector.source)")
        }
    }

    private func compare(_ data: AdvertisingData, _ vector: Vector, _ name: Comment) {
        let expected = vector.expected
        if expected.statesFlags { #expect(data.flags == expected.flags, name) }
        if let localName = expected.localName {
            #expect(data.localName == localName, name)
            if let isComplete = expected.nameComplete { #expect(data.isNameComplete == isComplete, name) }
        }
        if let txPower = expected.txPower { #expect(data.txPower == txPower, name) }
        if let appearance = expected.appearance { #expect(data.appearance == appearance, name) }
        if let uuids = expected.serviceUUIDs {
            #expect(Set(data.serviceUUIDs) == uuids, name)
            #expect(data.serviceUUIDs.count == uuids.count, name)
        }
        if let pairs = expected.manufacturerData {
            let found = data.manufacturerData.map { [Pairs.full(Pairs.fourDigits(Int($0.company))), text($0.data)] }
            #expect(isEqual(found, pairs), name)
        }
        if let pairs = expected.serviceData, !pairs.pairs.isEmpty {
            #expect(isEqual(data.serviceData.map { [$0.uuid.fullDescription, text($0.data)] }, pairs), name)
        }
    }

    private func isEqual(_ found: [[String]], _ expected: Pairs) -> Bool {
        let sorted = found.sorted { $0.lexicographicallyPrecedes($1) }
        guard expected.isMap else { return sorted == expected.pairs }
        let map = Dictionary(sorted.map { ($0[0], $0[1]) }) { _, last in last }
        return map == Dictionary(uniqueKeysWithValues: expected.pairs.map { ($0[0], $0[1]) })
    }

    private func text(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
