import BLE
import BLEMatter
import Glibc

/// The connection with a matter-server: waits for it, and does what `MatterProxy` decides. Only the look-up of a name
/// makes the thread wait.
struct MatterSocket: ~Copyable {
    private struct Place {
        var family: Int32
        var kind: Int32
        var number: Int32
        /// A structure of type `sockaddr`.
        var address: [UInt8]
    }

    var proxy: MatterProxy
    private let settings: MatterSettings
    private var security: TLSContext?
    private var session: TLSSession?
    private var descriptor: Int32 = -1
    private var isConnecting = false
    /// The addresses that were not tried.
    private var places: [Place] = []
    private var chunk = [UInt8](repeating: 0, count: 16_384)

    private static var now: Instant { GatewayCore.now }

    init(_ settings: MatterSettings, _ proxy: MatterProxy) {
        self.settings = settings
        self.proxy = proxy
    }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

    /// Waits until something happens, and handles it.
    /// - Parameter token: gives the token, when a connection is there.
    mutating func wait(
        _ wakeUp: WakeUp, atMost longest: Microseconds, token: () throws(SocketProblem) -> String?
    ) {
        let begin = Self.now
        let hasOctets = !proxy.pending.isEmpty && session?.waitsToRead != true
        let writes = isConnecting || hasOctets || session?.wantsToWrite == true
        var polled = [
            pollfd(fd: wakeUp.reader, events: Int16(POLLIN), revents: 0),
            pollfd(
                fd: descriptor, events: Int16((proxy.reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), revents: 0),
        ]
        let end = min(begin.advanced(by: longest), proxy.nextDeadline)
        let rest = max(0, begin.distance(to: end).rawValue)
        _ = unsafe poll(&polled, nfds_t(polled.count), Int32(clamping: (rest + 999) / 1000))
        if polled[0].revents != 0 { wakeUp.clear() }
        let revents = Int32(polled[1].revents)
        if revents != 0 {
            if isConnecting { endConnecting(token) } else { handle(revents) }
        }
        proxy.advance(to: Self.now)
    }

    private mutating func handle(_ revents: Int32) {
        guard revents & (POLLIN | POLLOUT) != 0 else { return proxy.failed("the connection is lost", at: Self.now) }
        if revents & POLLOUT != 0, !proxy.pending.isEmpty {
            let octets = proxy.pending
            let transfer = unsafe octets.withUnsafeBytes { unsafe send($0) }
            switch transfer {
            case .octets(let count): proxy.wrote(count, at: Self.now)
            case .later: break
            case .end, .failed: return proxy.failed(problem, at: Self.now)
            }
        }
        guard revents & POLLIN != 0 || session?.wantsToWrite == true else { return }
        switch receive() {
        case .octets(let count): proxy.received(chunk[..<count], at: Self.now)
        case .later: break
        case .end: proxy.failed("the server has ended the connection", at: Self.now)
        case .failed: proxy.failed(problem, at: Self.now)
        }
    }

    private var problem: String {
        session.map { "TLS: \($0.problem ?? "the connection is lost")" } ?? systemText(errno)
    }

    private mutating func receive() -> SocketTransfer {
        if let session { return session.receive(&chunk) }
        let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
        if count > 0 { return .octets(count) }
        return count == 0 ? .end : [EAGAIN, EINTR].contains(errno) ? .later : .failed
    }

    private func send(_ octets: UnsafeRawBufferPointer) -> SocketTransfer {
        if let session { return unsafe session.send(octets) }
        let count = unsafe Glibc.send(
            descriptor, octets.baseAddress, octets.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        return count >= 0 ? .octets(count) : [EAGAIN, EINTR].contains(errno) ? .later : .failed
    }

    // MARK: Connecting

    mutating func open() {
        do throws(SocketProblem) {
            security = try settings.security.map { files throws(SocketProblem) in
                try TLSContext(authorities: files.authorities)
            }
        } catch {
            return proxy.failed(error.text, at: Self.now)
        }
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_NUMERICSERV
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(settings.server.host, String(settings.server.port), &hints, &found)
        guard code == 0 else { return proxy.failed(unsafe String(cString: gai_strerror(code)), at: Self.now) }
        defer { unsafe freeaddrinfo(found) }
        places = []
        var next = unsafe found
        while let place = unsafe next {
            let address = unsafe UnsafeRawBufferPointer(
                start: place.pointee.ai_addr, count: Int(place.pointee.ai_addrlen))
            places.append(
                unsafe Place(
                    family: place.pointee.ai_family, kind: place.pointee.ai_socktype,
                    number: place.pointee.ai_protocol, address: Array(address)))
            unsafe next = place.pointee.ai_next
        }
        connect("the name has no address")
    }

    /// Tries the next address.
    /// - Parameter problem: what was wrong with the one before.
    private mutating func connect(_ problem: String) {
        drop()
        guard !places.isEmpty else { return proxy.failed(problem, at: Self.now) }
        let place = places.removeFirst()
        descriptor = socket(place.family, place.kind, place.number)
        guard descriptor >= 0 else { return connect(systemText(errno)) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        // Messages are small, and somebody waits for each.
        var yes: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        let result = unsafe place.address.withUnsafeBytes { octets in
            unsafe octets.withMemoryRebound(to: sockaddr.self) {
                unsafe Glibc.connect(descriptor, $0.baseAddress, socklen_t(octets.count))
            }
        }
        guard result == 0 || errno == EINPROGRESS else { return connect(systemText(errno)) }
        isConnecting = true
    }

    private mutating func endConnecting(_ token: () throws(SocketProblem) -> String?) {
        var problem: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &problem, &length)
        guard problem == 0 else { return connect(systemText(problem)) }
        isConnecting = false
        if let security {
            session = TLSSession(security, descriptor: descriptor, host: settings.server.host)
            if session == nil { return proxy.failed("there is no memory", at: Self.now) }
        }
        do throws(SocketProblem) {
            proxy.opened(token: try token(), at: Self.now)
        } catch {
            proxy.failed(error.text, at: Self.now)
        }
    }

    // MARK: The end

    mutating func close(_ lastOctets: [UInt8]) {
        places = []
        if descriptor >= 0, !lastOctets.isEmpty {
            _ = unsafe lastOctets.withUnsafeBytes { unsafe send($0) }
        }
        drop()
    }

    private mutating func drop() {
        isConnecting = false
        session?.finish()
        session = nil
        if descriptor >= 0 { Glibc.close(descriptor) }
        descriptor = -1
    }
}
