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
        "the engine sends today what it sent when the session was recorded, byte for byte",
        .enabled(if: !recordings.isEmpty, "Fixtures/ holds no recording; Tools/Interop/record makes them"),
        arguments: recordings)
    func replays(_ recording: String) throws {
        let outcome = try Replayer.replay(RecordingFiles(Self.folder.appendingPathComponent(recording).path))
        #expect(outcome.mismatchCount == 0, "\(String(describing: outcome.firstMismatch))")
        #expect(outcome.packetCount > 0)
        #expect(outcome.unreachedPacketCount == 0)
    }
}
