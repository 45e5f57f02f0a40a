import Foundation
import Testing

@testable import BLECapture

/// A capture of `Fixtures/foreign`, and what `Tools/Vectors/foreign_captures.py`, which made it, says of it.
struct ForeignFixture: Decodable, Sendable, CustomTestStringConvertible {
    struct Expectation: Decodable, Sendable {
        /// The words of the refusal; `nil` for a capture that is read.
        var refused: String?
        var format: String?
        var packets: Int?
        var notes: Int?
        /// Records of interfaces that carry no HCI.
        var omitted: Int?
        var errors: Int?
    }

    var name: String
    var expected: Expectation
    var path: String { Self.folder.appendingPathComponent(name).path }
    var testDescription: String { name }

    static let folder = packageFolder.appendingPathComponent("Fixtures/foreign")

    static let all: [ForeignFixture] = {
        guard let table = try? Data(contentsOf: folder.appendingPathComponent("expected.json")),
            let expected = try? JSONDecoder().decode([String: Expectation].self, from: table)
        else { return [] }
        return expected.keys.sorted().compactMap { name in
            expected[name].map { ForeignFixture(name: name, expected: $0) }
        }
    }()
}

@Suite("Captures in the forms of other programs")
struct ForeignFixtureTests {
    @Test("the table is there, and has every file of the folder")
    func table() throws {
        let there = try FileManager.default.contentsOfDirectory(atPath: ForeignFixture.folder.path)
        #expect(ForeignFixture.all.count >= 35)
        #expect(Set(there) == Set(ForeignFixture.all.map(\.name) + ["expected.json"]))
    }

    @Test("each is read, or refused by what it is", arguments: ForeignFixture.all)
    func opens(fixture: ForeignFixture) throws {
        var (packets, notes, errors) = (0, 0, 0)
        do throws(CaptureError) {
            var reader = try CaptureReader(path: fixture.path)
            #expect("\(reader.format)" == fixture.expected.format)
            var isOver = false
            while !isOver {
                do throws(CaptureError) {
                    guard let record = try reader.next() else { break }
                    if case .note = record.content { notes += 1 } else { packets += 1 }
                } catch {
                    errors += 1
                    isOver = error.isFinal
                }
            }
            let omitted = reader.foreignRecordCount
            #expect(omitted == UInt64(fixture.expected.omitted ?? 0))
        } catch {
            #expect("\(error)" == fixture.expected.refused)
            return
        }
        #expect(fixture.expected.refused == nil)
        #expect(packets == fixture.expected.packets && notes == fixture.expected.notes)
        #expect(errors == fixture.expected.errors)
    }

    @Test("all that carry the whole session have the same packets")
    func sameSession() {
        func packets(_ name: String) -> [Recorded] {
            Reading(path: ForeignFixture.folder.appendingPathComponent(name).path).records.filter {
                if case .packet = $0.content { true } else { false }
            }
        }
        let session = packets("android.btsnoop")
        #expect(session.count == 8)
        for name in [
            "btmon.btsnoop", "direction.pcap", "direction-big-nano.pcap", "monitor.pcap", "direction.pcapng",
            "direction-big.pcapng", "monitor.pcapng", "mixed.pcapng", "hcidump.dump", "h4.pcap",
        ] {
            let found = packets(name)
            #expect(found.map(\.bytes) == session.map(\.bytes), "\(name)")
            #expect(found.map(\.content) == session.map(\.content), "\(name)")
            #expect(found.map(\.time) == session.map(\.time), "\(name)")
        }
        for name in [
            "plain.btsnoop", "packetlogger-big.pklg", "packetlogger-little.pklg", "usb-48.pcap", "usb-64.pcap",
            "usb-big.pcap", "usb.pcapng",
        ] {
            #expect(packets(name).map(\.bytes) == session.dropLast().map(\.bytes), "\(name)")
        }
    }
}
