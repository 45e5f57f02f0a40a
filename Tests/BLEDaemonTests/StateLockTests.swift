import Foundation
import Synchronization
import Testing

@testable import BLEDaemon

@Suite("A state folder is one daemon's")
struct StateLockTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("state-\(UUID())")

    private func make() throws {
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    @Test("what is in the place of the lock and is no file of this user is an error, not a folder without a lock")
    func planted() throws {
        try make()
        defer { try? FileManager.default.removeItem(at: folder) }
        let place = folder.appendingPathComponent("bled.lock").path
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let path = folder.path
        let aFolder = try #require(throws: StateLock.Problem.self) { _ = try StateLock(path: path) }
        #expect(aFolder.description.contains("‘\(place)’ is a folder"), "\(aFolder)")
        try FileManager.default.removeItem(atPath: place)
        try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: "/etc/hostname")
        let aLink = try #require(throws: StateLock.Problem.self) { _ = try StateLock(path: path) }
        #expect(aLink.description.contains("‘\(place)’ is a symbolic link"), "\(aLink)")
        try FileManager.default.removeItem(atPath: place)
        let lock = try StateLock(path: path)
        lock.release()
    }

    @Test("a folder that cannot be written is used without a lock")
    func unwritable() throws {
        // Nobody can make a file there, not even root.
        let lock = try StateLock(path: "/sys")
        lock.release()
    }

    @Test("the list of processes is written to no link, and only its user can read it")
    func processes() throws {
        try make()
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("processes").path
        let other = folder.appendingPathComponent("other").path
        try Data("of somebody".utf8).write(to: URL(filePath: other))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: other)
        let said = Mutex<[String]>([])
        let stage = try DaemonStage { configuration in
            configuration.processesPath = path
            configuration.logged = { _, line in said.withLock { $0.append(line) } }
        }
        stage.withDaemon { $0.withCore { core in core.saveProcesses() } }
        #expect(FileManager.default.contents(atPath: other) == Data("of somebody".utf8))
        let link = try FileManager.default.attributesOfItem(atPath: path)
        #expect(link[.type] as? FileAttributeType == .typeSymbolicLink)
        let lines = said.withLock { $0 }
        #expect(lines.contains { $0.contains("which apps run cannot be written down: ‘\(path)’ is a symbolic link") })
        try FileManager.default.removeItem(atPath: path)
        stage.withDaemon { $0.withCore { core in core.saveProcesses() } }
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.type] as? FileAttributeType == .typeRegular)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
}
