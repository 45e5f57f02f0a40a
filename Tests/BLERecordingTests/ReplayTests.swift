import BLECapture
import BLEHost
import BLEPackets
import BLERecording
import Foundation
import Testing

@Suite("Recording and replay")
struct ReplayTests {
    @Test("a recorded walk replays without a mismatch, and again in the same way")
    func replays() throws {
        let folder = try TemporaryFolder()
        let session = try RecordedSession(folder: folder)
        try session.walk()
        let outcome = try Replayer.replay(session.files)
        #expect(outcome.mismatchCount == 0)
        #expect(outcome.firstMismatch == nil)
        #expect(outcome.unreachedPacketCount == 0)
        #expect(outcome.packetCount > 60)
        #expect(try Replayer.replay(session.files) == outcome)
    }

    @Test("both files are for their owner alone: a recording holds keys")
    func permissions() throws {
        let folder = try TemporaryFolder()
        let files = RecordingFiles(folder.path + "/session")
        for path in [files.packets, files.inputs] {
            #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o644]))
        }
        try RecordedSession(folder: folder).walk()
        for path in [files.packets, files.inputs] {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(path)")
        }
    }

    @Test("a changed byte of a host packet is reported with both packets, and the replay continues")
    func changedByte() throws {
        let folder = try TemporaryFolder()
        let session = try RecordedSession(folder: folder)
        try session.walk()
        let original = try Replayer.replay(session.files)
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: session.files.packets)))
        let places = BtsnoopPlaces(bytes).packets.filter(\.isFromHost)
        let offset = try #require(places.dropFirst(3).first).range.upperBound - 1
        bytes[offset] ^= 0x01
        try Data(bytes).write(to: URL(fileURLWithPath: session.files.packets))

        let outcome = try Replayer.replay(session.files)
        #expect(outcome.mismatchCount == 1)
        #expect(outcome.packetCount == original.packetCount)
        let mismatch = try #require(outcome.firstMismatch)
        #expect(mismatch.index == 3)
        let expected = try #require(mismatch.expected)
        let sent = try #require(mismatch.sent)
        #expect(expected.dropLast() == sent.dropLast())
        #expect(expected.last == sent.last.map { $0 ^ 0x01 })
    }

    @Test("packets that are recorded and no longer sent are mismatches")
    func missingPackets() throws {
        let folder = try TemporaryFolder()
        let session = try RecordedSession(folder: folder)
        try session.walk()
        let lines = try String(contentsOfFile: session.files.inputs, encoding: .utf8).split(separator: "\n")
        let shortened = lines.prefix(lines.count / 2).joined(separator: "\n") + "\n"
        try shortened.write(toFile: session.files.inputs, atomically: true, encoding: .utf8)
        let outcome = try Replayer.replay(session.files)
        #expect(outcome.mismatchCount > 0)
        #expect(outcome.firstMismatch?.sent == nil)
        #expect(outcome.unreachedPacketCount > 0)
    }

    @Test("inputs truncated after the last packet sent are recognized by the packets that were never reached")
    func cutInputs() throws {
        let folder = try TemporaryFolder()
        let session = try RecordedSession(folder: folder)
        try session.walk()
        let lines = try String(contentsOfFile: session.files.inputs, encoding: .utf8).split(separator: "\n")
        let last = try #require(lines.lastIndex { $0.contains("\"packet\"") })
        let shortened = lines[..<last].joined(separator: "\n") + "\n"
        try shortened.write(toFile: session.files.inputs, atomically: true, encoding: .utf8)
        #expect(try Replayer.replay(session.files).unreachedPacketCount == 1)
    }

    @Test("a recording without its last line is truncated, even after its last packet")
    func lostEnding() throws {
        let folder = try TemporaryFolder()
        let session = try RecordedSession(folder: folder)
        try session.walk()
        #expect(try !Replayer.replay(session.files).isCut)
        let lines = try String(contentsOfFile: session.files.inputs, encoding: .utf8).split(separator: "\n")
        #expect(lines.last?.contains("\"end\":{}") == true)
        let shortened = lines.dropLast().joined(separator: "\n") + "\n"
        try shortened.write(toFile: session.files.inputs, atomically: true, encoding: .utf8)
        let outcome = try Replayer.replay(session.files)
        #expect(outcome.isCut && outcome.mismatchCount == 0 && outcome.unreachedPacketCount == 0)
        // Recordings of the first days have no such line.
        try shortened.replacingOccurrences(of: ",\"has_ending\":true", with: "")
            .write(toFile: session.files.inputs, atomically: true, encoding: .utf8)
        #expect(try !Replayer.replay(session.files).isCut)
    }

    @Test("existing files stay as they were if the engine got no input")
    func abandoned() throws {
        let folder = try TemporaryFolder()
        let files = RecordingFiles(folder.path + "/session")
        try "precious".write(toFile: files.packets, atomically: true, encoding: .utf8)
        let recorder = try RecordingWriter(files)
        recorder.began(HostConfiguration())
        recorder.abandon()
        recorder.observe(.transportOpened, at: .zero)
        try recorder.finish()
        #expect(try String(contentsOfFile: files.packets, encoding: .utf8) == "precious")
        #expect(!FileManager.default.fileExists(atPath: files.inputs))
    }

    @Test("a last line that was cut off when the program was killed is left out")
    func cutOff() throws {
        let folder = try TemporaryFolder()
        let session = try RecordedSession(folder: folder)
        try session.walk()
        let handle = try #require(FileHandle(forWritingAtPath: session.files.inputs))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("{\"at\":99999999".utf8))
        try handle.close()
        #expect(try Replayer.replay(session.files).mismatchCount == 0)
    }

    @Test(
        "invalid inputs are reported with their line, never a trap",
        arguments: [
            "{", "[]", "{\"at\":1}", "{\"at\":1,\"packet\":7}", "{\"at\":\"x\"}", "\u{0}", "{\"at\":1,\"command\":{}}",
            "{\"at\":-9223372036854775808,\"advance\":{}}", "{\"at\":1,\"advance\":true}",
        ])
    func malformed(_ line: String) throws {
        let folder = try TemporaryFolder()
        let session = try RecordedSession(folder: folder)
        try session.walk()
        let text = try String(contentsOfFile: session.files.inputs, encoding: .utf8)
        let header = try #require(text.split(separator: "\n").first)
        try (header + "\n" + line + "\n").write(toFile: session.files.inputs, atomically: true, encoding: .utf8)
        do throws(RecordingError) {
            _ = try Replayer.replay(session.files)
            Issue.record("replayed")
        } catch {
            guard case .malformedLine(_, line: 2, _) = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test("a recording of another version is refused by its number")
    func otherVersion() throws {
        let folder = try TemporaryFolder()
        let session = try RecordedSession(folder: folder)
        try session.walk()
        let text = try String(contentsOfFile: session.files.inputs, encoding: .utf8)
        for version in [1, 3] {
            try text.replacingOccurrences(of: "\"recording\":2", with: "\"recording\":\(version)")
                .write(toFile: session.files.inputs, atomically: true, encoding: .utf8)
            #expect(throws: RecordingError.unknownVersion(version)) { try Replayer.replay(session.files) }
        }
    }

    @Test("a recording of the first version is refused, whatever its lines have")
    func firstVersion() throws {
        let folder = try TemporaryFolder()
        let session = try RecordedSession(folder: folder)
        try session.walk()
        try "{\"configuration\":{\"ownership\":{\"exclusive\":{}}},\"hasEnding\":true,\"recording\":1}\n"
            .write(toFile: session.files.inputs, atomically: true, encoding: .utf8)
        #expect(throws: RecordingError.unknownVersion(1)) { try Replayer.replay(session.files) }
    }

    @Test("missing files are named")
    func absent() {
        #expect(throws: RecordingError.self) { try Replayer.replay(RecordingFiles("/nonexistent/session")) }
    }
}
