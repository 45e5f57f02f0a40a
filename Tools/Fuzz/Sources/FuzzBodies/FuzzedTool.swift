import BLEDaemon
import BLEHost
import BLEMessages

/// A tool's session, and what it may do.
struct FuzzedTool {
    var session: ToolSession
    let client: ClientID
    /// The number of its latest request.
    var number: UInt64 = 0
    private let isOperator: Bool
    private var links: [LinkID] = []
    /// The requests that have ended.
    private var ended: Set<UInt64> = []
    /// Numbers that the daemon has given, by the names of their fields.
    private var given: [String: [UInt64]] = [:]

    /// What the tool can name.
    var known: [String: [UInt64]] {
        given.merging(["link": links.map(\.bits), "operation": (1...max(1, number)).suffix(32)]) { $1 }
    }

    init(_ number: Int, _ limits: ClientLimits) {
        client = ClientID(rawValue: 0x8000_0000 + UInt32(number))
        isOperator = number == FuzzedSessions.operating
        session = ToolSession(client: client, isOperator: isOperator, limits: limits)
    }

    mutating func observe(_ event: HostEvent) {
        switch event {
        case .connected(let information, client): links.append(information.id)
        case .centralConnected(let information): links.append(information.id)
        default: break
        }
    }

    /// - Returns: why the session must not submit this; `nil` if it may.
    func mayNot(_ command: HostCommand) -> String? {
        switch command {
        case .security(.removeBond), .security(.nameBond):
            isOperator ? nil : "a tool that is no operator changes bonds"
        case .link(let link, _), .security(.pair(let link, _)), .security(.encrypt(let link)):
            links.contains(link) ? nil : "a tool names a link that it was not told of: \(command)"
        default: nil
        }
    }

    /// - Returns: what is wrong with the message.
    mutating func send(_ message: FromDaemon) -> String? {
        switch message {
        case .event(.server(.read(let request))): give("question", request.id.bits)
        case .event(.server(.write(let request))): give("question", request.id.bits)
        case .event(.pairing(_, .question(let question))): give("question", question.id.bits)
        case .event(.channel(.opened(let channel, _))): give("number", UInt64(channel.id.number))
        case .completed(_, .success(.channel(let channel))): give("number", UInt64(channel.id.number))
        default: break
        }
        guard case .completed(let operation, _) = message else { return nil }
        return ended.insert(operation.rawValue).inserted ? nil : "request \(operation.rawValue) has ended twice"
    }

    private mutating func give(_ name: String, _ number: UInt64) {
        given[name, default: []].append(number)
        if given[name, default: []].count > 32 { given[name, default: []].removeFirst() }
    }
}
