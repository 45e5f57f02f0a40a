import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// The acceptance scenarios of the central role (SPEC appendix B).
@Suite("Scenarios: central")
struct CentralScenarios {
    let world = World()
    let air: SimulatedAir

    init() { air = world.air }

    private var legacy: SimulatedControllerConfiguration {
        SimulatedControllerConfiguration(
            features: SimulatedControllerConfiguration.allFeatures.subtracting(.extendedAdvertising))
    }

    private func beacon(_ octet: UInt8) -> SimulatedAdvertisement {
        SimulatedAdvertisement(
            data: [2, 1, 6, 3, 3, 0x0D, 0x18, 3, 0xFF, octet, 0], isConnectable: false, isScannable: false)
    }

    /// Lets so many more packets of devices be heard.
    private func hear(_ count: UInt64, _ station: AppStation) {
        let end = station.counters.advertisingReports + count
        world.run(for: .seconds(60)) { station.counters.advertisingReports >= end }
    }

    @Test(
        "scenario 1: 40 equal packets give one discovery, a changed octet a second; with duplicates each packet gives one (CEN-5, CEN-25, CEN-26, CEN-27)"
    )
    func scenario1() {
        let station = AppStation(world)
        let device = air.addBroadcaster(SimulatedBroadcaster(address: Profiles.beltAddress, advertisement: beacon(1)))
        let central = TestApp(station).central()
        central.ask(.scan(ScanOptions()))
        hear(40, station)
        #expect(central.discoveries.count == 1)
        air.setAdvertisement(beacon(2), of: device)
        hear(3, station)
        #expect(central.discoveries.count == 2)
        #expect(central.discoveries.last?.content.manufacturerData == [2, 0])

        central.forget()
        let before = station.counters.advertisingReports
        central.ask(.scan(ScanOptions(allowsDuplicates: true)))
        hear(41, station)
        #expect(central.discoveries.count == Int(station.counters.advertisingReports - before))
        #expect(central.discoveries.count == 41)
    }

    @Test("apps whose discoveries are joined are told the same, in the same order, as apps whose discoveries are not")
    func joinedDiscoveries() {
        var told: [[[ClientEvent]]] = []
        for joins in [false, true] {
            let world = World()
            let device = world.air.addBroadcaster(
                SimulatedBroadcaster(address: Profiles.beltAddress, advertisement: beacon(1)))
            let station = AppStation(world, joinsDiscoveries: joins)
            let first = TestApp(station, "org.example.first", modes: .central)
            let second = TestApp(station, "org.example.second", modes: .central)
            let managers = [first.central(), second.central(), first.central()]
            func hear(_ count: UInt64) {
                let end = station.counters.advertisingReports + count
                world.run(for: .seconds(60)) { station.counters.advertisingReports >= end }
            }
            managers[0].ask(.scan(ScanOptions(services: [Profiles.heartRate], allowsDuplicates: true)))
            managers[1].ask(.scan(ScanOptions(services: [Profiles.heartRate], allowsDuplicates: true)))
            managers[2].ask(.scan(ScanOptions()))
            hear(5)
            world.air.setAdvertisement(beacon(2), of: device)
            hear(5)
            second.enterBackground()
            hear(5)
            second.enterForeground()
            managers[0].ask(.stopScan)
            hear(20)
            told.append(managers.map(\.events))
            #expect((station.sharedDiscoveryCount > 5) == joins)
        }
        #expect(told[0] == told[1])
        #expect(told[0][1].count > 10)
    }

    @Test(
        "scenario 2: in the background, duplicates are ignored; the scan slows down only when no foreground app scans (BGC-1, BGC-3, BGC-4)"
    )
    func scenario2() {
        let station = AppStation(world, controller: legacy)
        air.addBroadcaster(SimulatedBroadcaster(address: Profiles.beltAddress, advertisement: beacon(1)))
        let first = TestApp(station, "org.example.first", modes: .central)
        let second = TestApp(station, "org.example.second", modes: .central)
        let central = first.central()
        let other = second.central()
        let options = ScanOptions(services: [Profiles.heartRate], allowsDuplicates: true)
        func interval() -> UInt16 {
            guard let parameters = station.commands(LESetScanParameters.opcode).last else { return 0 }
            return UInt16(parameters[1]) | UInt16(parameters[2]) << 8
        }
        central.ask(.scan(options))
        hear(5, station)
        #expect(central.discoveries.count == 5)
        let inFront = interval()
        first.enterBackground()
        central.forget()
        hear(40, station)
        #expect(central.discoveries.count <= 1)
        let behind = interval()
        #expect(behind > inFront)
        other.ask(.scan(options))
        hear(2, station)
        #expect(interval() == inFront)
        second.enterBackground()
        hear(2, station)
        #expect(interval() == behind)
        second.enterForeground()
        hear(2, station)
        #expect(interval() == inFront)
    }

    @Test("scenario 3: in the background, a scan without services finds nothing, a scan for a service finds it (BGC-5)")
    func scenario3() {
        let station = AppStation(world)
        air.addPeripheral(Profiles.belt())
        let app = TestApp(station, modes: .central)
        let central = app.central()
        app.enterBackground()
        central.ask(.scan(ScanOptions()))
        central.run(.seconds(5))
        #expect(central.discoveries.isEmpty)
        #expect(station.logs.contains(.backgroundScanWithoutServices))
        central.ask(.scan(ScanOptions(services: [Profiles.heartRate])))
        central.run(.seconds(5))
        #expect(central.discoveries.map(\.peer.name) == ["Belt"])
    }

    @Test("scenario 4: a suspended app without a mode receives nothing, then everything in order (FGO-1, FGO-4, FGO-5)")
    func scenario4() throws {
        let street = BeltAndDoor(world)
        let station = street.station
        let app = TestApp(station)
        let known = try street.acquaint(app)
        let (central, beltPeer, lockPeer) = known
        try street.engage(known)
        app.leave()
        street.happen()
        #expect(central.events.isEmpty)
        #expect(app.actions == [.suspend])
        #expect(station.alerts.isEmpty)
        app.enterForeground()
        #expect(app.actions == [.suspend, .resume])
        #expect(central.connections == [lockPeer])
        #expect(central.values == [[0, 61], [0, 62], [0, 63]])
        #expect(central.disconnections == [.coreBluetooth(.peripheralDisconnected)])
        let kinds = central.events.compactMap { event -> Int? in
            switch event {
            case .connected: 0
            case .peripheral(beltPeer, .valueUpdated): 1
            case .disconnected: 2
            default: nil
            }
        }
        #expect(kinds == [0, 1, 1, 1, 2])
    }

    @Test(
        "scenario 5: alerts for what was asked for, to the app that was in the foreground last (ALR-1, ALR-2, ALR-3, ALR-4, ALR-5)"
    )
    func scenario5() throws {
        let street = BeltAndDoor(world)
        let station = street.station
        let all = ConnectOptions(
            notifiesOnConnection: true, notifiesOnDisconnection: true, notifiesOnNotification: true)
        let first = TestApp(station, "org.example.first")
        let second = TestApp(station, "org.example.second")
        let early = try street.acquaint(first)
        let late = try street.acquaint(second)
        let (_, beltPeer, lockPeer) = late
        try street.engage(early, all)
        try street.engage(late, all)
        first.leave()
        second.leave()
        station.forgetOutputs()
        street.happen()
        #expect(station.alerts.map(\.app) == [second.id, second.id, second.id])
        #expect(station.alerts.map(\.kind) == [.connection, .notification, .disconnection])
        #expect(station.alerts.map(\.peripheral?.identifier) == [lockPeer, beltPeer, beltPeer])
        let alert = try #require(station.alerts.first)
        let now = world.now
        station.apps { $0.alertAnswered(alert.id, isAccepted: true, at: now) }
        #expect(second.actions.last == .resume)
        #expect(second.events.contains { if case .connected = $0 { true } else { false } })
        #expect(station.withdrawnAlerts.count == 2)
    }

    @Test("scenario 5: no alert that was not asked for, and none for an app with the mode (ALR-5)")
    func noAlerts() throws {
        let street = BeltAndDoor(world)
        let station = street.station
        let app = TestApp(station, modes: .central)
        let known = try street.acquaint(app)
        let central = known.central
        try street.engage(known, ConnectOptions(notifiesOnConnection: true, notifiesOnDisconnection: true))
        app.leave()
        street.happen()
        #expect(station.alerts.isEmpty)
        #expect(central.connections.count == 1)
    }

    @Test("scenario 6: a connection stays pending for thirty days (CEN-8, CEN-9, LTA-1)")
    func scenario6() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let app = TestApp(station, modes: .central)
        let central = app.central()
        let peer = try #require(central.discover([Profiles.heartRate]))
        air.setAdvertising(false, of: belt)
        central.ask(.connect(peer, ConnectOptions()))
        app.leave()
        for _ in 0..<30 { central.run(.seconds(86_400)) }
        #expect(central.connections.isEmpty)
        #expect(app.wakeCount == 0)
        air.setAdvertising(true, of: belt)
        central.run(.seconds(10))
        #expect(central.connections == [peer])
        #expect(app.wakeCount == 1)
    }

    @Test(
        "scenario 10: an app that cancels is disconnected at once; the link ends with its last holder (CEN-22, CEN-23, CEN-24, CEN-29)"
    )
    func scenario10() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let one = TestApp(station, "org.example.one").central()
        let two = TestApp(station, "org.example.two").central()
        let onePeer = try #require(one.discover([Profiles.heartRate]))
        let twoPeer = try #require(two.discover([Profiles.heartRate]))
        #expect(one.connect(onePeer))
        #expect(two.connect(twoPeer))
        #expect(air.statistics(of: belt).connections == 1)
        one.ask(.cancelConnection(onePeer))
        #expect(one.disconnections == [nil])
        one.run(.seconds(3))
        #expect(station.commands(Disconnect.opcode).isEmpty)
        #expect(two.disconnections.isEmpty)
        two.ask(.cancelConnection(twoPeer))
        #expect(two.disconnections == [nil])
        two.run(.seconds(3))
        #expect(station.commands(Disconnect.opcode).map(\.last) == [0x13])
    }

    @Test("scenario 11: cancelling does not wait, and nothing follows the disconnection (CEN-22)")
    func scenario11() throws {
        let station = AppStation(world)
        air.addPeripheral(Profiles.belt())
        let central = TestApp(station).central()
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.connect(peer))
        let location = try #require(central.explore(peer, Profiles.heartRate)[Profiles.bodySensorLocation])
        central.forget()
        for _ in 0..<3 { central.ask(.readValue(characteristic: location.id), of: peer) }
        central.ask(.cancelConnection(peer))
        #expect(central.events.count == 1)
        #expect(central.disconnections == [nil])
        central.run(.seconds(10))
        #expect(central.events.count == 1)
    }

    @Test(
        "scenario 12: refusals are reported in the error, except for writes without response (CEN-14, CEN-15, CEN-16, CEN-20, CEN-21)"
    )
    func scenario12() throws {
        let station = AppStation(world)
        air.addPeripheral(Profiles.belt())
        let central = TestApp(station).central()
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.connect(peer))
        let list = central.explore(peer, Profiles.heartRate)
        let point = try #require(list[Profiles.controlPoint])
        let location = try #require(list[Profiles.bodySensorLocation])
        central.forget()
        central.ask(.readValue(characteristic: point.id), of: peer)
        central.ask(.setNotify(true, characteristic: location.id), of: peer)
        central.ask(.writeWithoutResponse([1], characteristic: location.id), of: peer)
        central.ask(.writeWithoutResponse([1], characteristic: RemoteAttributeID(rawValue: 999)), of: peer)
        central.run(.seconds(3))
        #expect(central.valueErrors == [.att(code: 2)])
        #expect(
            central.peripheralEvents.contains(
                .notificationStateUpdated(characteristic: location.id, isNotifying: false, .att(code: 6))))
        #expect(central.events.count == 2)
    }

    @Test("scenario 13: if both are offered, notifications are used (CEN-16, CEN-17, CEN-18)")
    func scenario13() throws {
        let station = AppStation(world)
        let door = air.addPeripheral(Profiles.door())
        let central = TestApp(station).central()
        let peer = try #require(central.discover([Profiles.lock]))
        #expect(central.connect(peer))
        let state = try #require(central.explore(peer, Profiles.lock)[Profiles.lockState])
        #expect(central.subscribe(state, of: peer))
        // The system's own subscription to Service Changed is the only indication there may be.
        air.setValue([1], of: Profiles.lockState, on: door)
        central.run(.seconds(1))
        #expect(central.values == [[1]])
        #expect(air.statistics(of: door).notifications == 1)
        #expect(air.statistics(of: door).indications == 0)
        central.ask(.discoverDescriptors(characteristic: state.id), of: peer)
        central.run(.seconds(1))
        var configuration: RemoteAttributeID?
        for case .descriptorsDiscovered(_, let found, _) in central.peripheralEvents {
            configuration = found.first { $0.uuid == .clientCharacteristicConfiguration }?.id
        }
        central.ask(.readDescriptor(try #require(configuration)), of: peer)
        central.run(.seconds(1))
        #expect(central.peripheralEvents.last == .descriptorValueUpdated(try #require(configuration), [1, 0], nil))
    }

    @Test(
        "scenario 14: long values are read and written in parts; MTU 185 leaves 182 for a command and 512 for a write (CEN-13, CEN-19)"
    )
    func scenario14() throws {
        let station = AppStation(world)
        let door = air.addPeripheral(Profiles.door(maximumMTU: 185))
        let long = (0..<600).map { UInt8(truncatingIfNeeded: $0) }
        air.changeCharacteristic(Profiles.lockState, on: door) { $0.readValue = { _ in long } }
        let central = TestApp(station).central()
        let peer = try #require(central.discover([Profiles.lock]))
        #expect(central.connect(peer))
        var limits: [WriteLimits] = []
        for case .connected(_, let limit) in central.events { limits.append(limit) }
        #expect(limits == [WriteLimits(withResponse: 512, withoutResponse: 182)])
        let list = central.explore(peer, Profiles.lock)
        let state = try #require(list[Profiles.lockState])
        let name = try #require(list[Profiles.lockName])
        central.ask(.readValue(characteristic: state.id), of: peer)
        central.run(.seconds(3))
        #expect(central.values.map(\.count) == [512])
        #expect(central.values.first?.elementsEqual(long.prefix(512)) == true)
        central.ask(.writeValue(Array(long.prefix(400)), characteristic: name.id), of: peer)
        central.run(.seconds(3))
        #expect(central.peripheralEvents.last == .valueWritten(characteristic: name.id, nil))
        #expect(air.value(of: Profiles.lockName, on: door) == Array(long.prefix(400)))
    }

    @Test("scenario 22: a scan for 3333 also hears the background advertisement of 1001, under the hashed key (ADV-3)")
    func scenario22() {
        let station = AppStation(world)
        let mask: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0]
        air.addBroadcaster(
            SimulatedBroadcaster(
                address: Profiles.beltAddress,
                advertisement: SimulatedAdvertisement(data: [2, 1, 0x1A, 0x14, 0xFF, 0x4C, 0, 1] + mask)))
        let central = TestApp(station).central()
        let wanted = BluetoothUUID(UInt16(0x3333))
        central.ask(.scan(ScanOptions(services: [wanted])))
        central.run(.seconds(2))
        #expect(central.discoveries.map(\.content.overflowServiceUUIDs) == [[wanted]])
        #expect(central.discoveries.map(\.content.serviceUUIDs) == [[]])
    }

    @Test("scenario 27: who is known, who is connected, and who changed its address (REC-1 to REC-7)")
    func scenario27() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let one = TestApp(station, "org.example.one").central()
        let two = TestApp(station, "org.example.two").central()
        func retrieved(_ manager: TestManager, _ request: (QueryID) -> CentralManagerRequest) -> [PeerIdentifier] {
            let query = QueryID(rawValue: UInt32(manager.events.count + 1))
            manager.ask(request(query))
            for case .retrieved(query, let found) in manager.events { return found.map(\.identifier) }
            return [PeerIdentifier(high: 0, low: 0)]
        }
        let peer = try #require(one.discover([Profiles.heartRate]))
        let stranger = PeerIdentifier(high: 1, low: 2)
        #expect(retrieved(one) { .retrievePeripherals($0, [stranger, peer]) } == [peer])
        #expect(retrieved(one) { .retrievePeripherals($0, [stranger]) }.isEmpty)
        // Nobody can tell that two apps mean the same device.
        #expect(retrieved(two) { .retrievePeripherals($0, [peer]) }.isEmpty)

        #expect(one.connect(peer))
        _ = one.explore(peer, Profiles.heartRate)
        let wanted = [Profiles.battery, Profiles.heartRate]
        let shared = retrieved(two) { .retrieveConnectedPeripherals($0, services: wanted) }
        #expect(shared.count == 1)
        #expect(shared != [peer])
        #expect(retrieved(two) { .retrieveConnectedPeripherals($0, services: [Profiles.battery]) }.isEmpty)
        #expect(two.connections.isEmpty)
        #expect(two.connect(try #require(shared.first)))
        #expect(air.statistics(of: belt).connections == 1)

        // An address that passes makes a new device of an old one.
        let passing = DeviceAddress(value: 0x0000_0000_0001, kind: .random)
        let first = air.addPeripheral(Profiles.belt(passing, name: "Walker"))
        let early = try #require(one.discover(name: "Walker"))
        air.remove(first)
        air.addPeripheral(Profiles.belt(DeviceAddress(value: 0x0000_0000_0002, kind: .random), name: "Walker"))
        one.forget()
        let late = try #require(one.discover(name: "Walker"))
        #expect(early != late)
    }
}
