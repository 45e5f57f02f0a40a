import BLELinux
import Glibc

/// Opens the sockets for H4 streams.
enum StreamSockets {
    /// Connects to a Unix socket. A path that begins with `@` is an abstract name.
    /// - Parameter waits: whether to wait for a listener with which too many others wait already.
    static func connect(unixPath path: String, waits: Bool = true) throws(TransportError) -> Int32 {
        var name = Array(path.utf8)
        let isAbstract = name.first == UInt8(ascii: "@")
        if isAbstract { name[0] = 0 }
        var target = sockaddr_un()
        target.sun_family = sa_family_t(AF_UNIX)
        let capacity = MemoryLayout.size(ofValue: target.sun_path)
        // A path ends with a zero byte; an abstract name ends with the address.
        guard name.count < capacity else { throw .system(call: "connect", code: ENAMETOOLONG) }
        unsafe withUnsafeMutableBytes(of: &target.sun_path) { unsafe $0.copyBytes(from: name) }
        let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path)! + name.count + (isAbstract ? 0 : 1)
        let descriptor = try makeSocket(family: AF_UNIX)
        if !waits { _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) }
        let code = unsafe connect(descriptor, to: &target, byteCount: length)
        guard code == 0 else {
            close(descriptor)
            throw nameError(code, address: .unix(path: path), path: path)
        }
        return descriptor
    }

    /// Connects to the first of a host's addresses that answers.
    static func connect(host: String, port: UInt16) throws(TransportError) -> Int32 {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let result = unsafe getaddrinfo(host, String(port), &hints, &list)
        guard result == 0 else {
            if result == EAI_SYSTEM { throw .hostNotFound(host, reason: describeSystemError(errno)) }
            throw unsafe .hostNotFound(host, reason: String(cString: gai_strerror(result)))
        }
        defer { unsafe freeaddrinfo(list) }
        var lastCode = ECONNREFUSED
        var next = unsafe list
        while let entry = unsafe next {
            unsafe next = unsafe entry.pointee.ai_next
            guard let target = unsafe entry.pointee.ai_addr else { continue }
            let descriptor = try unsafe makeSocket(family: entry.pointee.ai_family)
            lastCode = unsafe connect(descriptor, to: target, byteCount: Int(entry.pointee.ai_addrlen))
            if lastCode == 0 {
                setUpTCP(descriptor)
                return descriptor
            }
            close(descriptor)
        }
        throw nameError(lastCode, address: .tcp(host: host, port: port), path: nil)
    }

    /// What each connection by TCP gets: what is sent leaves at once, and the kernel asks whether the other side is still
    /// there, whose loss is an error after about a minute.
    static func setUpTCP(_ descriptor: Int32) {
        func set(_ level: Int32, _ option: Int32, _ value: Int32) {
            var value = value
            unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
        }
        // Packets are small and each is awaited: collecting them gains nothing.
        set(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        set(SOL_SOCKET, SO_KEEPALIVE, 1)
        set(Int32(IPPROTO_TCP), TCP_KEEPIDLE, 15)
        set(Int32(IPPROTO_TCP), TCP_KEEPINTVL, 10)
        set(Int32(IPPROTO_TCP), TCP_KEEPCNT, 4)
        // What was sent and is not acknowledged would be repeated for a quarter of an hour.
        set(Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, 60_000)
    }

    private static func makeSocket(family: Int32) throws(TransportError) -> Int32 {
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .system(call: "socket", code: errno) }
        // It also limits connect(2).
        var limit = timeval(tv_sec: Transports.connectTimeoutSeconds, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        return descriptor
    }

    /// Returns an errno value, zero when connected.
    private static func connect(_ descriptor: Int32, to target: UnsafeRawPointer, byteCount: Int) -> Int32 {
        let address = unsafe target.assumingMemoryBound(to: sockaddr.self)
        guard unsafe Glibc.connect(descriptor, address, socklen_t(byteCount)) != 0 else { return 0 }
        guard errno == EINTR else { return errno }
        // The attempt continues after a signal; the socket has its result.
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while unsafe poll(&waiting, 1, Int32(Transports.connectTimeoutSeconds * 1000)) < 0 {
            guard errno == EINTR else { return errno }
        }
        guard waiting.revents != 0 else { return ETIMEDOUT }
        var code: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
        return code
    }

    private static func nameError(_ code: Int32, address: TransportAddress, path: String?) -> TransportError {
        switch (code, path) {
        case (ECONNREFUSED, _): .connectionRefused(address)
        case (EINPROGRESS, _), (ETIMEDOUT, _), (EAGAIN, _): .connectionTimedOut(address)
        case (ENOENT, let path?), (ENOTDIR, let path?): .pathNotFound(path)
        case (EACCES, let path?), (EPERM, let path?): .pathForbidden(path)
        default: .system(call: "connect", code: code)
        }
    }
}
