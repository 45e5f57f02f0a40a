import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEHost

@Suite("Host on the simulator")
struct SimulatedHostTests {
    private static let address = DeviceAddress(value: 0xC0DE_0000_0010, kind: .random)

    @Test(
        "scan, connect, discover, read and disconnect on legacy and extended controllers",
        arguments: [
            SimulatedControllerConfiguration.core40(), SimulatedControllerConfiguration.core42(),
            SimulatedControllerConfiguration(),
        ])
    func walk(configuration: SimulatedControllerConfiguration) throws {
        let rig = HostStation(World(.demoWorld()), controller: configuration)
        rig.start()
        let scan = rig.submit(.radio(.scan(ScanRequest(name: "Jelling Heart"))))
        var found: Discovery?
        rig.run(for: .seconds(5)) {
            for case .discovered(let discovery) in rig.events { found = discovery }
            return found != nil
        }
        rig.submit(.cancel(scan))
        let peer = try #require(found?.address)
        let link = try #require(rig.connect(peer))
        guard case .services(let services)? = rig.gatt(link, .discoverServices(uuids: [])) else {
            Issue.record("no services")
            return
        }
        #expect(services.map(\.uuid).contains(BluetoothUUID(UInt16(0x180D))))
        let battery = try #require(services.first { $0.uuid == BluetoothUUID(UInt16(0x180F)) })
        guard
            case .characteristics(let characteristics)? = rig.gatt(
                link, .discoverCharacteristics(battery.range, uuids: []))
        else {
            Issue.record("no characteristics")
            return
        }
        guard case .value(let value)? = rig.gatt(link, .read(characteristics[0].valueHandle)) else {
            Issue.record("no value")
            return
        }
        #expect(value.count == 1)
        #expect(rig.result(of: .link(link, .disconnect)) == .success(.done))
        #expect(rig.air.statistics(of: rig.controller).rejections.allSatisfy { $0.status == .unknownCommand })
        #expect(rig.air.statistics(of: rig.controller).commandsWithoutCredit == 0)
        #expect(rig.air.statistics(of: rig.controller).bufferOverflows == 0)
    }

    @Test("the same world and the same calls give the same events, run after run")
    func isDeterministic() {
        func run() -> [String] {
            let rig = HostStation(World(.demoWorld()))
            rig.start()
            rig.submit(.radio(.scan(ScanRequest(allowsDuplicates: true))))
            rig.submit(.radio(.connect(ConnectRequest(peer: SimulatedPeripheral.jellingHeart.address))))
            rig.run(for: .seconds(20))
            return rig.events.map { "\($0)" }
        }
        #expect(run() == run())
    }

    @Test("a device that appears after thirty days is connected to (SPEC CEN-9, appendix B 6)")
    func thirtyDays() {
        let rig = HostStation()
        rig.start()
        let connect = rig.submit(.radio(.connect(ConnectRequest(peer: Self.address))))
        rig.run(for: .seconds(30 * 86400))
        #expect(rig.results(of: connect).isEmpty)
        rig.air.addPeripheral(SimulatedPeripheral(name: "Late", address: Self.address, services: []))
        #expect(rig.run(for: .seconds(5)) { !rig.results(of: connect).isEmpty })
    }

    @Test("five pending connections are made in whatever order the devices appear (pain 3)")
    func manyPending() {
        let rig = HostStation()
        rig.start()
        let peers = (0..<5).map { DeviceAddress(value: 0xC0DE_0000_0100 + UInt64($0), kind: .random) }
        let operations = peers.map { rig.submit(.radio(.connect(ConnectRequest(peer: $0)))) }
        for index in [3, 0, 4, 1, 2] {
            rig.air.addPeripheral(SimulatedPeripheral(name: "P\(index)", address: peers[index], services: []))
            #expect(rig.run(for: .seconds(10)) { !rig.results(of: operations[index]).isEmpty })
        }
    }

    @Test("0x3E is retried until the link stands (SPEC 2.3)")
    func retriesEstablishment() {
        let rig = HostStation()
        rig.air.addPeripheral(SimulatedPeripheral(name: "Shy", address: Self.address, services: []))
        rig.air.changeFaults(of: rig.controller) { $0.failingConnections = 3 }
        rig.start()
        #expect(rig.connect(Self.address) != nil)
        #expect(rig.counters.connectionRetries == 3)
    }

    @Test("a device that goes out of range ends the link by supervision timeout, and a new connection waits for it")
    func outOfRange() throws {
        let rig = HostStation()
        let device = rig.air.addPeripheral(SimulatedPeripheral(name: "Far", address: Self.address, services: []))
        rig.start()
        _ = try #require(rig.connect(Self.address))
        rig.air.setInRange(false, device)
        rig.run(for: .seconds(10))
        #expect(rig.disconnections == [.controller(.connectionTimeout)])
        let again = rig.submit(.radio(.connect(ConnectRequest(peer: Self.address))))
        rig.run(for: .seconds(3600))
        #expect(rig.results(of: again).isEmpty)
        rig.air.setInRange(true, device)
        #expect(rig.run(for: .seconds(10)) { !rig.results(of: again).isEmpty })
    }

    @Test("data that overtake the Connection Complete are not lost (pain 11)")
    func earlyData() {
        let rig = HostStation()
        rig.air.addScriptedPeer(
            SimulatedScriptedPeer(name: "Eager", address: Self.address, greeting: [[0x02, 0x00, 0x02]]) { pdu in
                pdu.first == 0x02 ? [[0x03, 0x00, 0x01]] : []
            })
        rig.air.changeFaults(of: rig.controller) { $0.connectionCompleteDelayMicroseconds = 200_000 }
        rig.start()
        #expect(rig.connect(Self.address) != nil)
        #expect(rig.counters.strayPackets == 0)
    }

    @Test("missing reports are noticed and scanning restarts (pain 5)")
    func silentReports() {
        let rig = HostStation(World(.demoWorld()))
        rig.start()
        rig.submit(.radio(.scan(ScanRequest())))
        rig.run(for: .seconds(5))
        rig.air.changeFaults(of: rig.controller) { $0.silencesReports = true }
        rig.run(for: .seconds(60))
        #expect(rig.counters.scanRestarts == 1)
        #expect(rig.counters.controllerResets > 0)
        rig.air.changeFaults(of: rig.controller) { $0.silencesReports = false }
        rig.forget()
        let reports = rig.counters.advertisingReports
        rig.run(for: .seconds(60))
        #expect(rig.counters.advertisingReports > reports)
    }

    @Test("a wedged controller is reset, and scan and connection go on (pain 6)")
    func hardwareError() throws {
        let rig = HostStation(World(.demoWorld()))
        rig.start()
        rig.submit(.radio(.scan(ScanRequest(allowsDuplicates: true))))
        _ = try #require(rig.connect(SimulatedPeripheral.jellingHeart.address))
        rig.forget()
        rig.air.sendHardwareError(0x20, from: rig.controller)
        rig.run(for: .seconds(5))
        #expect(rig.disconnections == [.controllerLost])
        #expect(rig.events.contains { if case .discovered = $0 { true } else { false } })
        #expect(rig.connect(SimulatedPeripheral.jellingHeart.address) != nil)
    }

    @Test("a hundred connections in a row leave nothing behind")
    func hundredConnections() throws {
        let rig = HostStation(World(.demoWorld()))
        rig.start()
        for _ in 0..<100 {
            let link = try #require(rig.connect(SimulatedPeripheral.jellingHeart.address))
            #expect(rig.result(of: .link(link, .disconnect)) == .success(.done))
        }
        #expect(
            rig.counters
                == {
                    var clean = HostCounters()
                    clean.advertisingReports = rig.counters.advertisingReports
                    return clean
                }())
    }

    /// What a hostile peer answers to discovery requests, by name.
    static let hostileAnswers: [(name: String, answer: [UInt8])] = [
        ("element length 0", [0x11, 0x00, 0x01]),
        ("read by type of length 0", [0x09, 0x00, 0x01]),
        ("find information of unknown format", [0x05, 0x03, 0x01, 0x00, 0x02]),
        ("wrong opcode", [0x0B, 0x01, 0x02]),
        ("handles backwards", [0x11, 0x06, 0x10, 0x00, 0x05, 0x00, 0x00, 0x18]),
        ("handles outside the range", [0x11, 0x06, 0x00, 0x00, 0x05, 0x00, 0x00, 0x18]),
        ("empty", []),
        ("opcode alone", [0x11]),
        ("error for another request", [0x01, 0x0A, 0x03, 0x00, 0x02]),
        ("torn error", [0x01, 0x10]),
    ]

    @Test("a nonsensical answer ends its operation, one to another request none (pain 16)", arguments: hostileAnswers)
    func hostilePeer(name: String, answer: [UInt8]) throws {
        let rig = HostStation()
        rig.air.addScriptedPeer(
            SimulatedScriptedPeer(name: name, address: Self.address) { pdu in
                switch pdu.first {
                case 0x02: [[0x03, 0x17, 0x00]]
                case 0x0A: [[0x0B, 0x2A]]
                default: [answer]
                }
            })
        rig.start()
        let link = try #require(rig.connect(Self.address))
        let operations: [GATTOperation] = [
            .discoverServices(uuids: []), .discoverCharacteristics(.all, uuids: []), .discoverDescriptors(.all),
        ]
        for operation in operations {
            let submitted = rig.submit(.link(link, .gatt(operation)))
            rig.run(for: .seconds(40))
            #expect(rig.results(of: submitted).count == 1, "\(name)")
            guard case .failure? = rig.results(of: submitted).first else {
                // An answer that is right for one of the other requests ends that one in peace.
                continue
            }
        }
        if rig.disconnections.isEmpty {
            #expect(rig.gatt(link, .read(AttributeHandle(rawValue: 3))) == .value([0x2A]), "the bearer still works")
        }
    }

    @Test("a discovery that a peer keeps endless is ended (pain 16)")
    func endlessDiscovery() throws {
        let rig = HostStation()
        rig.air.addScriptedPeer(
            SimulatedScriptedPeer(name: "Endless", address: Self.address) { pdu in
                pdu.first == 0x02 ? [[0x03, 0x17, 0x00]] : [[0x11, 0x06, 0x01, 0x00, 0x01, 0x00, 0x00, 0x18]]
            })
        rig.start()
        let link = try #require(rig.connect(Self.address))
        guard case .failure(.gatt(.invalidResponse))? = rig.result(of: .link(link, .gatt(.discoverServices(uuids: []))))
        else {
            Issue.record("the second, equal answer makes no progress")
            return
        }
    }

    @Test("an unsolicited response is ignored (pain 16)")
    func unaskedResponse() throws {
        let rig = HostStation()
        let device = rig.air.addScriptedPeer(
            SimulatedScriptedPeer(name: "Chatty", address: Self.address) { pdu in
                pdu.first == 0x02 ? [[0x03, 0x17, 0x00]] : [[0x0B, 0x07]]
            })
        rig.start()
        let link = try #require(rig.connect(Self.address))
        rig.air.send([0x0B, 0x01, 0x02], on: .attributeProtocol, from: device)
        rig.run(for: .seconds(1))
        #expect(rig.gatt(link, .read(AttributeHandle(rawValue: 3))) == .value([7]))
    }

    @Test("a disconnection after each of the peer's answers ends a whole discovery once (pain 4)", arguments: 0..<12)
    func disconnectsAtEachStep(step: Int) throws {
        let rig = HostStation()
        let device = rig.air.addPeripheral(
            SimulatedPeripheral(
                name: "Leaver", address: Self.address, services: SimulatedPeripheral.jellingHeart.services))
        rig.start()
        let link = try #require(rig.connect(Self.address))
        let before = rig.air.statistics(of: device).requests
        let operations = [
            rig.submit(.link(link, .gatt(.discoverServices(uuids: [])))),
            rig.submit(.link(link, .gatt(.discoverCharacteristics(.all, uuids: [])))),
            rig.submit(.link(link, .gatt(.discoverDescriptors(.all)))),
            rig.submit(.link(link, .procedure(.readRSSI))),
        ]
        rig.run(for: .seconds(5)) { rig.air.statistics(of: device).requests >= before + step }
        rig.air.disconnect(device)
        rig.run(for: .seconds(60))
        for operation in operations { #expect(rig.results(of: operation).count == 1) }
        #expect(rig.disconnections.count == 1)
    }

    @Test("values that arrive before a subscription are kept for the subscriber (pain 12)")
    func earlyNotifications() throws {
        let rig = HostStation()
        let device = rig.air.addScriptedPeer(
            SimulatedScriptedPeer(name: "Early", address: Self.address) { pdu in
                switch pdu.first {
                case 0x02: [[0x03, 0x17, 0x00]]
                case 0x12: [[0x13]]
                default: []
                }
            })
        rig.start()
        let link = try #require(rig.connect(Self.address))
        for value in 1...3 { rig.air.send([0x1B, 0x03, 0x00, UInt8(value)], on: .attributeProtocol, from: device) }
        rig.run(for: .seconds(1))
        rig.forget()
        _ = rig.gatt(
            link,
            .subscribe(
                AttributeHandle(rawValue: 3), configuration: AttributeHandle(rawValue: 4), mode: .notifications))
        let values = rig.events.compactMap { event -> [UInt8]? in
            if case .gatt(_, .notification(let notification)) = event { notification.value } else { nil }
        }
        #expect(values == [[1], [2], [3]])
    }

    @Test(
        "credits that the controller never returns stop the link without growth, and the next link is not harmed (pain 11)"
    )
    func keptCredits() throws {
        let rig = HostStation(
            controller: {
                var c = SimulatedControllerConfiguration()
                c.aclDataCount = 2
                return c
            }())
        rig.air.addPeripheral(.jellingHeart)
        rig.start()
        let link = try #require(rig.connect(SimulatedPeripheral.jellingHeart.address))
        rig.air.changeFaults(of: rig.controller) { $0.keepsCompletedPackets = true }
        let reads = (0..<5).map { _ in rig.submit(.link(link, .gatt(.read(AttributeHandle(rawValue: 3))))) }
        rig.run(for: .seconds(60))
        for read in reads { #expect(rig.results(of: read).count == 1) }
        rig.air.changeFaults(of: rig.controller) { $0.keepsCompletedPackets = false }
        let next = try #require(rig.connect(SimulatedPeripheral.jellingHeart.address))
        #expect(rig.gatt(next, .read(AttributeHandle(rawValue: 3))) != nil)
    }
}
