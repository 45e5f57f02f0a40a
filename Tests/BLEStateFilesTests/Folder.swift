import Foundation
import Testing

/// A folder that goes with its test.
final class Folder: Sendable {
    let path: String

    init(mode: mode_t = 0o700) throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("state-\(UUID().uuidString)").path
        try #require(unsafe mkdir(path, 0o700) == 0)
        unsafe chmod(path, mode)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func place(_ name: String) -> String { path + "/" + name }

    func write(_ text: String, _ name: String, mode: mode_t = 0o600) throws {
        try text.write(toFile: place(name), atomically: false, encoding: .utf8)
        unsafe chmod(place(name), mode)
    }

    func read(_ name: String) -> String? { try? String(contentsOfFile: place(name), encoding: .utf8) }

    func mode(_ name: String) -> mode_t {
        var information = stat()
        return unsafe lstat(place(name), &information) == 0 ? information.st_mode & 0o7777 : 0
    }

    var names: Set<String> { Set((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []) }
}

/// Files of another user can only be made by root.
let isRoot = geteuid() == 0
let stranger: uid_t = 65534
