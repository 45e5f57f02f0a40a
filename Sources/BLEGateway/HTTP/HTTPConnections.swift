import BLEHost

/// The connections of the HTTP server: what each has sent, what it is answered, and until when.
///
///     reading ──request──▶ waiting ──answer──▶ writing ──written──▶ closing ──end, limit──▶ closed
///        └── refused, too late ──┴───────────────▲                                            ▲
///                                └──stream──▶ streaming ──end, too slow, too silent────────────┘
///
/// Each connection has one request. When there are too many connections, the one that has made the least use of its
/// place for the longest time gives it up.
public struct HTTPConnections: Sendable {
    public struct ID: Hashable, Comparable, Sendable {
        let number: UInt64
        public static func < (a: Self, b: Self) -> Bool { a.number < b.number }
    }

    public enum Action: Equatable, Sendable {
        /// `answer`, `beginStream` or `beginWebSocket` is expected for this request.
        case request(ID, HTTPRequest)
        /// A client says something by WebSocket.
        case message(ID, [UInt8])
        /// Nothing more will be written.
        case finishWriting(ID)
        /// The connection is over; what can be written at once of `lastOctets` is.
        case close(ID, lastOctets: [UInt8])
    }

    public typealias Peer = ClientAddress

    private enum Phase {
        case reading(HTTPRequestReader)
        case waiting(isHead: Bool)
        case writing(rest: ArraySlice<UInt8>)
        case streaming(HTTPStream)
        case closing(octets: Int)

        /// Those with a lower number give up their places first.
        var worth: Int {
            switch self {
            case .closing: 0
            case .reading: 1
            case .waiting: 2
            case .writing: 3
            case .streaming: 4
            }
        }

        /// Whether the client has had a part of its answer, or all.
        var isAnswered: Bool {
            switch self {
            case .reading, .waiting: false
            case .writing, .streaming, .closing: true
            }
        }
    }

    private struct Connection {
        let id: ID
        let peer: Peer
        var phase: Phase
        /// The end of the phase; a stream has its times itself.
        var deadline: Instant
        /// Whether it is a stream of a client with a token.
        var isAuthorised = false
        /// Whether the client has said that it sends nothing more.
        var hasEnded = false
    }

    private let limits: HTTPLimits
    /// In the order in which they began.
    private var connections: [Connection] = []
    private var actions: [Action] = []
    private var lastNumber: UInt64 = 0

    public init(_ limits: HTTPLimits = HTTPLimits()) { self.limits = limits }

    /// The connections that are open, in the order in which they began.
    public var open: [ID] { connections.map(\.id) }

    /// The moment at which `advance` has something to do.
    public var nextDeadline: Instant? { connections.lazy.map { deadline(of: $0) }.min() }

    private func deadline(of connection: Connection) -> Instant {
        if case .streaming(let stream) = connection.phase { return stream.deadline(limits) }
        return connection.deadline
    }

    public mutating func drainActions() -> [Action] {
        defer { actions = [] }
        return actions
    }

    /// Whether octets of a connection are to be read, and whether there are some to be written.
    public func interest(of id: ID) -> (reads: Bool, writes: Bool) {
        switch index(of: id).map({ connections[$0] }) {
        case let connection?:
            switch connection.phase {
            case .reading, .closing: (!connection.hasEnded, false)
            case .waiting: (false, false)
            case .writing: (false, true)
            case .streaming(let stream): (true, !stream.pending.isEmpty)
            }
        case nil: (false, false)
        }
    }

    /// What is to be written next.
    public func output(of id: ID) -> ArraySlice<UInt8> {
        switch index(of: id).map({ connections[$0].phase }) {
        case .writing(let rest): rest
        case .streaming(let stream): stream.pending
        default: []
        }
    }

    /// Where a connection comes from.
    public func client(of id: ID) -> ClientAddress? { index(of: id).map { connections[$0].peer } }

    /// Whether a connection is a stream that is not at its end.
    public func isStreaming(_ id: ID) -> Bool { stream(id).map { !$0.isEnding } ?? false }

    /// How many octets of a stream wait to be written; `nil`: it is none, or at its end.
    public func waiting(on id: ID) -> Int? { stream(id).flatMap { $0.isEnding ? nil : $0.pending.count } }

    /// Takes a place for another stream of the client that has this connection. For a client with a token streams without
    /// one do not count: if all places are taken, the oldest of these ends.
    /// - Returns: whether there is room.
    public mutating func takeStreamPlace(_ id: ID, isAuthorised: Bool) -> Bool {
        guard let peer = index(of: id).map({ connections[$0].peer }) else { return false }
        let streams = connections.filter { if case .streaming = $0.phase { true } else { false } }
        let ofAddress = streams.filter { $0.peer == peer }
        let isFull = streams.count >= limits.streams
        let isAddressFull = ofAddress.count >= limits.streamsOfAddress
        if isFull || isAddressFull {
            let oldest = (isAddressFull ? ofAddress : streams).first { !$0.isAuthorised }
            guard isAuthorised, let oldest, let place = index(of: oldest.id) else { return false }
            close(place)
        }
        if let index = index(of: id) { connections[index].isAuthorised = isAuthorised }
        return true
    }

    private func stream(_ id: ID) -> HTTPStream? {
        guard let index = index(of: id), case .streaming(let stream) = connections[index].phase else { return nil }
        return stream
    }

    // MARK: Events

    /// A client has connected.
    public mutating func accept(_ peer: Peer, at now: Instant) -> ID {
        lastNumber += 1
        let id = ID(number: lastNumber)
        let count = connections.count { $0.peer == peer }
        if count >= limits.connectionsOfAddress {
            makeRoom(among: peer)
        } else if connections.count >= limits.connections {
            makeRoom(among: nil)
        }
        connections.append(
            Connection(
                id: id, peer: peer, phase: .reading(HTTPRequestReader(limits)),
                deadline: now.advanced(by: limits.requestTime)))
        return id
    }

    /// Octets have come.
    public mutating func received(_ octets: some Collection<UInt8>, on id: ID, at now: Instant) {
        guard let index = index(of: id) else { return }
        switch connections[index].phase {
        case .reading(var reader):
            let progress = reader.read(octets)
            switch progress {
            case .incomplete: connections[index].phase = .reading(reader)
            case .refused(let status): write(HTTPAnswer(status), isHead: false, index, now)
            case .complete(let request):
                connections[index].phase = .waiting(isHead: request.method == .head)
                connections[index].deadline = now.advanced(by: limits.answerTime)
                actions.append(.request(id, request))
            }
        case .closing(let count):
            guard count + octets.count <= limits.closingOctets else { return close(index) }
            connections[index].phase = .closing(octets: count + octets.count)
        case .streaming(var stream):
            let events = stream.received(octets, at: now)
            connections[index].phase = .streaming(stream)
            if stream.isFlooded(limits) { return close(index) }
            for event in events { handle(event, id, now) }
        case .waiting, .writing: break
        }
    }

    private mutating func handle(_ event: WebSocketReader.Event, _ id: ID, _ now: Instant) {
        switch event {
        case .message(let octets): actions.append(.message(id, octets))
        case .ping(let octets):
            // One who only asks and does not read what is answered.
            guard let waiting = waiting(on: id), waiting < limits.streamOctets else { return failed(id) }
            send(WebSocketFrame.pong(octets), on: id, at: now)
        case .pong: break
        case .data: end(id, .notText, at: now)
        case .closed: end(id, .normal, at: now)
        case .failed(let code): end(id, code, at: now)
        }
    }

    /// The client sends nothing more; it may still read.
    public mutating func ended(_ id: ID, at now: Instant) {
        guard let index = index(of: id) else { return }
        connections[index].hasEnded = true
        switch connections[index].phase {
        case .reading(let reader):
            if reader.isUntouched { close(index) } else { write(HTTPAnswer(.badRequest), isHead: false, index, now) }
        case .closing, .streaming: close(index)
        case .waiting, .writing: break
        }
    }

    /// A connection is lost.
    public mutating func failed(_ id: ID) {
        if let index = index(of: id) { close(index) }
    }

    /// The answer for a request; ignored if its connection is over or has been answered.
    public mutating func answer(_ answer: HTTPAnswer, to id: ID, at now: Instant) {
        guard let index = index(of: id), case .waiting(let isHead) = connections[index].phase else { return }
        let deadline = connections[index].deadline
        let fits = answer.body.count <= 4096 || waitingOctets + answer.body.count <= limits.outputOctets
        write(fits ? answer : HTTPAnswer(.serviceUnavailable), isHead: isHead, index, now)
        connections[index].deadline = min(deadline, connections[index].deadline)
    }

    /// What waits to be written, of all connections.
    private var waitingOctets: Int {
        connections.reduce(0) { sum, connection in
            switch connection.phase {
            case .writing(let rest): sum + rest.count
            case .streaming(let stream): sum + stream.pending.count
            case .reading, .waiting, .closing: sum
            }
        }
    }

    // MARK: Streams

    /// Answers a request with a stream; ignored if its connection is over or has been answered.
    /// - Parameter pulse: what is sent when nothing else was for a while.
    public mutating func beginStream(_ answer: HTTPAnswer, pulse: [UInt8], on id: ID, at now: Instant) {
        begin(id) { HTTPStream(head: answer.streamHead, webSocket: nil, pulse: pulse, at: now) }
    }

    /// Answers a request by going on with WebSocket.
    /// - Parameter accept: the value that belongs to the client's key.
    public mutating func beginWebSocket(accept: String, on id: ID, at now: Instant) {
        let reader = WebSocketReader(limit: limits.bodyOctets)
        begin(id) {
            HTTPStream(
                head: HTTPAnswer.webSocketHead(accept: accept), webSocket: reader,
                pulse: WebSocketFrame.ping(), at: now)
        }
    }

    private mutating func begin(_ id: ID, _ stream: () -> HTTPStream) {
        guard let index = index(of: id), case .waiting = connections[index].phase else { return }
        if connections[index].hasEnded { return close(index) }
        connections[index].phase = .streaming(stream())
    }

    /// Adds octets to a stream; ignored if it is none, or at its end.
    public mutating func send(_ octets: some Collection<UInt8>, on id: ID, at now: Instant) {
        guard let index = index(of: id), case .streaming(var stream) = connections[index].phase, !stream.isEnding else {
            return
        }
        // Of two copies each change would make another.
        connections[index].phase = .closing(octets: 0)
        stream.send(octets, at: now)
        connections[index].phase = .streaming(stream)
    }

    /// Ends a stream when what waits on it is written.
    public mutating func endStream(_ id: ID, at now: Instant) { end(id, .normal, at: now) }

    private mutating func end(_ id: ID, _ code: WebSocketFrame.CloseCode, at now: Instant) {
        guard let index = index(of: id), case .streaming(var stream) = connections[index].phase, !stream.isEnding else {
            return
        }
        if stream.webSocket != nil { stream.send(WebSocketFrame.close(code), at: now) }
        stream.end()
        connections[index].phase = .streaming(stream)
        if stream.pending.isEmpty { finish(index, now) }
    }

    private mutating func finish(_ index: Int, _ now: Instant) {
        if connections[index].hasEnded { return close(index) }
        connections[index].phase = .closing(octets: 0)
        connections[index].deadline = now.advanced(by: limits.closingTime)
        actions.append(.finishWriting(connections[index].id))
    }

    /// So many octets of the output were written.
    public mutating func wrote(_ count: Int, on id: ID, at now: Instant) {
        guard let index = index(of: id) else { return }
        switch connections[index].phase {
        case .writing(let rest):
            guard count < rest.count else { return finish(index, now) }
            connections[index].phase = .writing(rest: rest.dropFirst(count))
        case .streaming(var stream):
            connections[index].phase = .closing(octets: 0)
            stream.wrote(count, at: now)
            connections[index].phase = .streaming(stream)
            if stream.isEnding, stream.pending.isEmpty { finish(index, now) }
        case .reading, .waiting, .closing: break
        }
    }

    /// Ends what takes too long.
    public mutating func advance(to now: Instant) {
        for id in connections.filter({ deadline(of: $0) <= now }).map(\.id) {
            guard let index = index(of: id) else { continue }
            switch connections[index].phase {
            case .reading(let reader):
                // Browsers connect in advance; that is no request.
                if reader.isUntouched {
                    close(index)
                } else {
                    write(HTTPAnswer(.requestTimeout), isHead: false, index, now)
                }
            case .waiting(let isHead): write(HTTPAnswer(.serviceUnavailable), isHead: isHead, index, now)
            case .streaming(var stream):
                if let end = stream.end(limits), end <= now {
                    close(index)
                } else {
                    stream.beat(limits, at: now)
                    connections[index].phase = .streaming(stream)
                }
            case .writing, .closing: close(index)
            }
        }
    }

    // MARK: Parts

    private func index(of id: ID) -> Int? { connections.firstIndex { $0.id == id } }

    private mutating func write(_ answer: HTTPAnswer, isHead: Bool, _ index: Int, _ now: Instant) {
        connections[index].phase = .writing(rest: answer.octets(isHead: isHead)[...])
        connections[index].deadline = now.advanced(by: limits.answerTime)
    }

    private mutating func close(_ index: Int, lastOctets: [UInt8] = []) {
        let connection = connections.remove(at: index)
        actions.append(.close(connection.id, lastOctets: lastOctets))
    }

    /// - Parameter peer: whose connection ends; `nil`: that of the address with the most.
    private mutating func makeRoom(among peer: Peer?) {
        var best: (index: Int, worth: Int, count: Int)?
        for (index, connection) in connections.enumerated() where peer == nil || connection.peer == peer {
            let worth = connection.phase.worth + (connection.isAuthorised ? 1 : 0)
            let count = peer == nil ? connections.count { $0.peer == connection.peer } : 0
            if let best, (best.worth, -best.count) <= (worth, -count) { continue }
            best = (index, worth, count)
        }
        guard let index = best?.index else { return }
        let refusal = HTTPAnswer(.serviceUnavailable).octets(isHead: false)
        close(index, lastOctets: connections[index].phase.isAnswered ? [] : refusal)
    }
}
