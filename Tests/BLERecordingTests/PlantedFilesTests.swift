import BLECapture
import BLEHost
import BLERecording
import Foundation
import Testing

/// What another user of the machine may put in the place of a recording, which holds keys.
@Suite("Recordings among planted files", .timeLimit(.minutes(10)))
struct PlantedFilesTests {
    private let folder: String
    private var files: RecordingFiles { RecordingFiles(folder + "/session") }
    private static let isRoot = geteuid() == 0

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("planted-\(UUID().uuidString)").path
        try #require(unsafe mkdir(folder, 0o700) == 0)
    }

    private func refusal() -> String? {
        do throws(RecordingError) {
            _ = try RecordingWriter(files)
            return nil
        } catch {
            return error.description
        }
    }

    @Test("a file that another user owns gets no keys", .enabled(if: isRoot, "needs root"))
    func foreign() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for path in [files.packets, files.inputs] {
            try "theirs".write(toFile: path, atomically: false, encoding: .utf8)
            unsafe chown(path, 65534, 65534)
            #expect(
                refusal() == "‘\(path)’ is owned by user 65534, not by you (user 0): remove it, or choose another file")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "theirs")
            unsafe unlink(path)
            // What was made for the other file is gone again.
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }

    @Test("a link, a pipe and a file with a second name get no keys")
    func planted() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let other = folder + "/other"
        try "private".write(toFile: other, atomically: false, encoding: .utf8)
        let plants: [(String, (String) -> Void)] = [
            ("is a symbolic link", { unsafe symlink(other, $0) }),
            ("is a symbolic link", { unsafe symlink(folder + "/none", $0) }),
            ("is a pipe", { unsafe mkfifo($0, 0o600) }), ("has other names", { unsafe link(other, $0) }),
        ]
        for path in [files.packets, files.inputs] {
            for (word, plant) in plants {
                plant(path)
                #expect(refusal()?.contains(word) == true)
                unsafe unlink(path)
            }
        }
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "private")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["other"])
    }

    @Test("this user's own file is closed to others before anything is written into it")
    func mode() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for path in [files.packets, files.inputs] {
            try "old".write(toFile: path, atomically: false, encoding: .utf8)
            unsafe chmod(path, 0o644)
        }
        let writer = try RecordingWriter(files)
        for path in [files.packets, files.inputs] {
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "old")
        }
        writer.observe(.packet([0x04, 0x10, 0x01, 0x00]), at: .zero)
        // What takes its name meanwhile gets nothing.
        unsafe rename(files.packets, folder + "/moved")
        unsafe symlink(folder + "/victim", files.packets)
        try writer.finish()
        #expect(!FileManager.default.fileExists(atPath: folder + "/victim"))
        var reader = try CaptureReader(path: folder + "/moved")
        let count = try reader.next()?.bytes.byteCount
        #expect(count == 4)
    }
}
