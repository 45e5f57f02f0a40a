import BLEPackets
import BLESimulator
import Testing

@testable import BLEHost

/// Enhanced bearers between two engines.
@Suite("Hosts with enhanced bearers")
struct HostBearerTests {
    /// Two hosts, connected and paired.
    private func paired(
        central: EnhancedBearerSettings? = EnhancedBearerSettings(opened: 3),
        peripheral: EnhancedBearerSettings? = EnhancedBearerSettings()
    ) throws -> TwoHosts {
        var settings = TwoHosts.Settings()
        settings.bearers[.central] = central
        settings.bearers[.peripheral] = peripheral
        let hosts = TwoHosts(settings)
        #expect(hosts.connect())
        guard case .success? = hosts.pair() else {
            Issue.record("not paired")
            return hosts
        }
        hosts.run(for: .seconds(3))
        return hosts
    }

    private func opened(_ hosts: TwoHosts) -> [UInt64] {
        TwoHosts.Side.allCases.map { hosts.engine($0).counters.enhancedBearers }
    }

    /// The channel identifiers of the L2CAP frames that a side sends from now on.
    private func watchFrames(_ hosts: TwoHosts, _ side: TwoHosts.Side) -> Frames {
        let frames = Frames()
        let before = hosts.change
        hosts.change = { from, packet in
            if from == side, packet.first == 2, packet.count >= 9, packet[2] & 0x30 != 0x10 {
                frames.channels.append(UInt16(packet[7]) | UInt16(packet[8]) << 8)
            }
            return before(from, packet)
        }
        return frames
    }

    private final class Frames { var channels: [UInt16] = [] }

    @Test("bearers are opened once the link is encrypted, and carry the operations of both sides")
    func opens() throws {
        let hosts = try paired()
        #expect(opened(hosts) == [3, 3])
        let frames = watchFrames(hosts, .central)
        let reads = [1, 2].map { number in
            hosts.submit(.link(hosts.link(.central)!, .gatt(.read(hosts.handle(number)))), by: .central)
        }
        hosts.run(for: .seconds(2))
        #expect(
            reads.map { hosts.result(of: $0, .central) } == [
                .success(.gatt(.value([1]))), .success(.gatt(.value([2]))),
            ])
        #expect(Set(frames.channels.filter { $0 >= 0x40 }).count == 2)
        // The other way: the peripheral's client uses the same bearers.
        let back = watchFrames(hosts, .peripheral)
        let link = try #require(hosts.link(.peripheral))
        #expect(
            hosts.result(of: .link(link, .gatt(.discoverServices(uuids: []))), by: .peripheral)?.isSuccess == true)
        #expect(back.channels.contains { $0 >= 0x40 })
    }

    @Test("notifications come over the bearer of the subscription, in order, and every one once")
    func notifies() throws {
        let hosts = try paired()
        let (value, configuration) = (hosts.handle(4), hosts.configuration(4))
        #expect(hosts.gatt(.subscribe(value, configuration: configuration, mode: .notifications))?.isSuccess == true)
        let frames = watchFrames(hosts, .peripheral)
        var sent = 0
        while sent < 200 {
            let update = HostCommand.server(.updateValue(value, value: [UInt8(sent)], links: nil))
            if case .success(.accepted(true))? = hosts.result(of: update, by: .peripheral) {
                sent += 1
            } else {
                hosts.run(for: .seconds(1))
            }
        }
        hosts.run(for: .seconds(5))
        let values = hosts.engine(.central).events.compactMap { event -> UInt8? in
            if case .gatt(_, .notification(let notification)) = event { notification.value.first } else { nil }
        }
        #expect(values == (0..<200).map { UInt8($0) })
        #expect(frames.channels.allSatisfy { $0 != 4 })
    }

    @Test("without bearers on either side everything goes over the unenhanced one")
    func fallsBack() throws {
        for (central, peripheral) in [
            (EnhancedBearerSettings(opened: 5), nil), (nil, EnhancedBearerSettings(opened: 5)),
            (EnhancedBearerSettings(), EnhancedBearerSettings()),
        ] {
            let hosts = try paired(central: central, peripheral: peripheral)
            #expect(opened(hosts) == [0, 0])
            #expect(hosts.read(2) == .success(.gatt(.value([2]))))
        }
    }

    @Test("both sides open at the same time: no more than five, and both work (Part G, 5.4)")
    func collides() throws {
        for count in [2, 3, 5] {
            let hosts = try paired(
                central: EnhancedBearerSettings(opened: count), peripheral: EnhancedBearerSettings(opened: count))
            let total = opened(hosts)
            #expect(total[0] == total[1] && total[0] >= 2 && total[0] <= 5, "\(count): \(total)")
            #expect(hosts.read(2) == .success(.gatt(.value([2]))))
        }
    }

    @Test("a peer may not open bearers on a link that is not encrypted, nor by the other form")
    func refuses() throws {
        var configuration = HostConfiguration(hasCryptoProvider: true)
        configuration.enhancedBearers = EnhancedBearerSettings()
        let rig = HostRig(configuration: configuration)
        rig.start()
        _ = rig.connect()
        func answer(_ request: [UInt8]) -> [UInt8]? {
            rig.forget()
            rig.receive(frame: request, channel: 5, handle: 0x40)
            return rig.data.last.map { Array($0.dropFirst(8)) }
        }
        #expect(answer([0x17, 9, 10, 0, 0x27, 0, 64, 0, 64, 0, 5, 0, 0x41, 0])?[10] == 5)
        #expect(answer([0x14, 9, 10, 0, 0x27, 0, 0x42, 0, 64, 0, 64, 0, 5, 0])?.suffix(2) == [5, 0])
    }

    @Test("what waits while the key is being changed is bounded, and a peer within its credits stays below")
    func flood() {
        var bearers = EnhancedBearers()
        bearers.settings = EnhancedBearerSettings()
        for _ in 0..<5 * 8 { bearers.receive(.received(number: 1, [])) }
        #expect(!bearers.isFlooded)
        for _ in 0..<100 { bearers.receive(.closed(number: 1, .closedByPeer)) }
        #expect(bearers.isFlooded)
    }

    @Test("the end of the link ends what ran on all bearers, once")
    func linkEnds() throws {
        let hosts = try paired()
        let link = try #require(hosts.link(.central))
        let reads = (1...7).map { hosts.submit(.link(link, .gatt(.read(hosts.handle($0)))), by: .central) }
        hosts.disconnect()
        for read in reads { #expect(hosts.engine(.central).results(of: read).count == 1) }
    }

    @Test("a bonded peer has bearers again after it reconnects")
    func reconnects() throws {
        let hosts = try paired()
        hosts.disconnect()
        hosts.forget()
        #expect(hosts.connect())
        let link = try #require(hosts.link(.central))
        #expect(hosts.result(of: .security(.encrypt(link)), by: .central)?.isSuccess == true)
        hosts.run(for: .seconds(3))
        #expect(opened(hosts) == [6, 6])
        #expect(hosts.read(2) == .success(.gatt(.value([2]))))
    }

    @Test("a bonded peer that subscribed on a bearer gets values after it reconnects", arguments: [true, false])
    func subscriptionsStay(hasBearers: Bool) throws {
        let settings = hasBearers ? EnhancedBearerSettings(opened: 3) : nil
        let hosts = try paired(central: settings, peripheral: settings)
        let (value, configuration) = (hosts.handle(4), hosts.configuration(4))
        // Written by hand: the client takes back what it subscribed to before it ends the link.
        #expect(hosts.gatt(.write(configuration, value: [1, 0])) == .success(.gatt(.written)))
        hosts.disconnect()
        hosts.forget()
        #expect(hosts.connect())
        let link = try #require(hosts.link(.central))
        #expect(hosts.result(of: .security(.encrypt(link)), by: .central)?.isSuccess == true)
        hosts.run(for: .seconds(3))
        let frames = watchFrames(hosts, .peripheral)
        let update = HostCommand.server(.updateValue(value, value: [9], links: nil))
        #expect(hosts.result(of: update, by: .peripheral) == .success(.accepted(true)))
        hosts.run(for: .seconds(1))
        #expect(frames.channels.count == 1)
        // The client has not subscribed again yet: the value waits for that.
        #expect(hosts.gatt(.subscribe(value, configuration: configuration, mode: .notifications))?.isSuccess == true)
        hosts.run(for: .seconds(1))
        let values = hosts.engine(.central).events.compactMap { event -> [UInt8]? in
            if case .gatt(_, .notification(let notification)) = event { notification.value } else { nil }
        }
        #expect(values == [[9]])
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
