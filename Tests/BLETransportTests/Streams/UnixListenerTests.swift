import Foundation
import Testing

@testable import BLETransport

@Suite("Unix sockets that programs connect to")
struct UnixListenerTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        // The path of a socket is short.
        let folder = FileManager.default.temporaryDirectory.path + "/l-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    private func mode(_ path: String) -> UInt32? {
        var information = stat()
        return unsafe lstat(path, &information) == 0 ? information.st_mode & 0o7777 : nil
    }

    @Test("the file of a socket gets the mode that was asked for, whatever the mask, and can change it")
    func modes() throws {
        try withFolder { folder in
            let listener = try UnixListener(path: folder + "/socket", mode: 0o666)
            #expect(mode(folder + "/socket") == 0o666)
            #expect(listener.setMode(0o600))
            #expect(mode(folder + "/socket") == 0o600)
            listener.close()
            #expect(!FileManager.default.fileExists(atPath: folder + "/socket"))
        }
    }

    @Test("what somebody has put in place of the socket does not get its mode", arguments: ["link", "file", "nothing"])
    func replaced(by kind: String) throws {
        try withFolder { folder in
            let (path, secret) = (folder + "/socket", folder + "/secret")
            let listener = try UnixListener(path: path)
            defer { listener.close() }
            #expect(FileManager.default.createFile(atPath: secret, contents: Data()))
            #expect(unsafe chmod(secret, 0o600) == 0)
            #expect(unsafe unlink(path) == 0)
            if kind == "link" { #expect(unsafe symlink(secret, path) == 0) }
            if kind == "file" { #expect(unsafe link(secret, path) == 0) }
            #expect(!listener.setMode(0o666))
            #expect(mode(secret) == 0o600)
        }
    }

    @Test("nor does a socket of another user", .enabled(if: geteuid() == 0, "only root can give a socket away"))
    func foreign() throws {
        try withFolder { folder in
            let listener = try UnixListener(path: folder + "/socket")
            defer { listener.close() }
            #expect(unsafe chown(folder + "/socket", 65534, 65534) == 0)
            #expect(!listener.setMode(0o666))
            #expect(mode(folder + "/socket") == 0o600)
        }
    }

    @Test("who connects hears from the kernel who listens")
    func listener() throws {
        try withFolder { folder in
            let listener = try UnixListener(path: folder + "/socket")
            defer { listener.close() }
            let stream = try ByteStream.connect(unixPath: folder + "/socket")
            #expect(stream.peer?.user == geteuid())
            stream.close()
        }
    }
}
