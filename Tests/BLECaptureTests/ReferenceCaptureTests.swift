import BLEPackets
import Foundation
import Testing

@testable import BLECapture

/// The counts that tshark made of a capture.
private struct Reference: Decodable {
    struct Counts: Decodable {
        var frames: Int
        var byPacketType: [String: Int]
        enum CodingKeys: String, CodingKey {
            case frames
            case byPacketType = "by_packet_type"
        }
    }
    var file: String
    var tshark: Counts

    static func all() throws -> [Reference] {
        let data = try Data(contentsOf: foreignCaptures.appendingPathComponent("reference.json"))
        return try JSONDecoder().decode([Reference].self, from: data)
    }
}

private let isPresent = FileManager.default.fileExists(
    atPath: foreignCaptures.appendingPathComponent("reference.json").path)

@Suite(
    "Captures of others",
    .enabled(if: isPresent, "reference.json is missing: name the folder of the captures in JELLING_CAPTURES"))
struct ReferenceCaptureTests {
    private func counts(_ records: [Recorded]) -> [String: Int] {
        var counts: [String: Int] = [:]
        for record in records {
            guard case .packet = record.content, let octet = record.bytes.first else {
                counts["other", default: 0] += 1
                continue
            }
            let name =
                switch H4PacketType(rawValue: octet) {
                case .command: "command"
                case .event: "event"
                case .acl: "acl"
                case .sco: "sco"
                case .iso: "iso"
                case nil: "other"
                }
            counts[name, default: 0] += 1
        }
        return counts
    }

    @Test("frames and packet types are those that tshark counts")
    func countsAgree() throws {
        let references = try Reference.all()
        #expect(!references.isEmpty)
        for reference in references {
            let reading = Reading(path: foreignCaptures.appendingPathComponent(reference.file).path)
            #expect(reading.errors.isEmpty, "\(reference.file)")
            #expect(reading.records.count == reference.tshark.frames, "\(reference.file)")
            #expect(counts(reading.records) == reference.tshark.byPacketType, "\(reference.file)")
        }
    }

    @Test("each goes through every format and back with its packets, directions and times")
    func roundTrips() throws {
        for reference in try Reference.all() {
            let original = Reading(path: foreignCaptures.appendingPathComponent(reference.file).path).records
            let packets = original.filter { if case .packet = $0.content { true } else { false } }
            for format in [CaptureFormat.btsnoop, .btsnoopMonitor, .pcap, .pcapng, .packetLogger] {
                let keepsNotes = format == .btsnoopMonitor
                let reading = Reading(try written(original, as: format))
                #expect(reading.errors.isEmpty && reading.format == format, "\(reference.file) as \(format)")
                let expected = (keepsNotes ? original : packets).map { record in
                    var record = record
                    if format != .btsnoopMonitor && format != .pcapng { record.adapter = 0 }
                    if format == .packetLogger { record.originalByteCount = record.bytes.count }
                    return record
                }
                #expect(reading.records == expected, "\(reference.file) as \(format)")
            }
        }
    }
}
