import BLEHost
import Testing

@testable import BLEAppLifecycle

@Suite("Commands under way")
struct CommandLedgerTests {
    private let client = ClientID(rawValue: 1)

    @Test("an operation is tracked from its identifier to its end, and each end is reported once")
    func life() {
        var ledger = CommandLedger()
        let token = ledger.add(.scan(client))
        #expect(ledger.operation(of: token) == nil)
        let operation = OperationID(rawValue: 5)
        #expect(ledger.name(token, operation)?.purpose == .scan(client))
        #expect(ledger.knows(operation) && ledger.operation(of: token) == operation)
        #expect(ledger.remove(operation)?.token == token)
        #expect(ledger.remove(operation) == nil && !ledger.knows(operation))
    }

    @Test("a command cancelled before the engine has assigned its identifier ends as soon as it has one")
    func cancelledEarly() {
        var ledger = CommandLedger()
        let (early, late) = (ledger.add(.advertise(client)), ledger.add(.advertise(client)))
        #expect(ledger.cancel(early) == nil)
        #expect(ledger.name(early, OperationID(rawValue: 1))?.isCancelled == true)
        #expect(ledger.name(late, OperationID(rawValue: 2))?.isCancelled == false)
        #expect(ledger.cancel(late) == OperationID(rawValue: 2))
        #expect(ledger.remove(OperationID(rawValue: 2))?.purpose == Purpose.none)
    }

    @Test("only the requests of one manager to one peripheral are forgotten")
    func forgotten() {
        var ledger = CommandLedger()
        let peers = [PeerIdentifier(high: 0, low: 1), PeerIdentifier(high: 0, low: 2)]
        let tokens = peers.map { ledger.add(.peripheral(client, $0, .readRSSI)) }
        for (number, token) in tokens.enumerated() { _ = ledger.name(token, OperationID(rawValue: UInt64(number))) }
        ledger.forget(client, on: peers[0])
        #expect(ledger.remove(OperationID(rawValue: 0))?.purpose == Purpose.none)
        #expect(ledger.remove(OperationID(rawValue: 1))?.purpose == .peripheral(client, peers[1], .readRSSI))
    }

    @Test("the octets of a client's commands count until each has ended, also of those that nobody waits for any more")
    func octets() {
        var ledger = CommandLedger()
        let other = ClientID(rawValue: 2)
        let tokens = [300, 200, 0].map { ledger.add(.scan(client), octets: $0, of: client) }
        _ = ledger.add(.scan(other), octets: 7, of: other)
        for (number, token) in tokens.enumerated() { _ = ledger.name(token, OperationID(rawValue: UInt64(number))) }
        #expect(ledger.octets(of: client) == 500 && ledger.octets(of: other) == 7)
        ledger.forget(client)
        _ = ledger.remove(OperationID(rawValue: 0))
        #expect(ledger.octets(of: client) == 200)
        _ = ledger.remove(OperationID(rawValue: 0))
        _ = ledger.remove(OperationID(rawValue: 1))
        _ = ledger.remove(OperationID(rawValue: 2))
        #expect(ledger.octets(of: client) == 0 && ledger.octets(of: other) == 7)
    }
}
