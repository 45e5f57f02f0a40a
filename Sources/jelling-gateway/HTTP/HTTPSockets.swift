import BLE
import BLEGateway
import Glibc

/// The sockets of the HTTP server's clients: waits for them, and does what `HTTPConnections` decides. No call waits for
/// a single client.
struct HTTPSockets: ~Copyable {
    private var connections = HTTPConnections()
    private var descriptors: [HTTPConnections.ID: Int32] = [:]
    /// For those who connect; `nil`: without Transport Layer Security.
    var security: TLSContext?
    private var sessions: [HTTPConnections.ID: TLSSession] = [:]
    private var requests: [(HTTPConnections.ID, HTTPRequest)] = []
    private var messages: [(HTTPConnections.ID, [UInt8])] = []
    private var chunk = [UInt8](repeating: 0, count: 16_384)
    /// Until then no client is accepted, because the system has no descriptors left.
    private var acceptsAgain = Instant.zero

    private static let exhaustedPause = Microseconds.seconds(1)
    /// How many clients are accepted before those that are there have their turn.
    private static let acceptedAtOnce = 16

    private static var now: Instant { Instant(microseconds: Int64(EventLoop.nowMicroseconds)) }

    deinit { for descriptor in descriptors.values { close(descriptor) } }

    mutating func drainRequests() -> [(HTTPConnections.ID, HTTPRequest)] {
        defer { requests = [] }
        return requests
    }

    /// What clients have said by WebSocket.
    mutating func drainMessages() -> [(HTTPConnections.ID, [UInt8])] {
        defer { messages = [] }
        return messages
    }

    // MARK: Streams

    func isStreaming(_ id: HTTPConnections.ID) -> Bool { connections.isStreaming(id) }
    func waiting(on id: HTTPConnections.ID) -> Int? { connections.waiting(on: id) }

    func client(of id: HTTPConnections.ID) -> ClientAddress? { connections.client(of: id) }

    mutating func takeStreamPlace(_ id: HTTPConnections.ID, isAuthorised: Bool) -> Bool {
        let isTaken = connections.takeStreamPlace(id, isAuthorised: isAuthorised)
        perform()
        return isTaken
    }

    mutating func beginStream(_ answer: HTTPAnswer, pulse: [UInt8], on id: HTTPConnections.ID) {
        connections.beginStream(answer, pulse: pulse, on: id, at: Self.now)
        perform()
    }

    mutating func beginWebSocket(accept: String, on id: HTTPConnections.ID) {
        connections.beginWebSocket(accept: accept, on: id, at: Self.now)
        perform()
    }

    mutating func add(_ octets: [UInt8], to id: HTTPConnections.ID) { connections.send(octets, on: id, at: Self.now) }

    mutating func endStream(_ id: HTTPConnections.ID) {
        connections.endStream(id, at: Self.now)
        perform()
    }

    /// Ends a connection at once.
    mutating func drop(_ id: HTTPConnections.ID) {
        connections.failed(id)
        perform()
    }

    /// Ends all connections at once.
    mutating func dropAll() {
        for id in connections.open { connections.failed(id) }
        perform()
        (requests, messages) = ([], [])
    }

    // MARK: Requests

    mutating func answer(_ answer: HTTPAnswer, to id: HTTPConnections.ID) {
        connections.answer(answer, to: id, at: Self.now)
        perform()
    }

    /// Waits until something happens, and handles it.
    /// - Parameter longest: the longest wait; `nil`: no limit.
    mutating func wait(_ listener: borrowing ListeningSocket, _ wakeUp: WakeUp, atMost longest: Duration?) {
        var now = Self.now
        let accepts = now >= acceptsAgain
        let ids = connections.open
        var polled = [
            pollfd(fd: wakeUp.reader, events: Int16(POLLIN), revents: 0),
            pollfd(fd: accepts ? listener.descriptor : -1, events: Int16(POLLIN), revents: 0),
        ]
        for id in ids {
            let interest = connections.interest(of: id)
            // A handshake may have to write before it reads on, and the other way round.
            let isWriting = interest.writes || interest.reads && sessions[id]?.wantsToWrite == true
            let events = (interest.reads ? POLLIN : 0) | (isWriting ? POLLOUT : 0)
            polled.append(pollfd(fd: descriptors[id] ?? -1, events: Int16(events), revents: 0))
        }
        let ends = [
            connections.nextDeadline, accepts ? nil : acceptsAgain,
            longest.map { now.advanced(by: .microseconds($0.components.seconds * 1_000_000)) },
        ]
        let rest = ends.compactMap(\.self).min().map { max(0, now.distance(to: $0).rawValue) }
        _ = unsafe poll(&polled, nfds_t(polled.count), rest.map { Int32(clamping: $0 / 1000 + 1) } ?? -1)
        now = Self.now
        if polled[0].revents != 0 { wakeUp.clear() }
        for (id, found) in zip(ids, polled.dropFirst(2)) where found.revents != 0 {
            handle(id, found, now)
            perform()
        }
        connections.advance(to: now)
        perform()
        if polled[1].revents != 0 { accept(listener, now) }
    }

    private mutating func handle(_ id: HTTPConnections.ID, _ found: pollfd, _ now: Instant) {
        let revents = Int32(found.revents)
        guard revents & (POLLIN | POLLOUT) != 0 else { return connections.failed(id) }
        let session = sessions[id]
        if revents & POLLIN != 0 || session?.wantsToWrite == true, connections.interest(of: id).reads {
            switch session.map({ $0.receive(&chunk) }) ?? receive(found.fd) {
            case .octets(let count): connections.received(chunk[..<count], on: id, at: now)
            case .end: connections.ended(id, at: now)
            case .failed: connections.failed(id)
            case .later: break
            }
        }
        if revents & POLLOUT != 0, connections.interest(of: id).writes {
            let octets = connections.output(of: id)
            let transfer = unsafe octets.withUnsafeBytes { buffer in
                unsafe session.map { unsafe $0.send(buffer) } ?? send(buffer, found.fd)
            }
            switch transfer {
            case .octets(let count): connections.wrote(count, on: id, at: now)
            case .end, .failed: connections.failed(id)
            case .later: break
            }
        }
    }

    private mutating func receive(_ descriptor: Int32) -> SocketTransfer {
        let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
        if count > 0 { return .octets(count) }
        return count == 0 ? .end : [EAGAIN, EINTR].contains(errno) ? .later : .failed
    }

    private func send(_ octets: UnsafeRawBufferPointer, _ descriptor: Int32) -> SocketTransfer {
        let count = unsafe Glibc.send(descriptor, octets.baseAddress, octets.count, Int32(MSG_NOSIGNAL))
        return count >= 0 ? .octets(count) : [EAGAIN, EINTR].contains(errno) ? .later : .failed
    }

    private mutating func accept(_ listener: borrowing ListeningSocket, _ now: Instant) {
        for _ in 0..<Self.acceptedAtOnce {
            switch listener.accept() {
            case .none: return
            case .exhausted:
                acceptsAgain = now.advanced(by: Self.exhaustedPause)
                return
            case .client(let descriptor, let peer):
                let id = connections.accept(peer, at: now)
                descriptors[id] = descriptor
                if let security { sessions[id] = TLSSession(security, descriptor: descriptor) }
                if security != nil, sessions[id] == nil { connections.failed(id) }
                perform()
            }
        }
    }

    private mutating func perform() {
        for action in connections.drainActions() {
            switch action {
            case .request(let id, let request): requests.append((id, request))
            case .message(let id, let octets): messages.append((id, octets))
            case .finishWriting(let id):
                sessions[id]?.finish()
                if let descriptor = descriptors[id] { shutdown(descriptor, Int32(SHUT_WR)) }
            case .close(let id, let lastOctets):
                guard let descriptor = descriptors.removeValue(forKey: id) else { continue }
                let session = sessions.removeValue(forKey: id)
                if !lastOctets.isEmpty {
                    _ = unsafe lastOctets.withUnsafeBytes { buffer in
                        unsafe session.map { unsafe $0.send(buffer) } ?? send(buffer, descriptor)
                    }
                }
                close(descriptor)
            }
        }
    }
}
