import BLEDaemon
import BLEHost
import BLEMessages
import BLETransport

/// A program of a fuzzed daemon: what it has been sent, and what it may do.
struct FuzzedProgram {
    let id: ConnectionID
    let kind: SessionKind
    let isOperator: Bool
    /// Whether it reads what it is sent.
    var reads = true
    private(set) var isClosed = false
    /// The number of its latest request.
    var number: UInt64 = 0
    private var frames = FrameReader(limit: BledProtocol.eventLimit)
    private var links: Set<LinkID> = []
    /// The requests that have ended.
    private var ended: Set<UInt64> = []
    private var sent: UInt64 = 0, unread = 0
    /// Numbers that the daemon has given, by the names of their fields.
    private var given: [String: [UInt64]] = [:]

    init(_ id: ConnectionID, _ kind: SessionKind, isOperator: Bool) {
        (self.id, self.kind, self.isOperator) = (id, kind, isOperator)
    }

    var peer: PeerCredentials {
        PeerCredentials(user: isOperator ? 0 : 1000, group: 1000, process: Int32(id.rawValue))
    }

    var greeting: FromClient { .hello(Greeting(kind, app: kind == .app ? AppGreeting("app") : nil)) }

    /// What the tool can name.
    var known: [String: [UInt64]] {
        given.merging(["link": links.map(\.bits).sorted(), "operation": (1...max(1, number)).suffix(32)]) { $1 }
    }

    mutating func close() { isClosed = true }

    /// A link is reported to it.
    mutating func learn(_ link: LinkID) { links.insert(link) }

    /// How far its octets are.
    mutating func progress() -> DaemonInput {
        if reads { unread = 0 }
        return .wrote(id, taken: sent - UInt64(unread), refused: unread, waiting: unread)
    }

    /// - Returns: why the daemon must not submit this for it; `nil` if it may.
    func mayNot(_ command: HostCommand) -> String? {
        switch command {
        case .security(.removeBond), .security(.nameBond):
            isOperator ? nil : "a tool that is no operator changes bonds"
        // What it leaves is undone for it.
        case .link(_, .disconnect): nil
        case .link(let link, _), .security(.pair(let link, _)), .security(.encrypt(let link)):
            links.contains(link) ? nil : "a tool names a link that was not reported to it: \(command)"
        default: nil
        }
    }

    /// The daemon sends octets.
    /// - Returns: what is wrong with a message in them.
    mutating func receive(_ octets: [UInt8]) -> String? {
        sent += UInt64(octets.count)
        unread += octets.count
        frames.append(octets.span.bytes)
        do {
            while let content = try frames.next() {
                let message = try FromDaemon(octets: content)
                guard Array(message.framed().dropFirst(FrameReader.headerOctets)) == Array(content) else {
                    return "a message that is not what it says: \(message)"
                }
                if let problem = note(message) { return problem }
            }
            return nil
        } catch {
            return "a message that cannot be decoded: \(error)"
        }
    }

    private mutating func note(_ message: FromDaemon) -> String? {
        switch message {
        case .event(.server(.read(let request))): give("question", request.id.bits)
        case .event(.server(.write(let request))): give("question", request.id.bits)
        case .event(.pairing(_, .question(let question))): give("question", question.id.bits)
        case .event(.channel(.opened(let channel, _))): give("number", UInt64(channel.id.number))
        case .completed(let operation, let result):
            if case .success(.channel(let channel)) = result { give("number", UInt64(channel.id.number)) }
            return ended.insert(operation.rawValue).inserted ? nil : "request \(operation.rawValue) has ended twice"
        default: break
        }
        return nil
    }

    private mutating func give(_ name: String, _ number: UInt64) {
        given[name, default: []].append(number)
        if given[name, default: []].count > 32 { given[name, default: []].removeFirst() }
    }
}
