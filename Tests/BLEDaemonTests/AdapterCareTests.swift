import BLE
import BLETransport
import FoundationEssentials
import Glibc
import Synchronization
import Testing

@testable import BLEDaemon

@Suite("Power management of adapters")
struct AdapterCareTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "jelling-care-\(UUID())")
    private let lines = Lines()

    private final class Lines: Sendable { let all = Mutex<[String]>([]) }

    private var control: String { folder.appending(path: "control").path }

    private func care(keepsAwake: Bool, isAutomatic: Bool = true) throws -> AdapterCare {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data((isAutomatic ? "auto\n" : "on\n").utf8).write(to: URL(filePath: control))
        var configuration = Daemon.Configuration(
            transport: .userChannel(adapter: 0), adapter: AdapterConfiguration(), socketPath: "@none", users: [])
        configuration.keepsAwake = keepsAwake
        let lines = lines
        configuration.logged = { _, line in lines.all.withLock { $0.append(line) } }
        let path = control
        return AdapterCare(configuration) { index in
            var hardware = AdapterHardware(index: index)
            hardware.power = .init(isAutomatic: isAutomatic, path: path)
            return hardware
        }
    }

    private var value: String { (try? String(contentsOfFile: control, encoding: .utf8)) ?? "" }

    @Test("autosuspend is told once, with the remedy, and changed only where the settings say so (A82)")
    func told() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let care = try care(keepsAwake: false)
        for _ in 0..<3 {
            let notes = care.isUsed(0)
            #expect(notes.count == 1 && notes[0].contains("echo on > \(control)") && notes[0].contains("keepsAwake"))
        }
        #expect(lines.all.withLock { $0.count } == 1)
        care.release()
        #expect(value == "auto\n")
    }

    @Test("where the settings say so, the device stays awake while it is used, and gets its setting back (A82)")
    func awake() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let care = try care(keepsAwake: true)
        #expect(care.isUsed(0) == [])
        #expect(value.hasPrefix("on\n"))
        care.release()
        #expect(value == "auto\n")
        // One that was awake is left alone.
        let other = try self.care(keepsAwake: true, isAutomatic: false)
        #expect(other.isUsed(0) == [])
        other.release()
        #expect(value == "on\n" && lines.all.withLock { $0.count } == 1)
    }

    @Test("a setting that bled may not write, or that is a link, is told, and nothing else is written (A82)")
    func forbidden() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let care = try care(keepsAwake: true)
        let other = folder.appending(path: "other").path
        try Data("auto\n".utf8).write(to: URL(filePath: other))
        unsafe unlink(control)
        unsafe symlink(other, control)
        let notes = care.isUsed(0)
        #expect(notes.count == 1 && notes[0].contains("may not change") && notes[0].contains("udev"))
        care.release()
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "auto\n")
    }
}
