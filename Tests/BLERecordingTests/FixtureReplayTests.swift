import BLERecording
import Foundation
import Testing

@Suite("Recordings in Fixtures")
struct FixtureReplayTests {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Fixtures")

    /// Every recording of a session with a real controller.
    static let recordings: [String] = {
        let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return files.filter { $0.hasSuffix(".inputs.jsonl") }.sorted()
    }()

    @Test(
        "an octet that is sent differently is found in its packet, and shown under the one that was recorded",
        .enabled(if: !recordings.isEmpty, "Fixtures/ holds no recording; Tools/record makes them"))
    func changedOctet() throws {
        let folder = try TemporaryFolder()
        let name = try #require(Self.recordings.first { $0.hasPrefix("btvirt-session") } ?? Self.recordings.first)
        let source = RecordingFiles(Self.folder.appendingPathComponent(name).path)
        let copy = RecordingFiles(folder.path + "/changed")
        try FileManager.default.copyItem(atPath: source.inputs, toPath: copy.inputs)
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: source.existingPackets)))
        // The fifth packet of the host, its second parameter or what stands there.
        let records = BtsnoopPlaces(bytes).packets.filter(\.isFromHost)
        let place = try #require(records.dropFirst(4).first).range
        bytes[place.upperBound - 1] ^= 0x10
        try Data(bytes).write(to: URL(fileURLWithPath: copy.packets))

        let outcome = try Replayer.replay(copy)
        let mismatch = try #require(outcome.firstMismatch)
        #expect(outcome.mismatchCount == 1)
        #expect(mismatch.index == 4)
        #expect(mismatch.differenceOffset == place.count - 1)
        let lines = mismatch.description.split(separator: "\n")
        #expect(lines[0].hasPrefix("packet 4 of the host, at "))
        #expect(lines[0].hasSuffix(" µs, differs at octet \(place.count - 1):"))
        #expect(lines[1].hasPrefix("  recorded  ") && lines[2].hasPrefix("  now       "))
        #expect(lines[1].count == lines[3].count && lines[3].hasSuffix("^^"))
    }

    @Test(
        "the engine sends today what it sent when the session was recorded, byte for byte",
        .enabled(if: !recordings.isEmpty, "Fixtures/ holds no recording; Tools/record makes them"),
        arguments: recordings)
    func replays(_ recording: String) throws {
        let outcome = try Replayer.replay(RecordingFiles(Self.folder.appendingPathComponent(recording).path))
        #expect(outcome.mismatchCount == 0, "\(outcome.firstMismatch?.description ?? "")")
        #expect(outcome.packetCount > 0)
        #expect(outcome.unreachedPacketCount == 0)
        #expect(!outcome.isCut)
    }
}

/// Where the packets stand in a btsnoop file.
struct BtsnoopPlaces {
    struct Place {
        var isFromHost: Bool
        var range: Range<Int>
    }

    private(set) var packets: [Place] = []

    init(_ bytes: [UInt8]) {
        func word(_ offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        var offset = 16
        while offset + 24 <= bytes.count {
            let end = offset + 24 + word(offset + 4)
            packets.append(Place(isFromHost: word(offset + 8) & 1 == 0, range: offset + 24..<end))
            offset = end
        }
    }
}
