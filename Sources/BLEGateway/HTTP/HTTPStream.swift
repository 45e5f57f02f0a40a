import BLEHost

/// A connection whose answer goes on: events one after the other, or WebSocket.
struct HTTPStream {
    private var octets: [UInt8]
    private var written = 0
    private(set) var webSocket: WebSocketReader?
    /// Sent when nothing else was for a while.
    private let pulse: [UInt8]
    private(set) var isEnding = false
    private var lastProgress: Instant
    private var lastSent: Instant
    private var lastHeard: Instant
    private var ignored = 0

    init(head: [UInt8], webSocket: WebSocketReader?, pulse: [UInt8], at now: Instant) {
        octets = head
        self.webSocket = webSocket
        self.pulse = pulse
        (lastProgress, lastSent, lastHeard) = (now, now, now)
    }

    var pending: ArraySlice<UInt8> { octets[written...] }

    mutating func send(_ more: some Collection<UInt8>, at now: Instant) {
        if written == octets.count {
            octets.removeAll(keepingCapacity: true)
            written = 0
            lastProgress = now
        } else if written > 65_536 {
            octets.removeFirst(written)
            written = 0
        }
        octets += more
        lastSent = now
    }

    mutating func wrote(_ count: Int, at now: Instant) {
        written += count
        if count > 0 { lastProgress = now }
    }

    /// Nothing more follows what waits to be written.
    mutating func end() { isEnding = true }

    /// What the client says.
    mutating func received(_ more: some Collection<UInt8>, at now: Instant) -> [WebSocketReader.Event] {
        lastHeard = now
        ignored += more.count
        return webSocket?.read(more) ?? []
    }

    /// Whether the client says too much where nothing is expected.
    func isFlooded(_ limits: HTTPLimits) -> Bool { webSocket == nil && ignored > limits.fieldOctets }

    /// When the client has read nothing, or said nothing, for too long.
    func end(_ limits: HTTPLimits) -> Instant? {
        let unread = pending.isEmpty ? nil : lastProgress.advanced(by: limits.answerTime)
        let silent = webSocket == nil ? nil : lastHeard.advanced(by: limits.silence)
        return [unread, silent].compactMap(\.self).min()
    }

    func deadline(_ limits: HTTPLimits) -> Instant {
        let next = lastSent.advanced(by: limits.pulse)
        return end(limits).map { min($0, next) } ?? next
    }

    /// Says that the connection still lives, if it is time for that.
    mutating func beat(_ limits: HTTPLimits, at now: Instant) {
        guard lastSent.advanced(by: limits.pulse) <= now else { return }
        // Behind what waits it would say nothing.
        if pending.isEmpty { send(pulse, at: now) } else { lastSent = now }
    }
}
