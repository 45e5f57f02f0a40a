import BLEPackets
import TestSupport
import Testing

@testable import BLEHost

/// What the bond of a client keeps of its configuration: whose word counts, and how often it is kept.
@Suite("Client records of bonds")
struct ClientRecordTests {
    /// Two hosts that are bonded; the central has subscribed to characteristic 4.
    private func bonded() throws -> TwoHosts {
        let two = TwoHosts()
        two.connect()
        guard case .success(.paired)? = two.pair() else {
            Issue.record("not paired")
            return two
        }
        #expect(two.gatt(.write(two.configuration(4), value: [1, 0])) == .success(.gatt(.written)))
        two.run(for: .seconds(3))
        return two
    }

    private func bondChanges(_ two: TwoHosts) -> Int {
        two.engine(.peripheral).events.count { if case .bondChanged = $0 { true } else { false } }
    }

    private func subscriptions(_ two: TwoHosts) -> [SubscriptionModes] {
        two.engine(.peripheral).events.compactMap {
            switch $0 {
            case .server(.subscribed(let subscription)), .server(.unsubscribed(let subscription)): subscription.modes
            default: nil
            }
        }
    }

    @Test("a stranger with a bonded address, who has no key, changes nothing that the bond keeps (pain 12)")
    func stranger() throws {
        let first = try bonded()
        let bonds = first.bonds(.peripheral)
        #expect(bonds.first?.clientRecord?.configurations.isEmpty == false)
        // The central has lost its half of the bond, as a stranger never had it.
        let later = TwoHosts(bonds: [.peripheral: bonds])
        later.connect()
        for modes: UInt8 in [0, 1, 0] {
            #expect(
                later.gatt(.write(later.configuration(4), value: [modes, 0])) == .success(.gatt(.written)))
        }
        later.disconnect()
        #expect(later.bonds(.peripheral) == bonds && bondChanges(later) == 0)
        // The bonded device finds what it configured.
        later.forget()
        later.submit(.security(.restoreBonds(first.bonds(.central))), by: .central)
        later.connect()
        later.run(for: .seconds(1))
        #expect(subscriptions(later) == [.notifications])
    }

    @Test("subscriptions of a stranger with a bonded address end with its link (SPEC PER-20)")
    func subscriptionOfStranger() throws {
        let two = TwoHosts()
        two.connect()
        guard case .success(.paired)? = two.pair() else {
            Issue.record("not paired")
            return
        }
        let later = TwoHosts(bonds: [.peripheral: two.bonds(.peripheral)])
        later.connect()
        #expect(later.gatt(.write(later.configuration(4), value: [1, 0])) == .success(.gatt(.written)))
        later.disconnect()
        #expect(subscriptions(later) == [.notifications, []])
    }

    @Test(
        "a client that keeps changing its configuration changes its bond once a second, and its last configuration is kept"
    )
    func manyWrites() throws {
        let two = try bonded()
        let before = bondChanges(two)
        let start = two.now
        for number in 0..<41 {
            let value: [UInt8] = [UInt8(number % 2), 0]
            #expect(two.gatt(.write(two.configuration(4), value: value)) == .success(.gatt(.written)))
        }
        let seconds = Int((two.now.microseconds - start.microseconds) / 1_000_000)
        #expect((1...seconds + 1).contains(bondChanges(two) - before))
        two.run(for: .seconds(2))
        #expect((1...seconds + 2).contains(bondChanges(two) - before))
        #expect(two.bonds(.peripheral).first?.clientRecord?.configurations.isEmpty == true)
    }

    @Test("what a bonded client configured last is kept when its link ends (pain 12)")
    func linkEnd() throws {
        let two = try bonded()
        #expect(two.gatt(.write(two.configuration(4), value: [0, 0])) == .success(.gatt(.written)))
        #expect(two.gatt(.write(two.configuration(4), value: [1, 0])) == .success(.gatt(.written)))
        two.disconnect()
        #expect(
            two.bonds(.peripheral).first?.clientRecord?.configurations.map(\.handle) == [two.configuration(4)])
    }

    @Test("what a bonded client configured before it encrypted the link is kept once it has (pain 12)")
    func beforeEncryption() throws {
        let first = try bonded()
        let two = TwoHosts(bonds: [.peripheral: first.bonds(.peripheral)])
        two.connect()
        #expect(two.gatt(.write(two.configuration(4), value: [0, 0])) == .success(.gatt(.written)))
        #expect(bondChanges(two) == 0)
        two.submit(.security(.restoreBonds(first.bonds(.central))), by: .central)
        let link = try #require(two.link(.central))
        #expect(two.result(of: .security(.encrypt(link)), by: .central) == .success(.done))
        two.run(for: .seconds(1))
        #expect(bondChanges(two) == 1)
        #expect(two.bonds(.peripheral).first?.clientRecord?.configurations.isEmpty == true)
    }

    @Test("a service published after its subscriber reconnected has that subscriber at once (pain 12)")
    func publishedLater() throws {
        let first = try bonded()
        let two = TwoHosts(bonds: [.central: first.bonds(.central), .peripheral: first.bonds(.peripheral)])
        let handle = try #require(two.published?.range.first)
        #expect(two.result(of: .server(.removeService(handle)), by: .peripheral) == .success(.done))
        two.connect()
        two.run(for: .seconds(3))
        #expect(subscriptions(two).isEmpty)
        two.publish()
        #expect(two.published?.range.first == handle && subscriptions(two) == [.notifications])
        let order = two.engine(.peripheral).events.compactMap {
            switch $0 {
            case .completed(_, .success(.published)): "published"
            case .server(.subscribed): "subscribed"
            default: nil
            }
        }
        #expect(order.suffix(2) == ["published", "subscribed"])
        #expect(
            two.bonds(.peripheral).first?.clientRecord?.configurations
                == first.bonds(.peripheral).first?.clientRecord?.configurations)
    }
}
