import BLETransport
import Glibc

/// Where a controller listens for its host.
enum Endpoint: Equatable {
    /// A path that begins with `@` is an abstract name.
    case unix(path: String)
    /// A numeric IPv4 address; port 0 picks a free port.
    case tcp(host: String, port: UInt16)

    /// `unix:PATH`, `unix:@NAME` or `tcp:HOST:PORT`; `nil` for anything else.
    init?(_ text: String) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let rest = text[text.index(after: colon)...]
        switch text[..<colon] {
        case "unix":
            guard !rest.isEmpty, rest != "@", !rest.utf8.contains(0) else { return nil }
            self = .unix(path: String(rest))
        case "tcp":
            guard let colon = rest.lastIndex(of: ":"), let port = UInt16(rest[rest.index(after: colon)...]) else {
                return nil
            }
            self = .tcp(host: String(rest[..<colon]), port: port)
        default: return nil
        }
    }

    var description: String {
        switch self {
        case .unix(let path): "unix:\(path)"
        case .tcp(let host, let port): "tcp:\(host):\(port)"
        }
    }
}

/// The socket to which hosts connect.
struct ListeningSocket {
    let descriptor: Int32
    /// The endpoint, with the actual port.
    let endpoint: Endpoint

    /// Replaces an existing socket file.
    /// - Throws: `TransportError.system`.
    init(_ wish: Endpoint) throws(TransportError) {
        switch wish {
        case .unix(let path):
            descriptor = try Self.makeSocket(AF_UNIX)
            endpoint = wish
            var name = Array(path.utf8)
            let isAbstract = name.first == UInt8(ascii: "@")
            if isAbstract { name[0] = 0 } else { Self.remove(path) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            guard name.count < MemoryLayout.size(ofValue: address.sun_path) else {
                throw .system(call: "bind", code: ENAMETOOLONG)
            }
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
            // A path ends with a zero byte; an abstract name ends with the address.
            let length = MemoryLayout<sa_family_t>.size + name.count + (isAbstract ? 0 : 1)
            try unsafe Self.listen(descriptor, on: &address, byteCount: length)
        case .tcp(let host, let port):
            let descriptor = try Self.makeSocket(AF_INET)
            var on: Int32 = 1
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            guard unsafe inet_pton(AF_INET, host, &address.sin_addr) == 1 else {
                throw .system(call: "inet_pton", code: EINVAL)
            }
            try unsafe Self.listen(descriptor, on: &address, byteCount: MemoryLayout<sockaddr_in>.size)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe getsockname(descriptor, $0, &length)
                }
            }
            guard result == 0 else { throw .system(call: "getsockname", code: errno) }
            self.descriptor = descriptor
            endpoint = .tcp(host: host, port: UInt16(bigEndian: address.sin_port))
        }
    }

    /// The next waiting host, if any.
    func accept() -> Int32? {
        let client = Glibc.accept(descriptor, nil, nil)
        guard client >= 0 else { return nil }
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        if case .tcp = endpoint {
            // Packets are small and each is awaited: collecting them gains nothing.
            var on: Int32 = 1
            unsafe setsockopt(client, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        return client
    }

    func close() {
        Glibc.close(descriptor)
        if case .unix(let path) = endpoint, !path.hasPrefix("@") { Self.remove(path) }
    }

    /// Removes a socket; any other file of that name is kept.
    private static func remove(_ path: String) {
        var information = stat()
        if unsafe lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFSOCK { unsafe unlink(path) }
    }

    private static func makeSocket(_ family: Int32) throws(TransportError) -> Int32 {
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let descriptor = socket(family, Int32(type), 0)
        guard descriptor >= 0 else { throw .system(call: "socket", code: errno) }
        return descriptor
    }

    private static func listen(
        _ descriptor: Int32, on address: UnsafeMutableRawPointer, byteCount: Int
    ) throws(TransportError) {
        let address = unsafe address.assumingMemoryBound(to: sockaddr.self)
        guard unsafe bind(descriptor, address, socklen_t(byteCount)) == 0 else {
            throw .system(call: "bind", code: errno)
        }
        guard Glibc.listen(descriptor, 8) == 0 else { throw .system(call: "listen", code: errno) }
    }
}
