import Foundation
import Testing

@testable import BLETransport

/// A socket that listens, and is gone with the test.
private final class Listener {
    let descriptor: Int32
    private let path: String?

    init(unixPath path: String) {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        self.path = path.hasPrefix("@") ? nil : path
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var name = Array(path.utf8)
        if path.hasPrefix("@") { name[0] = 0 }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        unsafe listen(on: &address, byteCount: 2 + name.count + (path.hasPrefix("@") ? 0 : 1))
    }

    init(tcpFamily family: Int32) {
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        path = nil
        if family == AF_INET6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_addr = in6addr_loopback
            unsafe listen(on: &address, byteCount: MemoryLayout<sockaddr_in6>.size)
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            unsafe listen(on: &address, byteCount: MemoryLayout<sockaddr_in>.size)
        }
    }

    deinit {
        close(descriptor)
        if let path { unsafe unlink(path) }
    }

    private func listen(on address: UnsafeRawPointer, byteCount: Int) {
        unsafe bind(descriptor, address.assumingMemoryBound(to: sockaddr.self), socklen_t(byteCount))
        Glibc.listen(descriptor, 1)
    }

    /// Zero when the family is not there.
    var port: UInt16 {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        return unsafe withUnsafeMutablePointer(to: &address) { pointer in
            let result = unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
            // The port stands at the same place in both families.
            return unsafe result == 0 ? UInt16(bigEndian: pointer.pointee.sin6_port) : 0
        }
    }

    func accept() -> Int32 { Glibc.accept(descriptor, nil, nil) }
}

private func isIPv6There() -> Bool { Listener(tcpFamily: AF_INET6).port != 0 }

@Suite("Stream sockets")
struct StreamSocketTests {
    /// A path of its own in the system's temporary folder.
    private func temporaryPath() -> String { "/tmp/jelling-\(UUID().uuidString.prefix(8))" }

    /// Opens `address`, and passes a packet in each direction.
    private func exchange(_ address: TransportAddress, with listener: Listener) async throws {
        try await withLoop { loop in
            let user = TransportUser(loop: loop)
            try await user.start(try Transports.open(address))
            let peer = listener.accept()
            try await user.send([Sample.reset])
            #expect(readBytes(Sample.reset.count, from: peer) == Sample.reset)
            writeAll(Sample.commandComplete, to: peer)
            #expect(await user.nextEvents(1) == [.packet(Sample.commandComplete)])
            close(peer)
            #expect(await user.eventsUntilClosed() == [.closed(.closedByPeer)])
        }
    }

    private func error(opening text: String) -> TransportError? {
        do throws(TransportError) {
            _ = try Transports.open(try TransportAddress(text))
            return nil
        } catch {
            return error
        }
    }

    @Test("a Unix socket by path")
    func unixPath() async throws {
        let path = temporaryPath()
        try await exchange(.unix(path: path), with: Listener(unixPath: path))
    }

    @Test("a Unix socket by abstract name")
    func unixAbstract() async throws {
        let name = "@" + temporaryPath()
        try await exchange(.unix(path: name), with: Listener(unixPath: name))
    }

    @Test("TCP over IPv4, by address and by name", arguments: ["127.0.0.1", "localhost"])
    func tcp(host: String) async throws {
        let listener = Listener(tcpFamily: AF_INET)
        try await exchange(.tcp(host: host, port: listener.port), with: listener)
    }

    @Test("TCP over IPv6", .enabled(if: isIPv6There(), "this machine has no IPv6 loopback"))
    func tcp6() async throws {
        let listener = Listener(tcpFamily: AF_INET6)
        try await exchange(.tcp(host: "::1", port: listener.port), with: listener)
    }

    @Test("without a listener, the error names the place (pain 8)")
    func refused() {
        let path = temporaryPath()
        var listener: Listener? = Listener(tcpFamily: AF_INET)
        let port = listener?.port ?? 0
        listener = nil
        #expect(error(opening: "tcp:127.0.0.1:\(port)") == .connectionRefused(.tcp(host: "127.0.0.1", port: port)))
        #expect(error(opening: "unix:@\(path)") == .connectionRefused(.unix(path: "@\(path)")))
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(error(opening: "unix:\(path)") == .connectionRefused(.unix(path: path)))
        unsafe unlink(path)
        #expect(error(opening: "tcp:127.0.0.1:\(port)")?.description.contains("nothing is listening") == true)
    }

    @Test("a missing path, a path too long and an unknown host are distinguished (pain 8)")
    func notThere() {
        let path = temporaryPath()
        #expect(error(opening: "unix:\(path)") == .pathNotFound(path))
        #expect(error(opening: "unix:\(path)/below") == .pathNotFound("\(path)/below"))
        let long = String(repeating: "x", count: 200)
        #expect(error(opening: "unix:\(long)") == .system(call: "connect", code: ENAMETOOLONG))
        guard case .hostNotFound("no-such-host.invalid", _)? = error(opening: "tcp:no-such-host.invalid:1") else {
            Issue.record("the host was found")
            return
        }
    }

    @Test("simulator and replay are made by the program that offers them")
    func virtual() throws {
        #expect(error(opening: "sim") == .notOffered(.simulator(scenario: nil)))
        let pair = SocketPair()
        let opened = try Transports.open(.replay(path: "walk")) { address throws(TransportError) in
            #expect(address == .replay(path: "walk"))
            return pair.transport()
        }
        #expect(opened is StreamTransport)
        pair.closePeer()
    }
}
