import Foundation
import Testing

@testable import BLECapture

/// A line of `Fixtures/spec-section-8.txt`.
private struct Line {
    var number: Int
    var kind: String
    var name: String
    var bytes: [UInt8]
    var uuids: [[UInt8]]

    static func all() throws -> [Line] {
        let path = packageFolder.appendingPathComponent("Fixtures/spec-section-8.txt")
        let text = try String(contentsOf: path, encoding: .utf8)
        return try text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap {
            index, line in
            guard !line.isEmpty, !line.hasPrefix("#") else { return nil }
            let columns = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            try #require((3...4).contains(columns.count), "line \(index + 1)")
            let octets = columns[2].split(separator: " ").compactMap { UInt8($0, radix: 16) }
            try #require(octets.count == columns[2].split(separator: " ").count, "line \(index + 1)")
            let uuids = columns.count == 4 ? columns[3].split(separator: " ").map(String.init) : []
            return Line(
                number: index + 1, kind: columns[0], name: columns[1], bytes: octets,
                uuids: try uuids.map { try uuid($0) })
        }
    }

    /// The 16 octets of a UUID in the order of its text.
    private static func uuid(_ text: String) throws -> [UInt8] {
        let full = text.count == 4 ? "0000\(text)-0000-1000-8000-00805F9B34FB" : text
        let uuid = try #require(UUID(uuidString: full)).uuid
        return unsafe withUnsafeBytes(of: uuid) { unsafe [UInt8]($0) }
    }

    /// The advertising data of a line that has any.
    var advertisingData: ArraySlice<UInt8>? {
        switch kind {
        case "event": bytes[14..<(bytes.count - 1)]
        case "advertisement", "scan-response": bytes[...]
        default: nil
        }
    }
}

@Suite("The bytes of SPEC section 8")
struct SpecificationBytesTests {
    @Test("every line is consistent: lengths of events, reports and AD structures agree")
    func linesAreWhole() throws {
        let lines = try Line.all()
        #expect(lines.count == 17)
        for line in lines {
            if line.kind == "event" {
                #expect(Array(line.bytes[..<2]) == [0x04, 0x3E], "line \(line.number)")
                #expect(Int(line.bytes[2]) == line.bytes.count - 3, "line \(line.number)")
                #expect(Int(line.bytes[13]) == line.bytes.count - 15, "line \(line.number)")
            }
            if var rest = line.advertisingData {
                while let length = rest.first {
                    #expect(length > 0 && Int(length) < rest.count, "line \(line.number)")
                    rest = rest.dropFirst(Int(length) + 1)
                }
            }
            if line.kind == "mask" { #expect(line.bytes.count == 16) }
            if line.kind == "filter" { #expect(line.bytes.count == 17 && line.bytes[0] == 0x01) }
        }
    }

    @Test("the masks have exactly the bits of their UUIDs (SPEC 3.2)")
    func masks() throws {
        for line in try Line.all() where !line.uuids.isEmpty {
            var expected = [UInt8](repeating: 0, count: 16)
            for uuid in line.uuids {
                var check: UInt8 = 0
                for octet in uuid {
                    check ^= octet
                    for _ in 0..<8 { check = check & 0x80 != 0 ? check << 1 ^ 0x09 : check << 1 }
                }
                expected[Int(check & 0x7F) >> 3] |= 1 << (check & 7)
            }
            let mask: ArraySlice<UInt8> =
                switch line.kind {
                case "mask": line.bytes[...]
                case "event": line.bytes.dropLast().suffix(16)
                default: line.bytes.suffix(16)
                }
            #expect(Array(mask) == expected, "line \(line.number): \(line.name)")
        }
    }

    @Test("the events go through every format and back")
    func eventsInCaptures() throws {
        let events = try Line.all().filter { $0.kind == "event" }.enumerated().map { number, line in
            Recorded(.packet(.controllerToHost), line.bytes, at: Sample.start + Int64(number))
        }
        for format in [CaptureFormat.btsnoop, .btsnoopMonitor, .btsnoopUnencapsulated, .pcap, .pcapng, .packetLogger] {
            #expect(Reading(try written(events, as: format)).records == events)
        }
    }
}
