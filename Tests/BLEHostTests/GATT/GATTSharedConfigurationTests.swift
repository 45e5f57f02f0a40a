import BLEPackets
import Testing

@testable import BLEHost

/// Clients that write the configuration of a value by its handle, beside others that have subscribed by it.
@Suite("GATT client: configurations that clients share")
struct GATTSharedConfigurationTests {
    let a = ClientID(rawValue: 1)
    let b = ClientID(rawValue: 2)
    let notify = GATTOperation.subscribe(0x12, configuration: 0x13, mode: .notifications)
    let unsubscribe = GATTOperation.unsubscribe(0x12)

    /// The client `b` has subscribed.
    private func subscribed() -> ClientBench {
        var bench = ClientBench()
        bench.start(notify, client: b)
        bench.play("> 12 1300 0100\n< 13")
        _ = bench.takeResults()
        return bench
    }

    private func holders(_ bench: inout ClientBench) -> [ClientID] {
        bench.receive("1b 1200 48")
        guard case .notification(let value)? = bench.takeEvents().last else { return [] }
        return value.clients
    }

    @Test(
        "a write that clears a configuration ends the writer's own subscription only (SPEC 5.5 rule 5)",
        arguments: [
            GATTOperation.write(0x13, value: [0, 0]), .writeCommand(0x13, value: [0, 0]),
            .writeSigned(0x13, value: [0, 0]),
        ])
    func cleared(_ write: GATTOperation) {
        var bench = subscribed()
        bench.start(write, client: a)
        bench.play("> 12 1300 0100\n< 13")
        #expect(bench.takeResults() == [.success(.written)])
        #expect(holders(&bench) == [b])
        bench.start(notify, client: a)
        bench.start(write, client: a)
        bench.play("> 12 1300 0100\n< 13")
        #expect(holders(&bench) == [b])
        bench.start(unsubscribe, client: b)
        bench.play("> 12 1300 0000\n< 13")
        #expect(bench.client.subscriptions.entries.isEmpty)
    }

    @Test(
        "prepared and reliable writes that hold a configuration keep what others need, and the echo is compared with it"
    )
    func prepared() {
        var bench = subscribed()
        bench.start(.writeLong(0x13, value: [2, 0]), client: a)
        bench.play("> 16 1300 0000 0300\n< 17 1300 0000 0300\n> 18 01\n< 19")
        #expect(bench.takeResults() == [.success(.written)])
        #expect(holders(&bench) == [a, b])
        bench.start(
            .reliableWrite([AttributeWrite(handle: 0x20, value: [7]), AttributeWrite(handle: 0x13, value: [0, 0])]),
            client: a)
        bench.play(
            "> 16 2000 0000 07\n< 17 2000 0000 07\n> 16 1300 0000 0100\n< 17 1300 0000 0100\n> 18 01\n< 19")
        #expect(bench.takeResults() == [.success(.written)])
        #expect(holders(&bench) == [b])
    }

    @Test("a write that sets a configuration is a subscription of the writer, which the others' ends leave alone")
    func set() {
        var bench = subscribed()
        bench.start(.write(0x13, value: [1, 0]), client: a)
        bench.play("> 12 1300 0100\n< 13")
        #expect(holders(&bench) == [a, b])
        bench.leave(b)
        #expect(bench.sent.isEmpty)
        #expect(holders(&bench) == [a])
        bench.start(.write(0x13, value: [0, 0]), client: a)
        bench.play("> 12 1300 0000\n< 13")
        #expect(bench.client.subscriptions.entries.isEmpty)
    }

    @Test("what is no configuration is refused while others have subscribed, and sent as it is for a client alone")
    func odd() {
        var bench = subscribed()
        bench.start(.write(0x13, value: [0]), client: a)
        bench.start(.write(0x13, value: [0, 0x80]), client: a)
        bench.start(.reliableWrite([AttributeWrite(handle: 0x13, value: [])]), client: a)
        #expect(bench.takeSent().isEmpty)
        #expect(
            bench.takeResults() == [
                .failure(.att(.invalidAttributeValueLength, handle: 0x13)),
                .failure(.att(.valueNotAllowed, handle: 0x13)),
                .failure(.att(.invalidAttributeValueLength, handle: 0x13)),
            ])
        bench.start(.write(0x13, value: [0]), client: b)
        bench.play("> 12 1300 00\n< 01 12 1300 0d")
        bench.start(.write(0x13, value: [0, 0]), client: b)
        bench.play("> 12 1300 0000\n< 13")
        bench.start(notify, client: b)
        bench.play("> 12 1300 0100\n< 13")
    }

    @Test("a write while another's subscription is written waits for it")
    func meanwhile() {
        var bench = ClientBench()
        bench.start(notify, client: b)
        bench.start(.writeCommand(0x13, value: [0, 0]), client: a)
        bench.play("> 12 1300 0100\n< 13\n> 12 1300 0100\n< 13")
        #expect(bench.takeResults() == [.success(.subscribed), .success(.written)])
        #expect(holders(&bench) == [b])
    }

    @Test("also on another bearer, a write of a configuration waits for the subscription that is being ended")
    func bearers() {
        var bench = subscribed()
        bench.open(1)
        bench.start(unsubscribe, client: b)
        #expect(bench.takeSent(on: 1) == ["1213000000"])
        bench.start(.write(0x13, value: [1, 0]), client: a)
        #expect(bench.takeSent().isEmpty)
        bench.receive("13", on: 1)
        #expect(bench.takeSent(on: 1) == ["1213000100"])
    }

    @Test("a subscription to another value by the same configuration does not end what others hold")
    func otherValue() {
        var bench = subscribed()
        bench.start(.subscribe(0x05, configuration: 0x13, mode: .indications), client: a)
        bench.play("> 12 1300 0300\n< 13")
        bench.start(.unsubscribe(0x05), client: a)
        bench.play("> 12 1300 0100\n< 13")
        #expect(holders(&bench) == [b])
        bench.start(.subscribe(0x05, configuration: 0x13, mode: .notifications), client: a)
        bench.leave(a)
        #expect(bench.takeSent().isEmpty)
        bench.start(unsubscribe, client: b)
        bench.play("> 12 1300 0000\n< 13")
        #expect(bench.client.subscriptions.entries.isEmpty)
    }

    @Test("a subscription that names a wrong configuration changes nothing for the holders")
    func otherConfiguration() {
        var bench = subscribed()
        bench.start(.subscribe(0x12, configuration: 0x99, mode: .notifications), client: a)
        bench.play("> 12 9900 0100\n< 01 12 9900 01")
        #expect(holders(&bench) == [b])
        bench.start(unsubscribe, client: b)
        bench.play("> 12 1300 0000\n< 13")
        #expect(bench.takeResults().last == .success(.unsubscribed))
    }
}
