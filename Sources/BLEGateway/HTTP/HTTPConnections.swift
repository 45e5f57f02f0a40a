import BLEHost

/// The connections of the HTTP server: what each has sent, what it is answered, and until when.
///
///     reading ──request──▶ waiting ──answer──▶ writing ──written──▶ closing ──end, limit──▶ closed
///        └── refused, too late ──────────────────▲
///
/// Each connection has one request. When there are too many connections, the one that has made the least use of its
/// place for the longest time gives it up.
public struct HTTPConnections: Sendable {
    public struct ID: Hashable, Comparable, Sendable {
        let number: UInt64
        public static func < (a: Self, b: Self) -> Bool { a.number < b.number }
    }

    public enum Action: Equatable, Sendable {
        /// `answer` is expected for this request.
        case request(ID, HTTPRequest)
        /// Nothing more will be written.
        case finishWriting(ID)
        /// The connection is over; what can be written at once of `lastOctets` is.
        case close(ID, lastOctets: [UInt8])
    }

    /// Where a connection comes from, as far as limits depend on it: one who has an IPv6 address has all those that
    /// begin with the same eight octets.
    public struct Peer: Equatable, Sendable {
        private let octets: [UInt8]

        /// - Parameter address: the 4 or 16 octets of an address.
        public init(address: [UInt8]) {
            let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
            octets = address.starts(with: mapped) ? Array(address.dropFirst(12)) : Array(address.prefix(8))
        }
    }

    private enum Phase {
        case reading(HTTPRequestReader)
        case waiting(isHead: Bool)
        case writing(rest: ArraySlice<UInt8>)
        case closing(octets: Int)

        /// Those with a lower number give up their places first.
        var worth: Int {
            switch self {
            case .closing: 0
            case .reading: 1
            case .waiting: 2
            case .writing: 3
            }
        }

        /// Whether the client has had a part of its answer, or all.
        var isAnswered: Bool {
            switch self {
            case .reading, .waiting: false
            case .writing, .closing: true
            }
        }
    }

    private struct Connection {
        let id: ID
        let peer: Peer
        var phase: Phase
        var deadline: Instant
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
    public var nextDeadline: Instant? { connections.lazy.map(\.deadline).min() }

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
            }
        case nil: (false, false)
        }
    }

    /// What is to be written next.
    public func output(of id: ID) -> ArraySlice<UInt8> {
        guard let index = index(of: id), case .writing(let rest) = connections[index].phase else { return [] }
        return rest
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
        case .waiting, .writing: break
        }
    }

    /// The client sends nothing more; it may still read.
    public mutating func ended(_ id: ID, at now: Instant) {
        guard let index = index(of: id) else { return }
        connections[index].hasEnded = true
        switch connections[index].phase {
        case .reading(let reader):
            if reader.isUntouched { close(index) } else { write(HTTPAnswer(.badRequest), isHead: false, index, now) }
        case .closing: close(index)
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
        write(answer, isHead: isHead, index, now)
        connections[index].deadline = min(deadline, connections[index].deadline)
    }

    /// So many octets of the output were written.
    public mutating func wrote(_ count: Int, on id: ID, at now: Instant) {
        guard let index = index(of: id), case .writing(let rest) = connections[index].phase else { return }
        guard count < rest.count else {
            if connections[index].hasEnded { return close(index) }
            connections[index].phase = .closing(octets: 0)
            connections[index].deadline = now.advanced(by: limits.closingTime)
            return actions.append(.finishWriting(id))
        }
        connections[index].phase = .writing(rest: rest.dropFirst(count))
    }

    /// Ends what takes too long.
    public mutating func advance(to now: Instant) {
        for id in connections.filter({ $0.deadline <= now }).map(\.id) {
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
            let worth = connection.phase.worth
            let count = peer == nil ? connections.count { $0.peer == connection.peer } : 0
            if let best, (best.worth, -best.count) <= (worth, -count) { continue }
            best = (index, worth, count)
        }
        guard let index = best?.index else { return }
        let refusal = HTTPAnswer(.serviceUnavailable).octets(isHead: false)
        close(index, lastOctets: connections[index].phase.isAnswered ? [] : refusal)
    }
}
