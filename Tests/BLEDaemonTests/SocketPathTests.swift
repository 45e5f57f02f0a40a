import Foundation
import Testing

@testable import BLEDaemonClient
@testable import BLETransport

@Suite("The sockets of daemons")
struct SocketPathTests {
    private func withFolder(_ body: (String) throws -> Void) throws {
        // The path of a socket is short.
        let folder = FileManager.default.temporaryDirectory.path + "/s-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    /// A socket that a killed process has left.
    private func leave(_ path: String) throws {
        let listener = try UnixListener(path: path + ".new")
        // It removes the path that it knows.
        try FileManager.default.moveItem(atPath: path + ".new", toPath: path)
        listener.close()
    }

    /// Connects until no more may wait: as with a process that hangs.
    private func crowd(_ path: String) -> [Int32] {
        var crowd: [Int32] = []
        while crowd.count < 1000, let one = try? StreamSockets.connect(unixPath: path, waits: false) {
            crowd.append(one)
        }
        return crowd
    }

    @Test(
        "the adapters of a daemon have numbered sockets; what an earlier daemon has left is none of them")
    func adapters() throws {
        try withFolder { folder in
            let path = folder + "/bled.sock"
            // Whoever asks there hears why.
            #expect(DaemonClient.adapterSocketPaths(of: path) == [path])
            let listeners = try [path, path + ".2", path + ".4", path + ".17"].map { try UnixListener(path: $0) }
            defer { for listener in listeners { listener.close() } }
            try leave(path + ".3")
            // Everybody can link to the sockets of others.
            try FileManager.default.createSymbolicLink(atPath: path + ".5", withDestinationPath: path)
            #expect(DaemonClient.adapterSocketPaths(of: path) == [path, path + ".2", path + ".4"])
            #expect(DaemonClient.adapterSocketPaths(of: path + ".2") == [path + ".2"])
            #expect(DaemonClient.adapterSocketPaths(of: "@abstract") == ["@abstract"])
        }
    }

    @Test("a socket of another user is no adapter", .enabled(if: geteuid() == 0, "only root can give a socket away"))
    func socketOfAnother() throws {
        try withFolder { folder in
            let path = folder + "/bled.sock"
            let listeners = try [path, path + ".2", path + ".3"].map { try UnixListener(path: $0) }
            defer { for listener in listeners { listener.close() } }
            #expect(unsafe chown(path + ".2", 65_534, 65_534) == 0)
            #expect(DaemonClient.adapterSocketPaths(of: path) == [path, path + ".3"])
        }
    }

    @Test("of a user's and the system's socket the user's counts, unless nobody listens there")
    func shared() throws {
        try withFolder { folder in
            let (own, system) = (folder + "/own", folder + "/system")
            #expect(DaemonClient.sharedSocketPath(of: own, system) == nil)
            try leave(own)
            // It may start again.
            #expect(DaemonClient.sharedSocketPath(of: own, system) == own)
            let listener = try UnixListener(path: system)
            defer { listener.close() }
            #expect(DaemonClient.sharedSocketPath(of: own, system) == system)
            #expect(DaemonClient.sharedSocketPath(of: system, system) == system)
            let other = try UnixListener(path: own)
            defer { other.close() }
            #expect(DaemonClient.sharedSocketPath(of: own, system) == own)
        }
    }

    @Test("a daemon that accepts nobody listens, and whoever looks does not wait for it")
    func hung() throws {
        try withFolder { folder in
            let (own, system) = (folder + "/own", folder + "/system")
            let listeners = try [own, system].map { try UnixListener(path: $0) }
            defer { for listener in listeners { listener.close() } }
            let crowd = crowd(own)
            defer { for one in crowd { close(one) } }
            // A wait would end with this error.
            #expect(throws: TransportError.connectionTimedOut(.unix(path: own))) {
                try StreamSockets.connect(unixPath: own, waits: false)
            }
            #expect(try !UnixListener.isAbandoned(own))
            #expect(DaemonClient.sharedSocketPath(of: own, system) == own)
        }
    }

    @Test("whoever listens is root, this user, or the one who is named; everybody can take an abstract name")
    func trusted() throws {
        let (other, path) = (geteuid() &+ 4321, "/nonexistent/jelling/bled.sock")
        #expect(DaemonClient.isTrusted(0, at: path, named: nil))
        #expect(DaemonClient.isTrusted(geteuid(), at: "@abstract", named: nil))
        #expect(DaemonClient.isTrusted(other, at: "@abstract", named: other))
        for place in [path, "@abstract", "bled.sock", "/bled.sock", "", "/"] {
            #expect(!DaemonClient.isTrusted(other, at: place, named: nil))
            #expect(!DaemonClient.isTrusted(other, at: place, named: other + 1))
        }
    }

    @Test(
        "so is the owner of a folder that only root can have put there",
        .enabled(if: geteuid() == 0, "only root can give a folder away"))
    func ownerOfFolder() throws {
        let other: UInt32 = 65_534
        // /tmp is everybody's; /run is root's.
        let top = "/run/jelling-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: top + "/daemon", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: top) }
        let path = top + "/daemon/bled.sock"
        #expect(!DaemonClient.isTrusted(other, at: path, named: nil))
        #expect(unsafe chown(top + "/daemon", other, other) == 0)
        #expect(DaemonClient.isTrusted(other, at: path, named: nil))
        #expect(!DaemonClient.isTrusted(other - 1, at: path, named: nil))
        // The other user could have made the folder, or put another in its place.
        #expect(unsafe chmod(top, 0o777) == 0)
        #expect(!DaemonClient.isTrusted(other, at: path, named: nil))
        #expect(unsafe chmod(top, 0o755) == 0)
        #expect(unsafe chown(top, other, other) == 0)
        #expect(!DaemonClient.isTrusted(other, at: path, named: nil))
        try withFolder { folder in
            #expect(unsafe chown(folder, other, other) == 0)
            #expect(!DaemonClient.isTrusted(other, at: folder + "/bled.sock", named: nil))
        }
    }
}
