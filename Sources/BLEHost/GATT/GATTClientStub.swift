import BLEPackets

struct GATTClient {
    init(settings: GATTClientSettings = .init()) {}
    mutating func start(_ o: GATTOperation, id: OperationID, client: ClientID, at now: Instant) {}
    mutating func receive(_ pdu: RawSpan, at: Instant) {}
    mutating func advance(to: Instant) {}
    var nextDeadline: Instant? { nil }
    mutating func cancel(_ o: OperationID, at: Instant) {}
    mutating func clientLeft(_ c: ClientID, at: Instant) {}
    mutating func bearerClosed(_ f: GATTFailure) {}
    mutating func commandSent(_ o: OperationID) {}
    mutating func nextAction() -> GATTClientAction? { nil }
    var mtu: UInt16 { 23 }
}
