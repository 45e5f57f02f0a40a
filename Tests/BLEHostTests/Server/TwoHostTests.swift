import BLEPackets
import TestSupport
import Testing

@testable import BLEHost

/// The peripheral role between whole engines, each on its own simulated controller.
@Suite("Peripheral and centrals on the air")
struct TwoHostTests {
    private let heartRate = BluetoothUUID(UInt16(0x180D))
    private let battery = BluetoothUUID(UInt16(0x180F))

    /// A peripheral that advertises a heart rate service.
    private func advertising(_ world: World) throws -> GATTPublishedCharacteristic {
        let service = try #require(
            world.peripheral.publish(.of(0x180D, [.dynamic(0x2A37, [.read, .write, .notify, .indicate])])))
        world.peripheral.submit(
            .radio(.advertise(AdvertiseRequest(.packed(localName: "Pulse", serviceUUIDs: [heartRate])))))
        return try #require(service.characteristics.first)
    }

    @Test("an advertiser is discovered by its service, connected to and explored (SPEC PER-11, ADV-7, MOD-2)")
    func discovered() throws {
        let world = World(hosts: 2)
        let rate = try advertising(world)
        world.central.submit(.radio(.scan(ScanRequest(serviceUUIDs: [heartRate]))))
        func found() -> Discovery? {
            world.central.events.compactMap { if case .discovered(let found) = $0 { found } else { nil } }.last
        }
        #expect(world.run(for: .seconds(2)) { found() != nil })
        let discovery = try #require(found())
        #expect(discovery.address == world.peripheral.address && discovery.isConnectable)
        #expect(hex(discovery.advertisement) == "02010603030d18060950756c7365")
        let link = try #require(world.central.connect(world.peripheral.address))
        let central = try #require(world.peripheral.centrals.first)
        #expect(central.peer == world.central.address && central.role == .peripheral)
        guard
            case .services(let services)? = world.central.gatt(link, .discoverServices(uuids: []))
        else {
            Issue.record("no services")
            return
        }
        #expect(services.map(\.uuid.shortValue) == [0x1800, 0x1801, 0x180D])
        // Connected: another central can discover it all the same, as it goes on advertising.
        #expect(
            world.peripheral.events.last { if case .advertisingChanged = $0 { true } else { false } }
                == .advertisingChanged(isAdvertising: true))
        let read = world.central.submit(.link(link, .gatt(.read(rate.valueHandle))))
        #expect(world.run(for: .seconds(2)) { world.peripheral.serverEvents.contains { $0.readRequest != nil } })
        let question = try #require(world.peripheral.serverEvents.compactMap(\.readRequest).first)
        world.peripheral.submit(.server(.respond(question.id, .value([72]))))
        #expect(world.run(for: .seconds(2)) { !world.central.results(of: read).isEmpty })
        #expect(world.central.results(of: read) == [.success(.gatt(.value([72])))])
    }

    @Test("a value that the app gives after 29 s is read, after 30 s it is too late (SPEC 2.4)")
    func answersLate() throws {
        let world = World(hosts: 2)
        let rate = try advertising(world)
        let link = try #require(world.central.connect(world.peripheral.address))
        _ = world.central.gatt(link, .discoverServices(uuids: []))
        let read = world.central.submit(.link(link, .gatt(.read(rate.valueHandle))))
        #expect(world.run(for: .seconds(2)) { world.peripheral.serverEvents.contains { $0.readRequest != nil } })
        let question = try #require(world.peripheral.serverEvents.compactMap(\.readRequest).first)
        world.run(for: .seconds(29))
        #expect(world.central.results(of: read).isEmpty)
        world.peripheral.submit(.server(.respond(question.id, .value([72]))))
        #expect(world.run(for: .milliseconds(500)) { !world.central.results(of: read).isEmpty })
        #expect(world.central.results(of: read) == [.success(.gatt(.value([72])))])
        let again = world.central.submit(.link(link, .gatt(.read(rate.valueHandle))))
        world.run(for: .seconds(31))
        #expect(world.central.results(of: again) == [.failure(.gatt(.transactionTimeout))])
    }

    @Test("the database is one for the device, and each app is asked for what it published (SPEC PER-24)")
    func oneDatabase() throws {
        let world = World(hosts: 2)
        _ = try advertising(world)
        let other = ClientID(rawValue: 7)
        let level = try #require(
            world.peripheral.publish(.of(0x180F, [.dynamic(0x2A19, [.read])]), from: other)?.characteristics.first)
        let link = try #require(world.central.connect(world.peripheral.address))
        let found = world.central.gatt(link, .discoverServices(uuids: [heartRate]))
        let foundToo = world.central.gatt(link, .discoverServices(uuids: [battery]))
        for result in [found, foundToo] {
            guard case .services(let services)? = result else {
                Issue.record("no services")
                continue
            }
            #expect(services.count == 1)
        }
        world.central.submit(.link(link, .gatt(.read(level.valueHandle))))
        #expect(world.run(for: .seconds(2)) { world.peripheral.serverEvents.contains { $0.readRequest != nil } })
        #expect(world.peripheral.serverEvents.compactMap(\.readRequest).map(\.owner) == [other])
    }

    @Test("notifications and indications reach the subscriber in order and none is lost (SPEC PER-20 to PER-22)")
    func updates() throws {
        let world = World(hosts: 2)
        let rate = try advertising(world)
        let link = try #require(world.central.connect(world.peripheral.address))
        let mode = GATTOperation.subscribe(rate.valueHandle, configuration: rate.configuration, mode: .notifications)
        #expect(world.central.gatt(link, mode) == .subscribed)
        var next = 0
        var ready = 0
        while next < 200 {
            let update = world.peripheral.submit(
                .server(.updateValue(rate.valueHandle, value: [UInt8(next)], links: nil)))
            if world.peripheral.results(of: update) == [.success(.accepted(true))] {
                next += 1
                continue
            }
            #expect(
                world.run(for: .seconds(5)) {
                    world.peripheral.serverEvents.count { $0 == .readyToUpdate } == ready + 1
                })
            ready += 1
        }
        func values() -> [UInt8] {
            world.central.events.compactMap {
                guard case .gatt(_, .notification(let notification)) = $0 else { return nil }
                return notification.value.first
            }
        }
        #expect(world.run(for: .seconds(10)) { values().count == 200 })
        #expect(values() == (0..<200).map { UInt8($0) })
        #expect(ready > 0)
    }

    @Test("prepared writes of two centrals at the same time stay apart (SPEC PER-17 to PER-19, pain 17)")
    func twoCentrals() throws {
        let world = World(hosts: 3)
        let rate = try advertising(world)
        let links = try world.hosts[1...].map { try #require($0.connect(world.peripheral.address)) }
        let values = [Array(repeating: UInt8(0xA1), count: 500), Array(repeating: UInt8(0xB2), count: 300)]
        let operations = (0..<2).map {
            world.hosts[$0 + 1].submit(.link(links[$0], .gatt(.writeLong(rate.valueHandle, value: values[$0]))))
        }
        func questions() -> [GATTWriteRequest] { world.peripheral.serverEvents.compactMap(\.writeRequest) }
        #expect(world.run(for: .seconds(10)) { questions().count == 2 })
        for question in questions() {
            let whole = question.writes.reduce(into: [UInt8]()) { $0 += $1.value }
            #expect(values.contains(whole))
            world.peripheral.submit(.server(.respond(question.id, .success)))
        }
        #expect(Set(questions().map(\.link)).count == 2)
        #expect(
            world.run(for: .seconds(5)) {
                (0..<2).allSatisfy { !world.hosts[$0 + 1].results(of: operations[$0]).isEmpty }
            })
        for index in 0..<2 {
            #expect(world.hosts[index + 1].results(of: operations[index]) == [.success(.gatt(.written))])
        }
    }

    @Test("both roles on one link at once: each reads the other while it serves it")
    func bothRoles() throws {
        let world = World(hosts: 2)
        let rate = try advertising(world)
        let link = try #require(world.central.connect(world.peripheral.address))
        let back = world.peripheral.result(of: .radio(.connect(ConnectRequest(peer: world.central.address))))
        guard case .success(.connected(let reverse))? = back else {
            Issue.record("the central's link is not shared: \(String(describing: back))")
            return
        }
        #expect(world.peripheral.centrals.map(\.id) == [reverse])
        let subscribe = GATTOperation.subscribe(rate.valueHandle, configuration: rate.configuration, mode: .indications)
        let ours = world.peripheral.submit(.link(reverse, .gatt(.discoverServices(uuids: []))))
        let theirs = world.central.submit(.link(link, .gatt(subscribe)))
        #expect(
            world.run(for: .seconds(5)) {
                !world.peripheral.results(of: ours).isEmpty && !world.central.results(of: theirs).isEmpty
            })
        #expect(world.central.results(of: theirs) == [.success(.gatt(.subscribed))])
        guard case .success(.gatt(.services(let services)))? = world.peripheral.results(of: ours).first else {
            Issue.record("the central serves nothing")
            return
        }
        #expect(services.map(\.uuid.shortValue) == [0x1800, 0x1801])
        // An indication of ours and a request of ours cross an answer of theirs.
        world.peripheral.submit(.server(.updateValue(rate.valueHandle, value: [1], links: nil)))
        let name = world.peripheral.gatt(reverse, .readUsingUUID(BluetoothUUID(UInt16(0x2A00)), .all))
        guard case .attributeValues(let names)? = name else {
            Issue.record("no name: \(String(describing: name))")
            return
        }
        #expect(names.map(\.value) == [Array("Jelling".utf8)])
        #expect(
            world.run(for: .seconds(5)) {
                world.peripheral.serverEvents.contains(.confirmed(reverse, rate.valueHandle))
            })
    }

    // MARK: Connection latency

    @Test(
        "a hint at the latency changes the central's link, by the link layer's procedure or by L2CAP's request (SPEC 2.4)",
        arguments: ConnectionLatency.allCases, [true, false])
    func latency(_ latency: ConnectionLatency, knowsProcedure: Bool) throws {
        let world = World(hosts: 2) { configuration, number in
            if !knowsProcedure, number == 0 { configuration.features.remove(.connectionParametersRequestProcedure) }
        }
        _ = try advertising(world)
        let link = try #require(world.central.connect(world.peripheral.address))
        let ours = try #require(world.peripheral.centrals.first)
        world.run(for: .seconds(1))
        let wish = latency.parameters
        guard
            case .success(.connectionParameters(let set))? = world.peripheral.result(
                of: .link(ours.id, .procedure(.updateParameters(wish))))
        else {
            Issue.record("not granted")
            return
        }
        #expect(wish.interval.contains(set.interval))
        #expect(set.peripheralLatency == wish.peripheralLatency && set.supervisionTimeout == wish.supervisionTimeout)
        #expect(world.central.events.contains(.connectionParametersChanged(link, set)))
    }

    @Test(
        "no parameter request gives an Apple device a reason to refuse: the rules of all its guidelines since 2014 (SPEC 4)"
    )
    func latencyRules() {
        var silences: [Int] = []
        for latency in ConnectionLatency.allCases {
            let wish = latency.parameters
            #expect(wish.isValid)
            let minimum = Int(wish.interval.lowerBound.rawValue) * 1250
            let maximum = Int(wish.interval.upperBound.rawValue) * 1250
            let timeout = Int(wish.supervisionTimeout.rawValue) * 10_000
            let silence = maximum * (Int(wish.peripheralLatency) + 1)
            #expect(wish.peripheralLatency <= 30)
            #expect(minimum >= 15_000 && minimum % 15_000 == 0 && minimum + 15_000 <= maximum)
            #expect(silence <= 2_000_000 && silence * 3 < timeout)
            #expect(timeout == 6_000_000, "the end of one rule's range and the beginning of the other's")
            silences.append(silence)
        }
        #expect(silences == silences.sorted() && Set(silences).count == 3)
        #expect(ConnectionLatency.allCases.map(\.rawValue) == [0, 1, 2])
    }

    @Test("a hint for a link that is gone fails, and one that the central refuses is told (SPEC 2.4)")
    func latencyRefused() throws {
        let rig = HostRig()
        rig.start()
        rig.receive(
            LEConnectionComplete(
                connectionHandle: ConnectionHandle(rawValue: 0x40), role: .peripheral, peerAddress: HostRig.peer,
                interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(5000)))
        let link = try #require(
            rig.events.compactMap { if case .centralConnected(let information) = $0 { information.id } else { nil } }
                .first)
        rig.forget()
        let operation = rig.submit(.link(link, .procedure(.updateParameters(ConnectionLatency.high.parameters))))
        // Code 0x12: 285 ms, 300 ms, latency 4, 6 s.
        let request = try #require(rig.data.last)
        #expect(Array(request.dropFirst(6)) == [5, 0, 0x12, 1, 8, 0, 228, 0, 240, 0, 4, 0, 88, 2])
        rig.receive(frame: [0x13, 1, 2, 0, 1, 0], channel: 5, handle: 0x40)
        #expect(rig.results(of: operation) == [.failure(.rejectedByPeer)])
        rig.receive(
            DisconnectionComplete(connectionHandle: ConnectionHandle(rawValue: 0x40), reason: .connectionTimeout))
        let late = rig.submit(.link(link, .procedure(.updateParameters(ConnectionLatency.low.parameters))))
        #expect(rig.results(of: late) == [.failure(.notConnected)])
    }

    @Test("the late answer to a request for parameters does not end the next one (Core 5.4, Vol 3, Part A, 4.21)")
    func lateParameterResponse() throws {
        let rig = HostRig()
        rig.start()
        rig.receive(
            LEConnectionComplete(
                connectionHandle: ConnectionHandle(rawValue: 0x40), role: .peripheral, peerAddress: HostRig.peer,
                interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(5000)))
        let link = try #require(
            rig.events.compactMap { if case .centralConnected(let information) = $0 { information.id } else { nil } }
                .first)
        let unanswered = rig.submit(.link(link, .procedure(.updateParameters(ConnectionLatency.high.parameters))))
        rig.advance(by: .seconds(31))
        #expect(rig.results(of: unanswered).count == 1)
        let operation = rig.submit(.link(link, .procedure(.updateParameters(ConnectionLatency.high.parameters))))
        #expect(rig.data.last?.dropFirst(6).prefix(4) == [5, 0, 0x12, 2])
        rig.receive(frame: [0x13, 1, 2, 0, 1, 0], channel: 5, handle: 0x40)
        #expect(rig.results(of: operation).isEmpty)
        #expect(rig.counters.strayPackets == 1)
        rig.receive(frame: [0x13, 2, 2, 0, 1, 0], channel: 5, handle: 0x40)
        #expect(rig.results(of: operation) == [.failure(.rejectedByPeer)])
    }

    @Test("responses of the signalling channel that answer no request are counted and change nothing")
    func straySignalling() throws {
        let rig = HostRig()
        rig.start()
        rig.receive(
            LEConnectionComplete(
                connectionHandle: ConnectionHandle(rawValue: 0x40), role: .peripheral, peerAddress: HostRig.peer,
                interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(5000)))
        let link = try #require(
            rig.events.compactMap { if case .centralConnected(let information) = $0 { information.id } else { nil } }
                .first)
        let operation = rig.submit(.link(link, .procedure(.updateParameters(ConnectionLatency.high.parameters))))
        let sent = rig.data.count
        // A Command Reject, responses to requests for channels, and one for their sizes; none has our identifier.
        rig.receive(frame: [0x01, 7, 2, 0, 0, 0], channel: 5, handle: 0x40)
        rig.receive(frame: [0x15, 7, 10, 0, 0x40, 0, 23, 0, 23, 0, 1, 0, 0, 0], channel: 5, handle: 0x40)
        rig.receive(frame: [0x18, 7, 8, 0, 64, 0, 64, 0, 1, 0, 2, 0], channel: 5, handle: 0x40)
        rig.receive(frame: [0x1A, 7, 2, 0, 0, 0], channel: 5, handle: 0x40)
        #expect(rig.counters.strayPackets == 4)
        #expect(rig.data.count == sent && rig.results(of: operation).isEmpty)
        rig.receive(frame: [0x13, 1, 2, 0, 1, 0], channel: 5, handle: 0x40)
        #expect(rig.results(of: operation) == [.failure(.rejectedByPeer)])
    }

    @Test("the answer to a request for parameters counts whatever its identifier is (Core 5.4, Vol 3, Part A, 4.21)")
    func parametersAnsweredWithAnotherIdentifier() throws {
        let rig = HostRig()
        rig.start()
        rig.receive(
            LEConnectionComplete(
                connectionHandle: ConnectionHandle(rawValue: 0x40), role: .peripheral, peerAddress: HostRig.peer,
                interval: .milliseconds(30), latency: 0, supervisionTimeout: .milliseconds(5000)))
        let link = try #require(
            rig.events.compactMap { if case .centralConnected(let information) = $0 { information.id } else { nil } }
                .first)
        let operation = rig.submit(.link(link, .procedure(.updateParameters(ConnectionLatency.high.parameters))))
        rig.receive(frame: [0x13, 9, 2, 0, 1, 0], channel: 5, handle: 0x40)
        #expect(rig.results(of: operation) == [.failure(.rejectedByPeer)])
    }
}
