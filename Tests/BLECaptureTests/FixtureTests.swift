import Foundation
import Testing

@testable import BLECapture

/// The captures of the project's own sessions, wherever they lie below `Fixtures`.
private let fixtures: [String] = {
    let folder = packageFolder.appendingPathComponent("Fixtures").path
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    // `ForeignFixtureTests` reads the captures in the forms of others.
    return names.filter { CaptureFormat(ending: $0) != nil && !$0.hasPrefix("foreign/") }.sorted().map {
        "\(folder)/\($0)"
    }
}()

@Suite("Fixtures", .enabled(if: !fixtures.isEmpty, "Fixtures holds no captures yet"))
struct FixtureTests {
    @Test("every capture reads to its end, in order of time", arguments: fixtures)
    func readsWhole(path: String) {
        let reading = Reading(path: path)
        #expect(reading.errors == [])
        #expect(!reading.records.isEmpty)
        #expect(zip(reading.records, reading.records.dropFirst()).allSatisfy { $0.time <= $1.time })
    }

    @Test("every capture goes through btsnoop, pcap, pcapng and PacketLogger and back", arguments: fixtures)
    func roundTrips(path: String) throws {
        let packets = Reading(path: path).records.filter { record in
            guard case .packet = record.content else { return false }
            return record.bytes.first != 0x05  // PacketLogger has no form for ISO data
        }
        var bytes = try written(packets, as: .btsnoop)
        let first = bytes
        for format in [CaptureFormat.pcap, .pcapng, .packetLogger, .btsnoop] {
            bytes = try written(Reading(bytes).records, as: format)
        }
        #expect(bytes == first)
    }
}
