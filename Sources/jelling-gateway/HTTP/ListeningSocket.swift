import BLEGateway
import Glibc

/// Why a socket cannot be used.
struct SocketProblem: Error {
    let text: String
}

/// A TCP socket on which clients connect.
struct ListeningSocket: ~Copyable {
    let descriptor: Int32

    /// - Parameter address: an IPv4 or IPv6 address.
    init(address: String, port: UInt16) throws(SocketProblem) {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(address, String(port), &hints, &found)
        guard code == 0, let place = unsafe found else {
            throw SocketProblem(text: unsafe String(cString: gai_strerror(code)))
        }
        defer { unsafe freeaddrinfo(found) }
        let opened = unsafe socket(place.pointee.ai_family, place.pointee.ai_socktype, place.pointee.ai_protocol)
        guard opened >= 0 else { throw SocketProblem(text: systemText(errno)) }
        Self.prepare(opened)
        var yes: Int32 = 1
        unsafe setsockopt(opened, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard unsafe bind(opened, place.pointee.ai_addr, place.pointee.ai_addrlen) == 0, listen(opened, 128) == 0
        else {
            let problem = systemText(errno)
            close(opened)
            throw SocketProblem(text: problem)
        }
        descriptor = opened
    }

    deinit { close(descriptor) }

    /// No system call waits for this socket, and no other program inherits it.
    private static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    enum Accepted {
        case client(descriptor: Int32, HTTPConnections.Peer)
        case none
        /// There are no descriptors or no memory for another connection.
        case exhausted
    }

    func accept() -> Accepted {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let client = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.accept(descriptor, $0, &length)
            }
        }
        guard client >= 0 else {
            return [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) ? .exhausted : .none
        }
        Self.prepare(client)
        let octets = unsafe withUnsafeBytes(of: &address) { unsafe Array($0) }
        // The structures `sockaddr_in6` and `sockaddr_in` of Linux.
        let isIPv6 = Int32(address.ss_family) == AF_INET6
        let place = isIPv6 ? 8..<24 : 4..<8
        return .client(descriptor: client, HTTPConnections.Peer(address: Array(octets[place])))
    }
}
