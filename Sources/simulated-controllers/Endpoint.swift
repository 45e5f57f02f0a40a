import BLETransport
import Glibc

/// Where a controller listens for its host.
enum Endpoint: Equatable {
    /// A path that begins with `@` is an abstract name.
    case unix(path: String)
    /// A numeric IPv4 address; port 0 picks a free port.
    case tcp(host: String, port: UInt16)
    /// The kernel of this machine, as an adapter.
    case kernel
    /// A pseudo-terminal, and the path of a link to its device: a serial port with a controller behind it.
    case terminal(link: String, framing: SerialFraming)

    static let forms = "unix:PATH, unix:@NAME, tcp:HOST:PORT or pty:PATH[,h5]"

    /// `unix:PATH`, `unix:@NAME`, `tcp:HOST:PORT`, `pty:PATH` or `pty:PATH,h5`; `nil` for anything else.
    /// - Throws: `UsageError` for an endpoint with a mistake.
    init?(_ text: String) throws(UsageError) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let rest = text[text.index(after: colon)...]
        switch text[..<colon] {
        case "unix":
            guard !rest.isEmpty, rest != "@", !rest.utf8.contains(0) else {
                throw UsageError("‘\(text)’ names no socket: unix:PATH or unix:@NAME")
            }
            self = .unix(path: String(rest))
        case "tcp":
            guard let colon = rest.lastIndex(of: ":") else {
                throw UsageError("the port is missing in ‘\(text)’: tcp:HOST:PORT")
            }
            let written = rest[rest.index(after: colon)...]
            guard let port = UInt16(written) else {
                throw UsageError("‘\(written)’ is no port: a port is 0 to 65535, and 0 picks a free one")
            }
            var address = in_addr()
            guard unsafe inet_pton(AF_INET, String(rest[..<colon]), &address) == 1 else {
                throw UsageError("‘\(rest[..<colon])’ is no IPv4 address (such as 127.0.0.1)")
            }
            self = .tcp(host: String(rest[..<colon]), port: port)
        case "pty":
            let isThreeWire = rest.hasSuffix(",h5")
            let link = isThreeWire ? rest.dropLast(3) : rest
            guard !link.isEmpty, !link.utf8.contains(0) else {
                throw UsageError("‘\(text)’ names no link: pty:PATH or pty:PATH,h5")
            }
            if let comma = link.lastIndex(of: ","), !link[comma...].contains("/") {
                throw UsageError("there is no option ‘\(link[comma...].dropFirst())’ of a pty: pty:PATH or pty:PATH,h5")
            }
            self = .terminal(link: String(link), framing: isThreeWire ? .h5 : .h4)
        default: return nil
        }
    }

    var description: String {
        switch self {
        case .unix(let path): "unix:\(path)"
        case .tcp(let host, let port): "tcp:\(host):\(port)"
        case .kernel: KernelPort.path
        case .terminal(let link, let framing): "pty:\(link)" + (framing == .h5 ? ",h5" : "")
        }
    }
}

/// The socket to which hosts connect.
struct ListeningSocket {
    let descriptor: Int32
    /// The endpoint, with the actual port.
    let endpoint: Endpoint
    /// Which file this process has made; another may have its name later.
    private let file: FileIdentity?

    /// Replaces a socket file at which nobody listens any more.
    /// - Throws: `TransportError.unusableFile` for a path that cannot be used, `system` for other failures.
    init(_ wish: Endpoint) throws(TransportError) {
        switch wish {
        case .unix(let path):
            descriptor = try Self.makeSocket(AF_UNIX)
            endpoint = wish
            var name = Array(path.utf8)
            let isAbstract = name.first == UInt8(ascii: "@")
            if isAbstract { name[0] = 0 }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            guard name.count < MemoryLayout.size(ofValue: address.sun_path) else {
                throw .unusableFile(path, reason: "it is too long: a socket's path has at most 107 octets")
            }
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
            // A path ends with a zero byte; an abstract name ends with the address.
            let length = MemoryLayout<sa_family_t>.size + name.count + (isAbstract ? 0 : 1)
            if !isAbstract {
                guard try unsafe !Self.isServed(&address, byteCount: length) else { throw Self.inUse(path) }
                if FileIdentity(path, kind: S_IFSOCK) != nil { unsafe unlink(path) }
            }
            do throws(TransportError) {
                try unsafe Self.listen(descriptor, on: &address, byteCount: length)
            } catch {
                throw Self.explained(error, path)
            }
            file = isAbstract ? nil : FileIdentity(path, kind: S_IFSOCK)
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
            file = nil
            endpoint = .tcp(host: host, port: UInt16(bigEndian: address.sin_port))
        // Neither has a socket; see `KernelPort` and `TerminalPort`.
        case .kernel, .terminal: throw .system(call: "socket", code: EINVAL)
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
        if case .unix(let path) = endpoint, let file, FileIdentity(path, kind: S_IFSOCK) == file {
            unsafe unlink(path)
        }
    }

    /// Whether a program listens there.
    private static func isServed(
        _ address: UnsafeMutableRawPointer, byteCount: Int
    ) throws(TransportError) -> Bool {
        let probe = try makeSocket(AF_UNIX)
        defer { Glibc.close(probe) }
        let address = unsafe address.assumingMemoryBound(to: sockaddr.self)
        // A queue that is full has a listener, too.
        return unsafe connect(probe, address, socklen_t(byteCount)) == 0 || errno == EAGAIN
    }

    private static func inUse(_ path: String) -> TransportError {
        .unusableFile(path, reason: "it is in use by another program: stop that, or name another path")
    }

    /// The path and the remedy in place of the name of a call.
    private static func explained(_ error: TransportError, _ path: String) -> TransportError {
        guard case .system(_, let code) = error else { return error }
        return FileIdentity.explained(code, path) ?? (code == EADDRINUSE ? inUse(path) : error)
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
