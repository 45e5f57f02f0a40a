import BLE
import BLEGateway
import Glibc

/// The sockets of the HTTP server's clients: waits for them, and does what `HTTPConnections` decides. No call waits for
/// a single client.
struct HTTPSockets: ~Copyable {
    private var connections = HTTPConnections()
    private var descriptors: [HTTPConnections.ID: Int32] = [:]
    private var requests: [(HTTPConnections.ID, HTTPRequest)] = []
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
            let events = (interest.reads ? POLLIN : 0) | (interest.writes ? POLLOUT : 0)
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
        if revents & POLLIN != 0 {
            let count = unsafe recv(found.fd, &chunk, chunk.count, 0)
            if count > 0 {
                connections.received(chunk[..<count], on: id, at: now)
            } else if count == 0 {
                connections.ended(id, at: now)
            } else if ![EAGAIN, EINTR].contains(errno) {
                connections.failed(id)
            }
        } else if revents & POLLOUT != 0 {
            let octets = connections.output(of: id)
            let count = unsafe octets.withUnsafeBytes {
                unsafe send(found.fd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                connections.wrote(count, on: id, at: now)
            } else if ![EAGAIN, EINTR].contains(errno) {
                connections.failed(id)
            }
        } else {
            connections.failed(id)
        }
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
                perform()
            }
        }
    }

    private mutating func perform() {
        for action in connections.drainActions() {
            switch action {
            case .request(let id, let request): requests.append((id, request))
            case .finishWriting(let id):
                if let descriptor = descriptors[id] { shutdown(descriptor, Int32(SHUT_WR)) }
            case .close(let id, let lastOctets):
                guard let descriptor = descriptors.removeValue(forKey: id) else { continue }
                if !lastOctets.isEmpty {
                    let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
                    _ = unsafe send(descriptor, lastOctets, lastOctets.count, flags)
                }
                close(descriptor)
            }
        }
    }
}
