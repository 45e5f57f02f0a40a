import BLELinux
import Glibc

/// A TCP socket that programs connect to.
public final class TCPListener: Sendable {
    /// Watched by a loop: it is readable when somebody waits.
    public let descriptor: Int32
    /// The port, also where port 0 let the kernel choose one.
    public let port: UInt16

    /// - Parameters:
    ///   - host: a numeric address of this machine, of IPv4 or IPv6.
    ///   - port: 0 picks a free one.
    /// - Throws: `TransportError.system`: `EADDRINUSE` where a program listens there, `EADDRNOTAVAIL` for an address
    ///   that this machine does not have.
    public init(host: String, port: UInt16) throws(TransportError) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        var list: UnsafeMutablePointer<addrinfo>?
        let result = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard result == 0, let entry = unsafe list else {
            throw unsafe .hostNotFound(host, reason: String(cString: gai_strerror(result)))
        }
        defer { unsafe freeaddrinfo(list) }
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        descriptor = unsafe socket(entry.pointee.ai_family, Int32(type), 0)
        guard descriptor >= 0 else { throw .system(call: "socket", code: errno) }
        var on: Int32 = 1
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        guard unsafe bind(descriptor, entry.pointee.ai_addr, entry.pointee.ai_addrlen) == 0,
            Glibc.listen(descriptor, 8) == 0
        else {
            let code = errno
            Glibc.close(descriptor)
            throw .system(call: "bind", code: code)
        }
        self.port = port == 0 ? Self.boundPort(descriptor) : port
    }

    deinit { Glibc.close(descriptor) }

    /// The next connection that waits, not blocking and sending at once; `nil` where there is none.
    public func accept() -> Int32? {
        let client = clinux_accept(descriptor)
        guard client >= 0 else { return nil }
        StreamSockets.setUpTCP(client)
        return client
    }

    private static func boundPort(_ descriptor: Int32) -> UInt16 {
        // The port is at the same place in the addresses of both families.
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        return result == 0 ? UInt16(bigEndian: address.sin6_port) : 0
    }
}
