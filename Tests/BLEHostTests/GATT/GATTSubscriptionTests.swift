import BLEPackets
import Testing

@testable import BLEHost

@Suite("GATT client subscriptions")
struct GATTSubscriptionTests {
    let a = ClientID(rawValue: 1)
    let b = ClientID(rawValue: 2)
    let notify = GATTOperation.subscribe(0x12, configuration: 0x13, mode: .notifications)
    let indicate = GATTOperation.subscribe(0x12, configuration: 0x13, mode: .indications)
    let unsubscribe = GATTOperation.unsubscribe(0x12)

    private func notification(
        _ value: [UInt8], _ clients: [ClientID], isIndication: Bool = false
    ) -> GATTClientEvent {
        .notification(
            GATTNotification(handle: 0x12, value: value, isIndication: isIndication, clients: clients))
    }

    @Test("the configuration is written for the first client and cleared for the last (SPEC 5.5 rule 5)")
    func shared() {
        var bench = ClientBench()
        bench.start(notify, client: b)
        bench.play("> 12 1300 0100\n< 13")
        bench.start(notify, client: a)
        #expect(bench.takeResults() == [.success(.subscribed), .success(.subscribed)])
        bench.receive("1b 1200 48")
        #expect(bench.takeEvents() == [notification([0x48], [a, b])])
        bench.start(unsubscribe, client: b)
        #expect(bench.sent.isEmpty)
        bench.receive("1b 1200 49")
        #expect(bench.takeEvents() == [notification([0x49], [a])])
        bench.start(unsubscribe, client: a)
        bench.play("> 12 1300 0000\n< 13")
        #expect(bench.takeResults() == [.success(.unsubscribed), .success(.unsubscribed)])
        bench.receive("1b 1200 4a")
        #expect(bench.events.isEmpty)
    }

    @Test("calls of one client are counted")
    func counted() {
        var bench = ClientBench()
        bench.start(notify)
        bench.play("> 12 1300 0100\n< 13")
        bench.start(notify)
        bench.start(unsubscribe)
        #expect(bench.sent.isEmpty)
        bench.start(unsubscribe)
        bench.play("> 12 1300 0000\n< 13")
        bench.start(unsubscribe)
        #expect(bench.sent.isEmpty)
        #expect(bench.takeResults().last == .failure(.notSubscribed))
    }

    @Test(
        "Service Changed ends subscriptions in its range, and the next subscription writes the configuration (SPEC 2.3 didModifyServices)",
        arguments: [
            ("1d 0300 1000 2000", [AttributeHandle(rawValue: 0x12)]), ("1d 0300 0100 ffff", [0x12, 0x22]),
            ("1d 0300 00", [0x12, 0x22]), ("1d 0300 2000 3000", [0x22]), ("1d 0300 4000 5000", []),
        ])
    func voidValues(_ indication: String, _ void: [AttributeHandle]) {
        var bench = ClientBench()
        bench.start(.discoverCharacteristics(AttributeHandleRange(1, 9), uuids: []))
        bench.play("> 08 0100 0900 0328\n< 09 07 0200 20 0300 052a\n> 08 0300 0900 0328\n< 01 08 0300 0a")
        bench.start(.subscribe(3, configuration: 4, mode: .indications), client: b)
        bench.play("> 12 0400 0200\n< 13")
        bench.start(notify, client: a)
        bench.play("> 12 1300 0100\n< 13")
        bench.start(.subscribe(0x22, configuration: 0x23, mode: .notifications), client: a)
        bench.play("> 12 2300 0100\n< 13")
        _ = bench.takeResults()
        // Twice: the subscription to Service Changed itself stays.
        for _ in 0..<2 {
            bench.receive(indication)
            #expect(bench.takeSent() == ["1e"])
            var events = bench.takeEvents()
            if !void.isEmpty { #expect(events.removeFirst() == .subscriptionsForgotten(void)) }
            #expect(events.count == 1)
            bench.start(unsubscribe, client: a)
            if void.contains(0x12) {
                #expect(bench.takeResults() == [.failure(.notSubscribed)])
            } else {
                bench.play("> 12 1300 0000\n< 13")
                #expect(bench.takeResults() == [.success(.unsubscribed)])
            }
            bench.start(notify, client: a)
            bench.play("> 12 1300 0100\n< 13")
            #expect(bench.takeResults() == [.success(.subscribed)])
            if void.contains(0x22) {
                bench.start(.subscribe(0x22, configuration: 0x23, mode: .notifications), client: a)
                bench.play("> 12 2300 0100\n< 13")
                _ = bench.takeResults()
            }
        }
    }

    @Test("a subscription that Service Changed ends while it is written has no holder (SPEC 2.3 didModifyServices)")
    func voidWhileWritten() {
        var bench = ClientBench()
        bench.start(.discoverCharacteristics(AttributeHandleRange(1, 9), uuids: []))
        bench.play("> 08 0100 0900 0328\n< 09 07 0200 20 0300 052a\n> 08 0300 0900 0328\n< 01 08 0300 0a")
        _ = bench.takeResults()
        bench.start(notify)
        bench.play("> 12 1300 0100\n< 1d 0300 0100 ffff\n> 1e\n< 13")
        #expect(bench.takeResults() == [.failure(.notSubscribed)])
        #expect(bench.client.subscriptions.entries.isEmpty)
    }

    @Test("clients that want different modes get both")
    func union() {
        var bench = ClientBench()
        bench.start(notify, client: a)
        bench.play("> 12 1300 0100\n< 13")
        bench.start(indicate, client: b)
        bench.play("> 12 1300 0300\n< 13")
        bench.start(unsubscribe, client: a)
        bench.play("> 12 1300 0200\n< 13")
        bench.start(unsubscribe, client: b)
        bench.play("> 12 1300 0000\n< 13")
    }

    @Test("a refused subscription leaves no holder (SPEC CEN-15)")
    func refused() {
        var bench = ClientBench()
        bench.start(notify)
        bench.play("> 12 1300 0100\n< 01 12 1300 03")
        #expect(bench.takeResults() == [.failure(.att(.writeNotPermitted, handle: 0x13))])
        bench.start(unsubscribe)
        #expect(bench.takeResults() == [.failure(.notSubscribed)])
        #expect(bench.client.subscriptions.entries.isEmpty)
    }

    @Test("a client that leaves releases what it holds")
    func leaves() {
        var bench = ClientBench()
        bench.start(notify, client: a)
        bench.play("> 12 1300 0100\n< 13")
        bench.start(.subscribe(0x22, configuration: 0x23, mode: .notifications), client: a)
        bench.play("> 12 2300 0100\n< 13")
        bench.start(.subscribe(0x22, configuration: 0x23, mode: .notifications), client: b)
        _ = bench.takeResults()
        bench.leave(a)
        bench.play("> 12 1300 0000\n< 13")
        #expect(bench.completions.isEmpty)
        #expect(bench.client.subscriptions.entries.map(\.valueHandle) == [0x22])
    }

    @Test("a client that leaves while its subscription is written releases it")
    func leavesEarly() {
        var bench = ClientBench()
        bench.start(notify, client: a)
        _ = bench.takeSent()
        bench.leave(a)
        #expect(bench.takeResults() == [.failure(.cancelled)])
        bench.play(
            """
            < 13
            > 12 1300 0000
            < 13
            """)
        #expect(bench.completions.isEmpty)
        #expect(bench.client.subscriptions.entries.isEmpty)
    }

    @Test("a client that comes while another's subscription is released keeps it alive")
    func takesOver() {
        var bench = ClientBench()
        bench.start(notify, client: a)
        bench.start(notify, client: b)
        bench.leave(a)
        bench.play("> 12 1300 0100\n< 13")
        #expect(bench.takeResults() == [.failure(.cancelled), .success(.subscribed)])
        bench.receive("1b 1200 01")
        #expect(bench.takeEvents() == [notification([1], [b])])
    }

    @Test("an indication is confirmed at once, whatever it says (SPEC 2.3)")
    func confirms() {
        var bench = ClientBench()
        for pdu in ["1d 1200 48", "1d 1200", "1d 9900 01", "1d", "1d 12"] {
            bench.receive(pdu)
            #expect(bench.takeSent() == ["1e"], "\(pdu)")
        }
        bench.start(indicate)
        bench.play("> 12 1300 0200\n< 13")
        #expect(
            bench.takeEvents() == [
                notification([0x48], [.local], isIndication: true), notification([], [.local], isIndication: true),
            ])
    }

    @Test("a request under way and an indication do not disturb each other")
    func indicationDuringRequest() {
        var bench = ClientBench()
        bench.start(.read(3))
        bench.play("> 0a 0300\n< 1d 9900 01\n> 1e\n< 0b 05")
        #expect(bench.takeResults() == [.success(.value([5]))])
    }

    @Test("values that come before the subscription follow it in order (pain 12)")
    func early() {
        var bench = ClientBench()
        bench.receive("1b 1200 01")
        bench.receive("1b 9900 02")
        bench.receive("1d 1200 03")
        bench.start(notify, client: a)
        bench.receive("1b 1200 04")  // the server enables before it answers
        #expect(bench.events.isEmpty)
        bench.receive("13")
        #expect(bench.takeResults() == [.success(.subscribed)])
        #expect(
            bench.takeEvents() == [
                notification([1], [a]), notification([3], [a], isIndication: true), notification([4], [a]),
            ])
        #expect(bench.client.early.values.map(\.handle) == [0x99])
    }

    @Test("early values are bounded, the oldest goes first and is counted (pain 12)")
    func earlyBound() {
        var bench = ClientBench()
        for value in 0..<40 { bench.receive([0x1B, 0x12, 0x00, UInt8(value)]) }
        #expect(bench.client.counters.earlyNotificationsDropped == 8)
        bench.start(notify)
        bench.receive("13")
        let values = bench.takeEvents().compactMap { event -> UInt8? in
            if case .notification(let notification) = event { return notification.value.first }
            return nil
        }
        #expect(values == Array(8..<40))
    }

    @Test("values after the last client has left are not kept for the next one")
    func unclaimed() {
        var bench = ClientBench()
        bench.start(notify)
        bench.receive("13")
        bench.start(unsubscribe)
        bench.receive("1b 1200 01")
        bench.receive("13")
        #expect(bench.client.counters.unclaimedNotifications == 1)
        bench.start(notify)
        bench.receive("13")
        #expect(bench.events.isEmpty)
    }

    @Test("several values in one PDU are several values")
    func multiple() {
        var bench = ClientBench()
        bench.start(notify)
        bench.receive("13")
        bench.receive("23 1200 0100 aa 9900 0000 1200 0000")
        #expect(bench.takeEvents() == [notification([0xAA], [.local]), notification([], [.local])])
        #expect(bench.client.early.values.map(\.handle) == [0x99])
    }

    @Test("notify is preferred where a characteristic offers both (SPEC 2.3, CEN-16)")
    func mode() {
        #expect(CharacteristicProperties([.notify, .indicate]).subscriptionMode == .notifications)
        #expect(CharacteristicProperties([.indicate]).subscriptionMode == .indications)
        #expect(CharacteristicProperties([.read, .write]).subscriptionMode == nil)
    }

    // MARK: Without a configuration

    private let unconfigured = GATTOperation.subscribe(0x12, configuration: .none, mode: .notifications)

    @Test("without a configuration nothing is written, and values arrive until the client unsubscribes")
    func withoutConfiguration() {
        var bench = ClientBench()
        bench.receive("1b 1200 01")
        bench.start(unconfigured, client: a)
        #expect(bench.sent.isEmpty && bench.takeResults() == [.success(.subscribed)])
        #expect(bench.takeEvents() == [notification([1], [a])])
        bench.receive("1b 1200 02")
        bench.receive("1d 1200 03")
        #expect(bench.takeEvents() == [notification([2], [a]), notification([3], [a], isIndication: true)])
        #expect(bench.takeSent() == ["1e"])
        bench.start(unconfigured, client: b)
        bench.receive("1b 1200 04")
        #expect(bench.takeEvents() == [notification([4], [a, b])])
        bench.start(unsubscribe, client: a)
        bench.leave(b)
        #expect(bench.takeResults() == [.success(.subscribed), .success(.unsubscribed)])
        bench.receive("1b 1200 05")
        #expect(bench.events.isEmpty && bench.sent.isEmpty)
        bench.start(unsubscribe, client: a)
        #expect(bench.takeResults() == [.failure(.notSubscribed)])
    }

    @Test("several values without a configuration have nothing in common, and the handle zero is no configuration")
    func severalWithoutConfiguration() {
        var bench = ClientBench()
        bench.start(unconfigured, client: a)
        bench.start(.subscribe(0x22, configuration: .none, mode: .indications), client: b)
        #expect(bench.sent.isEmpty)
        bench.receive("1b 1200 01")
        #expect(bench.takeEvents() == [notification([1], [a])])
        bench.start(.write(0, value: [0, 0]), client: a)
        #expect(bench.takeSent() == ["1200000000"])
        bench.receive("01 12 0000 01")
        bench.start(.unsubscribe(0x22), client: b)
        #expect(bench.sent.isEmpty)
        #expect(bench.takeResults().last == .success(.unsubscribed))
    }

    @Test("a configuration that cannot be written leaves room for a subscription without one, and for the right one")
    func wrongConfiguration() {
        var bench = ClientBench()
        bench.start(notify, client: a)
        bench.play("> 12 1300 0100\n< 01 12 1300 03")
        #expect(bench.takeResults() == [.failure(.att(.writeNotPermitted, handle: 0x13))])
        bench.start(unconfigured, client: a)
        bench.receive("1b 1200 01")
        #expect(bench.takeEvents() == [notification([1], [a])])
        bench.start(.subscribe(0x12, configuration: 0x14, mode: .notifications), client: b)
        bench.play("> 12 1400 0100\n< 13")
        bench.start(unsubscribe, client: a)
        #expect(bench.sent.isEmpty)
        bench.start(unsubscribe, client: b)
        bench.play("> 12 1400 0000\n< 13")
        #expect(bench.takeResults().allSatisfy { (try? $0.get()) != nil })
    }
}
