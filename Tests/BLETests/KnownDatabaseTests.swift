import BLE
import Foundation
import Testing

@Suite("Databases that a program keeps")
struct KnownDatabaseTests {
    private static func handle(_ number: UInt16) -> AttributeHandle { AttributeHandle(rawValue: number) }

    private static func database(hash: [UInt8]? = Array(0..<16)) -> KnownDatabase {
        let battery = Service(uuid: 0x180F, range: .init(handle(30), handle(33)), isPrimary: false)
        let own: BluetoothUUID = "71DA3FD1-7E10-41C1-B16F-4430B506CDE7"
        return KnownDatabase(
            hash: hash,
            contents: [
                ServiceContents(
                    service: Service(uuid: .heartRate, range: .init(handle(10), handle(15)), isPrimary: true),
                    includedServices: [IncludedService(handle: handle(11), service: battery)],
                    characteristics: [
                        .init(
                            characteristic: Characteristic(
                                uuid: 0x2A37, handle: handle(12), valueHandle: handle(13), endHandle: handle(15),
                                properties: .notify),
                            descriptors: [
                                Descriptor(uuid: 0x2902, handle: handle(14)), Descriptor(uuid: own, handle: handle(15)),
                            ])
                    ]),
                ServiceContents(service: battery),
            ])
    }

    @Test(
        "what is kept is what was discovered",
        arguments: [database(), database(hash: nil), .init(hash: nil, contents: [])])
    func roundTrip(database: KnownDatabase) throws {
        let kept = try JSONEncoder().encode(database)
        #expect(try JSONDecoder().decode(KnownDatabase.self, from: kept) == database)
        let list = try PropertyListEncoder().encode(database)
        #expect(try PropertyListDecoder().decode(KnownDatabase.self, from: list) == database)
    }

    /// Written by version 1; it must stay readable.
    private static let first = """
        {"version":1,"hash":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15],"services":[
          {"uuid":"180D","handle":10,"endHandle":15,"primary":true,
           "includes":[{"handle":11,"uuid":"180F","firstHandle":30,"endHandle":33}],
           "characteristics":[{"handle":12,"valueHandle":13,"endHandle":15,"properties":16,"uuid":"2A37","descriptors":[
             {"handle":14,"uuid":"2902"},{"handle":15,"uuid":"71DA3FD1-7E10-41C1-B16F-4430B506CDE7"}]}]},
          {"uuid":"180F","handle":30,"endHandle":33,"primary":false,"includes":[],"characteristics":[]}]}
        """

    @Test("the first form is read, and the same form is written")
    func firstForm() throws {
        let read = try JSONDecoder().decode(KnownDatabase.self, from: Data(Self.first.utf8))
        #expect(read == Self.database())
        let written = try JSONSerialization.jsonObject(with: JSONEncoder().encode(read)) as? NSDictionary
        #expect(written == (try JSONSerialization.jsonObject(with: Data(Self.first.utf8)) as? NSDictionary))
    }

    @Test(
        "a damaged or foreign form is an error, never a wrong database",
        arguments: [
            ("\"version\":1", "\"version\":2"), ("\"version\":1,", ""), ("[0,1,2,", "[0,"), ("[0,1,", "[0,256,"),
            ("\"handle\":10", "\"handle\":0"), ("\"handle\":10", "\"handle\":16"), ("\"handle\":10", "\"handle\":-1"),
            ("\"handle\":10", "\"handle\":65536"), ("\"handle\":12", "\"handle\":13"), ("\"180D\"", "\"18\""),
            ("\"firstHandle\":30", "\"firstHandle\":34"), ("\"properties\":16", "\"properties\":256"),
            ("\"primary\":true,", ""), ("\"descriptors\":[", "\"descriptors\":[[],"),
            ("\"services\":[", "\"services\":[1,"),
        ])
    func damaged(part: String, replacement: String) {
        #expect(Self.first.contains(part))
        let text = Self.first.replacing(part, with: replacement, maxReplacements: 1)
        #expect(throws: Swift.DecodingError.self) {
            try JSONDecoder().decode(KnownDatabase.self, from: Data(text.utf8))
        }
    }

    @Test("a form with more attributes than a discovery can find is an error", arguments: [4000, 9000])
    func tooMany(count: Int) {
        let service = #"{"uuid":"180F","handle":1,"endHandle":2,"primary":true,"includes":[],"characteristics":["#
        let characteristic =
            #"{"handle":1,"valueHandle":2,"endHandle":4,"properties":2,"uuid":"2A19","descriptors":[{"handle":3,"uuid":"2902"}]}"#
        let list = [String](repeating: characteristic, count: count).joined(separator: ",")
        let text = #"{"version":1,"services":["# + service + list + "]}]}"
        #expect(throws: Swift.DecodingError.self) {
            try JSONDecoder().decode(KnownDatabase.self, from: Data(text.utf8))
        }
    }

    @Test("cut short anywhere, it is an error")
    func cut() {
        let octets = Array(Self.first.utf8)
        for length in stride(from: 0, to: octets.count - 1, by: 7) {
            #expect(throws: (any Error).self) {
                try JSONDecoder().decode(KnownDatabase.self, from: Data(octets.prefix(length)))
            }
        }
    }
}
