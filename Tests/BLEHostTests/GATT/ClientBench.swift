import BLEPackets
import Testing

@testable import BLEHost

/// A GATT client on a table: PDUs go in and out as hexadecimal text.
struct ClientBench {
    var client: GATTClient
    var now = Instant.zero
    /// PDUs that went out and have not been taken.
    var sent: [String] = []
    var tags: [ATTSendTag] = []
    /// Events that have not been taken, completions left out.
    var events: [GATTClientEvent] = []
    var completions: [(id: OperationID, result: Result<GATTResult, GATTFailure>)] = []
    var disconnects = 0
    /// PDUs that went out on enhanced bearers and have not been taken.
    var sentOnBearers: [UInt32: [String]] = [:]
    /// Enhanced bearers that the client gave up.
    var closedBearers: [UInt32] = []
    /// PDUs of the peer that the server beside this client has to deal with.
    var forServer: [String] = []
    private var lastID: UInt64 = 0

    init(settings: GATTClientSettings = GATTClientSettings()) { client = GATTClient(settings: settings) }

    /// A client that has agreed on an MTU already.
    init(mtu: UInt16, settings: GATTClientSettings = GATTClientSettings()) {
        self.init(settings: settings)
        guard mtu > 23 else { return }
        start(.exchangeMTU(preferred: mtu))
        receive([0x03, UInt8(truncatingIfNeeded: mtu), UInt8(truncatingIfNeeded: mtu >> 8)])
        sent = []
        tags = []
        events = []
        completions = []
    }

    @discardableResult
    mutating func start(
        _ operation: GATTOperation, client owner: ClientID = .local, user: UInt32 = ClientUser.common.number
    ) -> OperationID {
        lastID += 1
        let id = OperationID(rawValue: lastID)
        if let command = client.pduOfWriteCommand(operation, id: id, client: owner, user: user, at: now) {
            sent.append(hex(command))
            tags.append(.command(id))
        } else {
            client.start(operation, id: id, client: owner, user: user, at: now)
        }
        drain()
        return id
    }

    mutating func receive(_ bytes: [UInt8]) {
        if let notification = client.acceptNotification(bytes.span.bytes, at: now) {
            events.append(.notification(notification))
        } else if client.receive(bytes.span.bytes, at: now) {
            forServer.append(hex(bytes))
        }
        drain()
    }

    mutating func receive(_ text: String) { receive(bytes(text)) }

    mutating func cancel(_ id: OperationID) {
        client.cancel(id, at: now)
        drain()
    }

    mutating func leave(_ owner: ClientID) {
        client.clientLeft(owner, at: now)
        drain()
    }

    mutating func close(_ reason: GATTFailure = .disconnected(.connectionTimeout)) {
        client.bearerClosed(reason)
        drain()
    }

    mutating func commandSent(_ id: OperationID) {
        if client.commandSent(id) { completions.append((id, .success(.written))) }
        drain()
    }

    mutating func pass(_ span: Microseconds) {
        now = now.advanced(by: span)
        client.advance(to: now)
        drain()
    }

    // MARK: Enhanced bearers

    mutating func open(_ number: UInt32, mtu: UInt16 = 64) {
        client.bearerOpened(number, mtu: mtu, at: now)
        drain()
    }

    mutating func close(_ number: UInt32) {
        client.bearerClosed(number, at: now)
        drain()
    }

    mutating func receive(_ text: String, on number: UInt32) {
        let pdu = bytes(text)
        if client.receive(pdu.span.bytes, onBearer: number, at: now) { forServer.append(text) }
        drain()
    }

    mutating func takeSent(on number: UInt32) -> [String] { sentOnBearers.removeValue(forKey: number) ?? [] }

    mutating func drain() {
        while let action = client.nextAction() {
            switch action {
            case .send(let pdu, let tag):
                sent.append(hex(pdu))
                tags.append(tag)
            case .sendEnhanced(let pdu, let bearer): sentOnBearers[bearer, default: []].append(hex(pdu))
            case .closeBearer(let bearer): closedBearers.append(bearer)
            case .event(.completed(let id, let result)): completions.append((id, result))
            case .event(let event): events.append(event)
            case .disconnect: disconnects += 1
            case .secure: break
            }
        }
    }

    /// What went out since the last call.
    mutating func takeSent() -> [String] {
        defer {
            sent = []
            tags = []
        }
        return sent
    }

    /// How operations ended since the last call, without their identifiers.
    mutating func takeResults() -> [Result<GATTResult, GATTFailure>] {
        defer { completions = [] }
        return completions.map(\.result)
    }

    mutating func takeEvents() -> [GATTClientEvent] {
        defer { events = [] }
        return events
    }

    /// Plays a conversation: `>` and what we send, `<` and what the peer sends.
    mutating func play(_ script: String, _ location: SourceLocation = #_sourceLocation) {
        for line in script.split(separator: "\n") {
            let text = line.filter { $0 != " " }
            if text.hasPrefix("<") {
                receive(String(text.dropFirst()))
            } else {
                let expected = String(text.dropFirst())
                guard !sent.isEmpty else {
                    Issue.record("nothing was sent instead of \(expected)", sourceLocation: location)
                    return
                }
                #expect(sent.removeFirst() == expected, sourceLocation: location)
                tags.removeFirst()
            }
        }
        #expect(sent.isEmpty, "more was sent", sourceLocation: location)
    }
}

func bytes(_ text: String) -> [UInt8] {
    let digits = text.filter { $0 != " " }
    var bytes: [UInt8] = []
    var index = digits.startIndex
    while index < digits.endIndex {
        let end = digits.index(index, offsetBy: 2, limitedBy: digits.endIndex) ?? digits.endIndex
        bytes.append(UInt8(digits[index..<end], radix: 16) ?? 0)
        index = end
    }
    return bytes
}

func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
