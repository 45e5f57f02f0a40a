import BLE
import BLEESPHome
import BLEGateway
import Glibc

/// The sockets of the proxy's clients: waits for them, and does what `ProxyServer` decides. No call waits for a single
/// client.
struct ProxySockets: ~Copyable {
    var server: ProxyServer
    private var descriptors: [ProxyServer.ID: Int32] = [:]
    private var actions: [ProxyServer.Action] = []
    private var chunk = [UInt8](repeating: 0, count: 16_384)
    /// Until then no client is accepted, because the system has no descriptors left.
    private var acceptsAgain = Instant.zero

    private static let exhaustedPause = Microseconds.seconds(1)
    /// How many clients are accepted before those that are there have their turn.
    private static let acceptedAtOnce = 16
    /// The longest wait while somebody wants advertisements, which come without a signal.
    private static let batchWait = Microseconds.milliseconds(50)

    private static var now: Instant { GatewayCore.now }

    init(_ server: ProxyServer) { self.server = server }

    deinit { for descriptor in descriptors.values { close(descriptor) } }

    mutating func drainActions() -> [ProxyServer.Action] {
        perform()
        defer { actions = [] }
        return actions
    }

    /// Waits until something happens, and handles it.
    mutating func wait(
        _ listeners: ProxyListeners, _ wakeUp: WakeUp, until deadline: Instant?, atMost longest: Microseconds
    ) {
        perform()
        var now = Self.now
        let accepting = now >= acceptsAgain ? listeners.open : []
        let ids = server.open
        var polled = [pollfd(fd: wakeUp.reader, events: Int16(POLLIN), revents: 0)]
        for listener in accepting {
            polled.append(pollfd(fd: listener.socket.descriptor, events: Int16(POLLIN), revents: 0))
        }
        for id in ids {
            let interest = server.interest(of: id)
            let events = (interest.reads ? POLLIN : 0) | (interest.writes ? POLLOUT : 0)
            polled.append(pollfd(fd: descriptors[id] ?? -1, events: Int16(events), revents: 0))
        }
        let pause = server.subscriberCount > 0 ? Self.batchWait : longest
        let ends = [now.advanced(by: pause), server.nextDeadline, deadline]
        let rest = ends.compactMap(\.self).min().map { max(0, now.distance(to: $0).rawValue) } ?? 0
        _ = unsafe poll(&polled, nfds_t(polled.count), Int32(clamping: (rest + 999) / 1000))
        now = Self.now
        if polled[0].revents != 0 { wakeUp.clear() }
        for (id, found) in zip(ids, polled.dropFirst(1 + accepting.count)) where found.revents != 0 {
            handle(id, found, now)
        }
        server.advance(to: now)
        perform()
        for (listener, found) in zip(accepting, polled.dropFirst()) where found.revents != 0 { accept(listener, now) }
    }

    private mutating func handle(_ id: ProxyServer.ID, _ found: pollfd, _ now: Instant) {
        let revents = Int32(found.revents)
        if revents & POLLOUT != 0 {
            let octets = server.output(of: id)
            let count = unsafe octets.withUnsafeBytes {
                unsafe send(found.fd, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                server.wrote(count, on: id, at: now)
            } else if ![EAGAIN, EINTR].contains(errno) {
                return server.failed(id, at: now)
            }
        }
        if revents & POLLIN != 0 {
            let count = unsafe recv(found.fd, &chunk, chunk.count, 0)
            if count > 0 {
                server.received(chunk[..<count], on: id, at: now)
            } else if count == 0 || ![EAGAIN, EINTR].contains(errno) {
                server.failed(id, at: now)
            }
        } else if revents & POLLOUT == 0 {
            server.failed(id, at: now)
        }
    }

    private mutating func accept(_ listener: ProxyListeners.Listener, _ now: Instant) {
        for _ in 0..<Self.acceptedAtOnce {
            switch listener.socket.accept() {
            case .none: return
            case .exhausted:
                acceptsAgain = now.advanced(by: Self.exhaustedPause)
                return
            case .client(let descriptor, let peer):
                var generator = SystemRandomNumberGenerator()
                let ephemeral = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
                // Messages are small, and somebody waits for each.
                var yes: Int32 = 1
                unsafe setsockopt(
                    descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
                descriptors[server.accept(peer, ephemeral: ephemeral, at: now)] = descriptor
                perform()
            }
        }
    }

    private mutating func perform() {
        for action in server.drainActions() {
            actions.append(action)
            guard case .close(let id, let lastOctets) = action, let descriptor = descriptors.removeValue(forKey: id)
            else { continue }
            if !lastOctets.isEmpty {
                _ = unsafe send(descriptor, lastOctets, lastOctets.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            close(descriptor)
        }
    }
}
