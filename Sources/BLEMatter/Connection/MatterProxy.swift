import BLEGateway
import BLEHost
import BLEJSON

/// Matter's BLE proxy: a client that a matter-server lets use the radio. A machine without I/O, clock and randomness.
///
///     waiting ──pause──▶ opening ──▶ upgrading ──▶ greeting ──Hello──▶ serving
///        ▲                  └─────────────┴──────────────┴── end, error, limit ┘
///        └────────────────────────────────────────────────────────┘
///
/// Inputs are octets of the server, advertisements, events of links, and the time; outputs are octets for the server and
/// actions. The links of a session end with it.
public struct MatterProxy: Sendable {
    public enum Action: Equatable, Sendable {
        /// Make a connection; `opened` or `failed` follows.
        case open
        /// A session begins: events of links are expected for it.
        case begin(session: UInt64)
        case link(LinkRequest)
        /// The session is over, and so is all that the server wanted.
        case end(session: UInt64)
        /// The connection is over; what can be written at once of `lastOctets` is.
        case close(lastOctets: [UInt8])
        /// For people.
        case report(String, isProblem: Bool)
    }

    private enum Phase {
        case waiting(until: Instant)
        case opening(deadline: Instant)
        case upgrading(WebSocketUpgrade, deadline: Instant)
        case greeting(deadline: Instant)
        case serving(MatterSession, since: Instant)
    }

    /// The version of the protocol.
    static let version = 1

    private let server: MatterServer
    private let limits: MatterLimits
    private var random: DerivedOctets
    private var phase: Phase
    private var reader = WebSocketReader(limit: 0)
    private var output = WaitingOctets()
    private var lastHeard = Instant.zero
    private var isAsked = false
    /// Attempts in a row that led to no good session.
    private var failures = 0
    private var isRadioUsable = false
    private var lastSession: UInt64 = 0
    private var ended = MatterCounters()
    private var actions: [Action] = []

    /// - Parameter seed: 32 octets that nobody can predict.
    public init(_ server: MatterServer, limits: MatterLimits = MatterLimits(), seed: [UInt8], at now: Instant) {
        self.server = server
        self.limits = limits
        random = DerivedOctets(seed: seed)
        phase = .waiting(until: now)
    }

    // MARK: What is there

    /// Whether octets of the server are to be read.
    public var reads: Bool {
        switch phase {
        case .waiting, .opening: false
        case .upgrading, .greeting: true
        case .serving: output.count < limits.readingOctets
        }
    }

    /// What is to be written next.
    public var pending: ArraySlice<UInt8> { output.pending }

    /// Whether the server wants to hear of devices.
    public var isScanning: Bool { session?.scan != nil }

    /// Whether the server has said Hello, and the session goes on.
    public var isServing: Bool { session != nil }

    /// The number of links and attempts of the session.
    public var linkCount: Int { session?.links.count ?? 0 }

    public var counters: MatterCounters {
        var sum = ended
        if let session { sum.add(session.counters) }
        return sum
    }

    private var session: MatterSession? { if case .serving(let session, _) = phase { session } else { nil } }

    /// The moment at which `advance` has something to do. Without an adapter that scans there is no attempt.
    public var nextDeadline: Instant {
        let own: Instant =
            switch phase {
            // Without a radio the server could use nothing.
            case .waiting(let deadline): isRadioUsable ? deadline : Instant(microseconds: .max)
            case .opening(let deadline), .upgrading(_, let deadline), .greeting(let deadline): deadline
            case .serving: lastHeard.advanced(by: isAsked ? limits.longestSilence : limits.silence)
            }
        return output.count > 0 ? min(own, output.lastProgress.advanced(by: limits.stallTime)) : own
    }

    public mutating func drainActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    // MARK: The connection

    /// The connection is established.
    /// - Parameter token: what the server, or one before it, wants to see; `nil`: nothing.
    public mutating func opened(token: String?, at now: Instant) {
        guard case .opening = phase else { return }
        let upgrade = WebSocketUpgrade(
            host: server.authority, path: server.path, nonce: random.next(16),
            fields: token.map { ["Authorization: Bearer \($0)"] } ?? [])
        output.append(upgrade.request, at: now)
        reader = WebSocketReader(limit: limits.messageOctets, from: .server, takesData: true)
        (lastHeard, isAsked) = (now, false)
        phase = .upgrading(upgrade, deadline: now.advanced(by: limits.greetingTime))
    }

    /// There is no connection any more, or none could be made.
    public mutating func failed(_ problem: String, at now: Instant) {
        if case .waiting = phase { return }
        end(problem, nil, now)
    }

    /// Octets have come.
    public mutating func received(_ octets: some Collection<UInt8>, at now: Instant) {
        (lastHeard, isAsked) = (now, false)
        switch phase {
        case .waiting, .opening: break
        case .upgrading(var upgrade, let deadline):
            let progress = upgrade.read(octets)
            switch progress {
            case .incomplete: phase = .upgrading(upgrade, deadline: deadline)
            case .upgraded(let rest):
                let hello: JSONValue = ["type": "hello", "version": .integer(Self.version)]
                phase = .greeting(deadline: now.advanced(by: limits.greetingTime))
                send(hello, now)
                read(rest, now)
            case .refused(let status): end(Self.refusal(status, server.path), nil, now)
            case .failed(let cause): end(cause, nil, now)
            }
        case .greeting, .serving: read(octets, now)
        }
    }

    private static func refusal(_ status: Int, _ path: String) -> String {
        let cause =
            switch status {
            case 401, 403: "; it wants a token that is right: see ‘tokenFile’"
            case 400, 404, 426: "; there is no BLE proxy at \(path): start the server with --ble-proxy"
            default: ""
            }
        return "the server answers with status \(status) of HTTP\(cause)"
    }

    /// So many octets of the output were written.
    public mutating func wrote(_ count: Int, at now: Instant) { output.wrote(count, at: now) }

    /// Ends what takes too long, and begins what has waited long enough.
    public mutating func advance(to now: Instant) {
        guard nextDeadline <= now else { return }
        if output.count > 0, output.lastProgress.advanced(by: limits.stallTime) <= now {
            ended.stalls += 1
            return end("the server reads nothing", nil, now)
        }
        switch phase {
        case .waiting:
            ended.attempts += 1
            phase = .opening(deadline: now.advanced(by: limits.openTime))
            actions.append(.open)
        case .opening: end("no connection was made in time", nil, now)
        case .upgrading: end("the server does not answer", nil, now)
        case .greeting: end("the server does not say Hello", nil, now)
        case .serving:
            if isAsked { return end("the server is silent", nil, now) }
            isAsked = true
            output.append(WebSocketFrame.ping(mask: mask()), at: now)
        }
    }

    /// The program ends.
    public mutating func finish(at now: Instant) {
        if case .waiting = phase { return }
        end(nil, .goingAway, now)
    }

    // MARK: The radio

    /// A packet of a device was received.
    public mutating func heard(_ packet: MatterAdvertisement, at now: Instant) {
        let isCrowded = output.count > limits.advertisementOctets
        change(now) { $0.heard(packet, isCrowded: isCrowded, at: now) }
    }

    /// Whether an adapter scans.
    public mutating func setRadio(isUsable: Bool, at now: Instant) {
        guard isRadioUsable != isUsable else { return }
        isRadioUsable = isUsable
        change(now) { $0.setRadio(isUsable: isUsable) }
    }

    /// The links have something for a session.
    public mutating func received(_ event: LinkEvent, for session: UInt64, at now: Instant) {
        guard session == lastSession else { return }
        change(now) { $0.received(event) }
    }

    // MARK: Frames

    private mutating func read(_ octets: some Collection<UInt8>, _ now: Instant) {
        for event in reader.read(octets) {
            switch phase {
            case .waiting, .opening, .upgrading: return
            case .greeting, .serving: handle(event, now)
            }
        }
    }

    private mutating func handle(_ event: WebSocketReader.Event, _ now: Instant) {
        switch event {
        case .ping(let octets): add(WebSocketFrame.pong(octets, mask: mask()), now)
        case .pong: break
        case .closed: end("the server has ended the connection", .normal, now)
        case .failed(let code): violate("the server breaks the rules of WebSocket", code, now)
        case .message(let text):
            if case .greeting = phase { return greet(text, now) }
            change(now) { $0.received(text: text) }
        case .data(let octets):
            if case .greeting = phase { return violate("the server does not say Hello", .protocolError, now) }
            change(now) { $0.received(data: octets) }
        }
    }

    /// What the server says first.
    private mutating func greet(_ text: [UInt8], _ now: Instant) {
        let message = try? JSONReader.value(in: text)
        guard let message, message["type"] == "hello_response" else {
            return violate("the server does not say Hello", .protocolError, now)
        }
        if message["error"] != nil || message["version"] != .integer(Self.version) {
            let other = if case .integer(let version)? = message["version"] { "version \(version)" } else { "another" }
            // It will not change soon.
            failures = max(failures, 16)
            return end("the server speaks \(other) of the protocol, this is version \(Self.version)", .normal, now)
        }
        ended.sessions += 1
        lastSession += 1
        phase = .serving(MatterSession(limits, isRadioUsable: isRadioUsable), since: now)
        actions.append(.begin(session: lastSession))
        actions.append(.report("connected with \(server)", isProblem: false))
    }

    /// Lets the session do something, and does what comes of it.
    private mutating func change(_ now: Instant, _ body: (inout MatterSession) -> Void) {
        guard case .serving(var session, let since) = phase else { return }
        // Without a copy.
        phase = .waiting(until: now)
        body(&session)
        let outputs = session.drainOutputs()
        let isMalformed = session.counters.malformedMessages > limits.malformedMessages
        phase = .serving(session, since: since)
        for output in outputs {
            // One of them may have been too much.
            guard isServing else { return }
            switch output {
            case .text(let value): send(value, now)
            case .data(let octets): add(WebSocketFrame.binary(octets, mask: mask()), now)
            case .link(let request): actions.append(.link(request))
            }
        }
        if isMalformed { violate("the server sends what has no meaning", .protocolError, now) }
    }

    private mutating func send(_ value: JSONValue, _ now: Instant) {
        var text: [UInt8] = []
        value.write(into: &text)
        add(WebSocketFrame.text(text, mask: mask()), now)
    }

    private mutating func add(_ octets: [UInt8], _ now: Instant) {
        switch phase {
        case .waiting, .opening, .upgrading: return
        case .greeting, .serving: output.append(octets, at: now)
        }
        guard output.count > limits.octets else { return }
        ended.stalls += 1
        end("the server reads too slowly", nil, now)
    }

    private mutating func mask() -> WebSocketFrame.Mask { random.next(4) }

    // MARK: The end

    private mutating func violate(_ problem: String, _ code: WebSocketFrame.CloseCode, _ now: Instant) {
        ended.violations += 1
        end(problem, code, now)
    }

    /// Ends the connection, and waits before the next.
    /// - Parameter problem: `nil`: the program ends.
    private mutating func end(_ problem: String?, _ code: WebSocketFrame.CloseCode?, _ now: Instant) {
        var last: [UInt8] = []
        if case .serving(let session, let since) = phase {
            ended.add(session.counters)
            actions.append(.end(session: lastSession))
            failures = since.advanced(by: limits.goodSession) <= now ? 0 : failures
        }
        switch phase {
        case .greeting, .serving:
            // Half a frame before it would make it one of nonsense.
            if let code, output.count == 0 { last = WebSocketFrame.close(code, mask: mask()) }
        case .waiting, .opening, .upgrading: break
        }
        output = WaitingOctets()
        failures += 1
        phase = .waiting(until: now.advanced(by: pause()))
        actions.append(.close(lastOctets: last))
        if let problem { actions.append(.report("\(server): \(problem)", isProblem: true)) }
    }

    /// Twice as long each time, and not the same for many gateways of one server.
    private mutating func pause() -> Microseconds {
        let longest = limits.longestPause.rawValue
        let full = min(longest, limits.shortestPause.rawValue << Int64(min(failures - 1, 20)))
        let share = Int64(random.next(1)[0])
        return Microseconds(rawValue: full - full * share / 1024)
    }
}

extension MatterCounters {
    fileprivate mutating func add(_ other: Self) {
        attempts += other.attempts
        sessions += other.sessions
        violations += other.violations
        stalls += other.stalls
        malformedMessages += other.malformedMessages
        commands += other.commands
        failures += other.failures
        devices += other.devices
        droppedDevices += other.droppedDevices
    }
}
