import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

@Suite("L2CAP channels of apps")
struct ChannelTests {
    let world = World()

    private func received(_ manager: TestManager) -> [UInt8] {
        manager.events.flatMap { event -> [UInt8] in
            if case .channel(_, .received(let octets)) = event { octets } else { [] }
        }
    }

    private func room(_ manager: TestManager) -> Int {
        manager.events.reduce(0) { sum, event in
            if case .channel(_, .canSend(let count)) = event { sum + count } else { sum }
        }
    }

    @Test(
        "a published channel opens, carries octets both ways within the app's limits, and closes when unpublished (SPEC 2.4)"
    )
    func published() throws {
        let station = AppStation(world)
        let manager = TestApp(station).peripheral()
        manager.ask(.publishChannel(isEncrypted: false))
        guard case .channelPublished(let psm, nil)? = manager.events.last else {
            Issue.record("nothing was published")
            return
        }
        #expect((0x80...0xFF).contains(psm))
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door")))
        let remote = HostStation.remote(in: world)
        let link = try #require(remote.connect(Profiles.stationAddress))
        let settings = ChannelSettings(maximumTransmissionUnit: 100, credits: 4)
        guard case .success(.channel(let channel))? = remote.result(of: .channel(.open(link, spsm: psm, settings)))
        else {
            Issue.record("the channel was not opened")
            return
        }
        var accepted: L2CAPChannelID?
        for case .channelAccepted(let id, psm, _) in manager.events { accepted = id }
        let id = try #require(accepted)

        // As many units as there are credits arrive; the next ones wait until the app has taken some.
        let unit = [UInt8](repeating: 7, count: 200)
        for _ in 0..<20 { remote.submit(.channel(.send(channel.id, unit))) }
        world.run(for: .seconds(5))
        let first = received(manager).count
        #expect(first > 0 && first < 4000)
        manager.ask(.channel(id, .received(count: first)))
        world.run(for: .seconds(5))
        #expect(received(manager).count > first)

        // The other way round, in parts that the remote accepts.
        let before = room(manager)
        #expect(before == 400)
        let octets = (0..<250).map { UInt8($0) }
        manager.ask(.channel(id, .send(octets)))
        world.run(for: .seconds(5))
        let units = remote.events.compactMap { event -> [UInt8]? in
            if case .channel(.received(channel.id, let octets)) = event { octets } else { nil }
        }
        #expect(units.map(\.count) == [100, 100, 50])
        #expect(units.flatMap { $0 } == octets)
        #expect(room(manager) == before + 250)

        manager.ask(.unpublishChannel(psm: psm))
        world.run(for: .seconds(2))
        #expect(manager.events.contains(.channelUnpublished(psm: psm, nil)))
        #expect(manager.events.last == .channel(id, .closed(nil)))
        #expect(remote.events.contains(.channel(.closed(channel.id, .closedByPeer))))
        guard case .failure? = remote.result(of: .channel(.open(link, spsm: psm, settings))) else {
            Issue.record("what is unpublished cannot be opened")
            return
        }
    }

    @Test(
        "a central opens a channel of its peripheral; it closes with the link, and does not wake a suspended app (SPEC 2.3, section 4)"
    )
    func opened() throws {
        let station = AppStation(world)
        let remote = HostStation.remote(in: world)
        guard
            case .success(.listening(let psm))? = remote.result(
                of: .channel(.listen(spsm: nil, ChannelSettings(), requiresEncryption: false)))
        else {
            Issue.record("the remote does not listen")
            return
        }
        remote.submit(
            .radio(.advertise(AdvertiseRequest(.packed(localName: "Remote", serviceUUIDs: [Profiles.lock])))))
        let app = TestApp(station, modes: .central)
        let central = app.central()
        let peer = try #require(central.discover([Profiles.lock]))
        #expect(central.connect(peer))
        central.ask(.openChannel(psm: 0x00F0), of: peer)
        central.run(.seconds(2))
        #expect(
            central.peripheralEvents.contains(
                .channelOpened(nil, psm: 0x00F0, .coreBluetooth(.operationNotSupported))))
        central.ask(.openChannel(psm: psm), of: peer)
        central.run(.seconds(2))
        guard case .channelOpened(let id?, psm, nil)? = central.peripheralEvents.last else {
            Issue.record("the channel was not opened")
            return
        }
        var channel: ChannelInformation?
        for case .channel(.opened(let information, _)) in remote.events { channel = information }
        app.leave()
        remote.submit(.channel(.send(try #require(channel).id, [1, 2, 3])))
        central.run(.seconds(2))
        #expect(app.wakeCount == 0)
        app.enterForeground()
        #expect(received(central) == [1, 2, 3])
        central.ask(.cancelConnection(peer))
        central.run(.seconds(2))
        #expect(central.events.contains { if case .channel(id, .closed) = $0 { true } else { false } })
        #expect(central.disconnections == [nil])
    }

    @Test("the hint at the latency asks the central for other parameters (SPEC 2.4)")
    func latency() throws {
        let station = AppStation(world)
        let manager = TestApp(station).peripheral()
        #expect(manager.add(Profiles.published) == nil)
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door")))
        let remote = HostStation.remote(in: world)
        let link = try #require(remote.connect(Profiles.stationAddress))
        let list = remote.characteristics(link, Profiles.lock)
        #expect(remote.subscribe(link, list[0]))
        var central: CentralDescription?
        for case .subscribed(let description, _) in manager.events { central = description }
        manager.ask(.setConnectionLatency(.high, central: try #require(central).identifier))
        world.run(for: .seconds(5))
        var intervals: [ConnectionInterval] = []
        for case .connectionParametersChanged(link, let parameters) in remote.events {
            intervals.append(parameters.interval)
        }
        #expect(intervals.last.map { $0 >= .milliseconds(285) && $0 <= .milliseconds(300) } == true)
    }

    @Test("an app that sends more than may wait loses the channel, and no octet in its midst; another app goes on")
    func tooMuchWaits() throws {
        var settings = LifecycleSettings()
        settings.waitingOctetsOfApp = 5000
        let station = AppStation(world, settings: settings)
        let manager = TestApp(station).peripheral()
        manager.ask(.publishChannel(isEncrypted: false))
        guard case .channelPublished(let psm, nil)? = manager.events.last else {
            Issue.record("nothing was published")
            return
        }
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door")))
        let remote = HostStation.remote(in: world)
        let link = try #require(remote.connect(Profiles.stationAddress))
        let terms = ChannelSettings(maximumTransmissionUnit: 100, credits: 4)
        // The remote consumes nothing, so that what is sent waits for credits.
        guard case .success(.channel(let channel))? = remote.result(of: .channel(.open(link, spsm: psm, terms)))
        else {
            Issue.record("the channel was not opened")
            return
        }
        var accepted: L2CAPChannelID?
        for case .channelAccepted(let id, _, _) in manager.events { accepted = id }
        let id = try #require(accepted)
        var sent = 0
        func isClosed() -> Bool {
            manager.events.contains { $0 == .channel(id, .closed(.coreBluetooth(.outOfSpace))) }
        }
        while !isClosed(), sent < 100 {
            manager.ask(.channel(id, .send([UInt8](repeating: UInt8(sent), count: 100))))
            sent += 1
        }
        #expect((50...60).contains(sent), "\(sent)")
        #expect(station.logs.contains { if case .appLimitReached = $0 { true } else { false } })
        world.run(for: .seconds(60))
        let got = remote.events.compactMap { event -> [UInt8]? in
            if case .channel(.received(channel.id, let octets)) = event { octets } else { nil }
        }
        #expect(got.map { Int($0[0]) } == Array(0..<got.count))
    }
}
