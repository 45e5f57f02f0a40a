import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// Requirements on managers of both roles that no scenario shows whole (SPEC 1.1 to 1.4, 1.10).
@Suite("Requirements: managers")
struct ManagerRequirements {
    let world = World()
    let air: SimulatedAir

    init() { air = world.air }

    @Test("one app has several managers of both roles, each with its own life (MOD-1, CEN-2, CEN-29, PER-1, SPR-3)")
    func several() throws {
        let station = AppStation(world)
        air.addPeripheral(Profiles.belt())
        let app = TestApp(station, modes: [.central, .peripheral])
        let one = app.central(ManagerOptions(restoreIdentifier: "one"))
        let two = app.central()
        let server = app.peripheral()
        for manager in [one, two, server] { #expect(manager.states == [.poweredOn]) }
        one.ask(.scan(ScanOptions(services: [Profiles.heartRate])))
        one.run(.seconds(2))
        #expect(one.discoveries.count == 1)
        #expect(two.discoveries.isEmpty)
        let peer = try #require(one.discoveries.first?.peer.identifier)
        #expect(two.connect(peer))
        one.ask(.release)
        two.run(.seconds(2))
        #expect(two.disconnections.isEmpty)
        one.forget()
        one.ask(.scan(ScanOptions()))
        #expect(one.events.isEmpty)
        #expect(station.logs == [.wrongManager])
    }

    @Test(
        "a scan without services finds everything, one with services only those, and it runs until it is stopped (CEN-4, CEN-5, CEN-7, MOD-2)"
    )
    func scans() {
        let station = AppStation(world)
        air.addPeripheral(Profiles.belt())
        air.addPeripheral(Profiles.door())
        let central = TestApp(station).central()
        central.ask(.scan(ScanOptions(services: [Profiles.lock, Profiles.battery])))
        central.run(.seconds(3))
        #expect(central.discoveries.map(\.peer.name) == ["Lock"])
        // The next scan takes the place of the first.
        central.forget()
        central.ask(.scan(ScanOptions()))
        central.run(.seconds(3))
        #expect(Set(central.discoveries.map(\.peer.name)) == ["Belt", "Lock"])
        central.forget()
        air.addPeripheral(Profiles.belt(Profiles.stationAddress, name: "Late"))
        central.run(.seconds(60))
        #expect(central.discoveries.map(\.peer.name) == ["Late"])
        central.ask(.stopScan)
        central.run(.seconds(1))
        #expect(station.commands(LESetExtendedScanEnable.opcode).last?.first == 0)
    }

    @Test("devices that solicit a service are found by a scan for solicited services (SPEC 2.3)")
    func solicited() {
        let station = AppStation(world)
        air.addBroadcaster(
            SimulatedBroadcaster(
                address: Profiles.beltAddress,
                advertisement: SimulatedAdvertisement(data: [2, 1, 6, 3, 0x14, 0x0F, 0x18])))
        let central = TestApp(station).central()
        central.ask(.scan(ScanOptions(services: [Profiles.heartRate])))
        central.run(.seconds(2))
        #expect(central.discoveries.isEmpty)
        central.ask(.scan(ScanOptions(services: [Profiles.heartRate], solicitedServices: [Profiles.battery])))
        central.run(.seconds(2))
        #expect(central.discoveries.map(\.content.solicitedServiceUUIDs) == [[Profiles.battery]])
    }

    @Test(
        "everything on a connected device can be discovered, whatever it advertises (MOD-3, MOD-4, MOD-5, MOD-6, CEN-11, CEN-12)"
    )
    func explores() throws {
        let station = AppStation(world)
        let included = SimulatedService(
            Profiles.battery, isPrimary: false,
            characteristics: [SimulatedCharacteristic(Profiles.batteryLevel, [.read], value: [80])])
        var belt = Profiles.belt()
        belt.services[0].includedServices = [Profiles.battery]
        belt.services.append(included)
        belt.services.append(SimulatedService(Profiles.lock))
        belt.advertisement = SimulatedAdvertisement(name: "Belt", serviceUUIDs: [Profiles.heartRate])
        air.addPeripheral(belt)
        let central = TestApp(station).central()
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.connect(peer))
        central.ask(.discoverServices([Profiles.heartRate]), of: peer)
        central.run(.seconds(2))
        guard case .servicesDiscovered(let named, nil)? = central.peripheralEvents.last else {
            Issue.record("no services")
            return
        }
        #expect(named.map(\.uuid) == [Profiles.heartRate])
        central.ask(.discoverServices([]), of: peer)
        central.run(.seconds(2))
        guard case .servicesDiscovered(let all, nil)? = central.peripheralEvents.last else {
            Issue.record("not all services")
            return
        }
        #expect(Set(all.map(\.uuid)).isSuperset(of: [Profiles.heartRate, Profiles.lock]))
        let main = try #require(all.first { $0.uuid == Profiles.heartRate })
        central.ask(.discoverIncludedServices([], service: main.id), of: peer)
        central.run(.seconds(2))
        guard case .includedServicesDiscovered(main.id, let inner, nil)? = central.peripheralEvents.last else {
            Issue.record("no included services")
            return
        }
        #expect(inner.map(\.uuid) == [Profiles.battery])
        let battery = try #require(inner.first)
        central.ask(.discoverCharacteristics([Profiles.batteryLevel], service: battery.id), of: peer)
        central.run(.seconds(2))
        guard case .characteristicsDiscovered(battery.id, let list, nil)? = central.peripheralEvents.last else {
            Issue.record("no characteristics")
            return
        }
        central.ask(.readValue(characteristic: try #require(list.first).id), of: peer)
        central.ask(.readRSSI, of: peer)
        central.run(.seconds(2))
        #expect(central.values == [[80]])
        #expect(central.peripheralEvents.contains(.rssiRead(rssi: -55, nil)))
    }

    @Test(
        "a write with response is always answered (CEN-19), changed values arrive like values that are read (CEN-13, CEN-17)"
    )
    func writes() throws {
        let station = AppStation(world)
        let door = air.addPeripheral(Profiles.door())
        air.changeCharacteristic(Profiles.lockName, on: door) { $0.writeError = .insufficientAuthorization }
        let central = TestApp(station).central()
        let peer = try #require(central.discover([Profiles.lock]))
        #expect(central.connect(peer))
        let list = central.explore(peer, Profiles.lock)
        let state = try #require(list[Profiles.lockState])
        let name = try #require(list[Profiles.lockName])
        central.forget()
        central.ask(.writeValue([1], characteristic: state.id), of: peer)
        central.ask(.writeValue([1], characteristic: name.id), of: peer)
        central.run(.seconds(2))
        #expect(
            central.peripheralEvents == [
                .valueWritten(characteristic: state.id, nil),
                .valueWritten(characteristic: name.id, .att(.insufficientAuthorization)),
            ])
        #expect(central.subscribe(state, of: peer))
        air.setValue([2], of: Profiles.lockState, on: door)
        central.run(.seconds(1))
        central.ask(.setNotify(false, characteristic: state.id), of: peer)
        central.run(.seconds(1))
        air.setValue([3], of: Profiles.lockState, on: door)
        central.ask(.readValue(characteristic: state.id), of: peer)
        central.run(.seconds(1))
        #expect(central.values == [[2], [3]])
        #expect(
            central.peripheralEvents.contains(
                .notificationStateUpdated(characteristic: state.id, isNotifying: false, nil)))
    }

    @Test("several devices are connected at once (CEN-28)")
    func manyDevices() {
        let station = AppStation(world)
        var peers: [PeerIdentifier] = []
        let central = TestApp(station).central()
        for number in 1...5 {
            air.addPeripheral(
                Profiles.belt(DeviceAddress(value: 0xC000_0000_0100 + UInt64(number), kind: .random), name: "\(number)")
            )
            if let peer = central.discover(name: "\(number)") { peers.append(peer) }
        }
        for peer in peers { central.ask(.connect(peer, ConnectOptions())) }
        central.run(.seconds(20))
        #expect(Set(central.connections) == Set(peers))
        #expect(peers.count == 5)
    }

    @Test("an unknown device cannot be connected, and a request without a connection is reported as misuse (REC-5)")
    func misuse() throws {
        let station = AppStation(world)
        air.addPeripheral(Profiles.belt())
        let central = TestApp(station).central()
        let stranger = PeerIdentifier(high: 3, low: 4)
        central.ask(.connect(stranger, ConnectOptions()))
        #expect(central.events.last == .connectionFailed(stranger, .coreBluetooth(.unknownDevice)))
        let peer = try #require(central.discover([Profiles.heartRate]))
        central.ask(.discoverServices([]), of: peer)
        #expect(station.logs == [.notConnected(peer)])
        central.ask(.addService(Profiles.published))
        #expect(station.logs.last == .wrongManager)
        #expect(LogMessage.notPoweredOn(.central).text.hasPrefix("API MISUSE: <CBCentralManager>"))
    }

    @Test("the device's own name replaces the advertised one, and changed services are reported")
    func learns() throws {
        let station = AppStation(world)
        var belt = Profiles.belt()
        belt.advertisement = SimulatedAdvertisement(name: "Nick", serviceUUIDs: [Profiles.heartRate])
        let device = air.addPeripheral(belt)
        let central = TestApp(station).central()
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.discoveries.last?.peer.name == "Nick")
        #expect(central.connect(peer))
        central.run(.seconds(2))
        #expect(central.peripheralEvents == [.nameUpdated("Belt")])
        _ = central.explore(peer, Profiles.heartRate)
        air.replaceServices([SimulatedService(Profiles.battery)], on: device)
        central.run(.seconds(2))
        guard case .servicesModified(let gone)? = central.peripheralEvents.last else {
            Issue.record("no change was told")
            return
        }
        #expect(gone.count == 1)
    }

    @Test(
        "services include others, have cached and dynamic values, and belong to one database (MOD-8, MOD-10, MOD-11, PER-2, PER-3, PER-24)"
    )
    func publishes() throws {
        let station = AppStation(world)
        let one = TestApp(station, "org.example.one").peripheral()
        let two = TestApp(station, "org.example.two").peripheral()
        let battery = LocalService(
            id: Profiles.id(1), uuid: Profiles.battery, isPrimary: false,
            characteristics: [
                LocalCharacteristic(
                    id: Profiles.id(2), uuid: Profiles.batteryLevel, properties: 0x02, permissions: 0x01, value: [90],
                    descriptors: [
                        LocalDescriptor(id: Profiles.id(3), uuid: BluetoothUUID(UInt16(0x2901)), value: [65])
                    ])
            ])
        #expect(one.add(battery) == nil)
        #expect(
            one.add(
                LocalService(
                    id: Profiles.id(4), uuid: Profiles.heartRate, includedServices: [battery.id],
                    characteristics: [
                        LocalCharacteristic(
                            id: Profiles.id(5), uuid: Profiles.controlPoint, properties: 0x0A, permissions: 0x01)
                    ])) == nil)
        #expect(two.add(Profiles.published) == nil)
        one.ask(.startAdvertising(AdvertisementRequest(localName: "One")))
        let remote = HostStation.remote(in: world)
        let link = try #require(remote.connect(Profiles.stationAddress))
        guard case .services(let services)? = remote.gatt(link, .discoverServices(uuids: [])) else {
            Issue.record("no services")
            return
        }
        #expect(services.map(\.uuid).contains(Profiles.heartRate))
        #expect(services.map(\.uuid).contains(Profiles.lock))
        #expect(!services.map(\.uuid).contains(Profiles.battery))
        let heart = try #require(services.first { $0.uuid == Profiles.heartRate })
        guard case .includedServices(let inner)? = remote.gatt(link, .discoverIncludedServices(heart.range)) else {
            Issue.record("no included services")
            return
        }
        #expect(inner.map(\.uuid) == [Profiles.battery])
        let list = remote.characteristics(link, Profiles.heartRate)
        // Writable by its properties, not by its permissions.
        #expect(remote.attError(link, .write(list[0].valueHandle, value: [1])) == .writeNotPermitted)
        remote.submit(.link(link, .gatt(.read(list[0].valueHandle))))
        one.wait { if case .readRequest = $0 { true } else { false } }
        #expect(one.readRequests.map(\.characteristic) == [Profiles.id(5)])
        #expect(two.readRequests.isEmpty)
        one.ask(.respond(try #require(one.readRequests.first).id, code: 0, value: [1]))
        let other = remote.characteristics(link, Profiles.lock)
        remote.submit(.link(link, .gatt(.read(other[0].valueHandle))))
        two.wait { if case .readRequest = $0 { true } else { false } }
        #expect(two.readRequests.map(\.characteristic) == [Profiles.id(2)])
        #expect(one.readRequests.count == 1)
        one.ask(.removeService(battery.id))
        #expect(station.logs == [.unknownAttribute], "who includes it goes first")
    }

    @Test("remote centrals find the advertiser, connect, subscribe and unsubscribe (PER-11, PER-20)")
    func subscribers() throws {
        let station = AppStation(world)
        let manager = TestApp(station).peripheral()
        #expect(manager.add(Profiles.published) == nil)
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door", serviceUUIDs: [Profiles.lock])))
        let remote = HostStation.remote(in: world)
        remote.submit(.radio(.scan(ScanRequest(serviceUUIDs: [Profiles.lock]))))
        world.run(for: .seconds(2))
        #expect(remote.discoveries.map(\.address) == [Profiles.stationAddress])
        let link = try #require(remote.connect(Profiles.stationAddress))
        let list = remote.characteristics(link, Profiles.lock)
        #expect(remote.subscribe(link, list[0]))
        #expect(manager.update(Profiles.id(2), [1, 2, 3]))
        world.run(for: .seconds(1))
        #expect(remote.notifications == [[1, 2, 3]])
        _ = remote.gatt(link, .unsubscribe(list[0].valueHandle))
        manager.wait { if case .unsubscribed(_, Profiles.id(2)) = $0 { true } else { false } }
        #expect(remote.subscribe(link, list[0]))
        remote.submit(.link(link, .disconnect))
        world.run(for: .seconds(3))
        var changes: [Bool] = []
        for event in manager.events {
            if case .subscribed = event { changes.append(true) }
            if case .unsubscribed = event { changes.append(false) }
        }
        #expect(changes == [true, false, true, false])
    }

    @Test(
        "28 octets for everything, ten more for the name, the rest of the services overflows, all well-formed (ADV-1, ADV-2, ADV-3, ADV-7)"
    )
    func packs() {
        let station = AppStation(world)
        let manager = TestApp(station).peripheral()
        let remote = HostStation.remote(in: world)
        remote.submit(.radio(.scan(ScanRequest())))
        let services = (0..<20).map { BluetoothUUID(UInt16(0xFF00 + $0)) }
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "A long name", serviceUUIDs: services)))
        world.run(for: .seconds(2))
        guard let found = remote.discoveries.last else {
            Issue.record("nothing was heard")
            return
        }
        let octets = found.advertisement
        let data = AdvertisingData(advertisement: octets.span.bytes)
        #expect(octets.count - 3 <= 28)
        #expect(data.faults.isEmpty)
        #expect(octets.prefix(3) == [2, 1, 6], "flags first (Core Specification Supplement, Part A, 1.3)")
        #expect(data.serviceUUIDs == Array(services.prefix(13)))
        let mask = OverflowArea(hashing: Array(services.dropFirst(13))).mask
        #expect(found.scanResponse == [20, 0xFF, 0x4C, 0, 1] + mask + [9, 8] + Array("A long n".utf8))
    }

    @Test("a manager is told each state that Bluetooth can be in, and commands are accepted only in the last (CEN-3)")
    func states() {
        let station = AppStation(world, starts: false)
        let central = TestApp(station).central()
        #expect(central.events.isEmpty, "unknown is what it is before it is told")
        let now = world.now
        station.apps { $0.transportFailed(at: now) }
        station.start()
        central.run(.seconds(1))
        air.sendHardwareError(1, from: station.controller)
        central.run(.seconds(5))
        for isOn in [false, true] { station.apps { $0.setPower(isOn, at: world.now) } }
        #expect(central.states == [.unsupported, .poweredOn, .resetting, .poweredOn, .poweredOff, .poweredOn])
        let denied = TestApp(station, "org.example.denied", authorization: .denied)
        #expect(denied.central().states == [.unauthorized])
        #expect(denied.peripheral().states == [.unauthorized])
    }

    @Test(
        "characteristics that notify or indicate can be subscribed to, and no others, whatever their descriptors (CEN-15, CEN-16)"
    )
    func subscribable() throws {
        let station = AppStation(world)
        let properties: [SimulatedProperties] = [.notify, .indicate, .read, [.read, .write]]
        let configuration = SimulatedDescriptor(
            .clientCharacteristicConfiguration, value: [0, 0], permissions: [.read, .write])
        var door = Profiles.door()
        door.services = [
            SimulatedService(
                Profiles.lock,
                characteristics: properties.enumerated().map { number, properties in
                    SimulatedCharacteristic(
                        BluetoothUUID(UInt16(0xFFE1 + number)), properties, value: [0],
                        descriptors: number == 2 ? [configuration] : [])
                })
        ]
        let device = air.addPeripheral(door)
        let central = TestApp(station).central()
        let peer = try #require(central.discover([Profiles.lock]))
        #expect(central.connect(peer))
        let list = central.explore(peer, Profiles.lock)
        central.forget()
        for characteristic in list { central.ask(.setNotify(true, characteristic: characteristic.id), of: peer) }
        central.run(.seconds(3))
        var answers: [RemoteAttributeID: [String]] = [:]
        for case .notificationStateUpdated(let id, let isNotifying, let error) in central.peripheralEvents {
            answers[id, default: []].append(isNotifying ? "on" : error == nil ? "off" : "refused")
        }
        #expect(list.map { answers[$0.id] } == [["on"], ["on"], ["refused"], ["refused"]])
        central.forget()
        for number in 0..<4 { air.setValue([7], of: BluetoothUUID(UInt16(0xFFE1 + number)), on: device) }
        central.run(.seconds(1))
        #expect(central.values == [[7], [7]])
    }

    @Test("the properties of a characteristic decide which writes it accepts: both, one kind or none (CEN-21)")
    func kindsOfWrites() throws {
        let server = TestApp(AppStation(world)).peripheral()
        let properties: [UInt16] = [0x0C, 0x08, 0x04, 0x02]
        let service = LocalService(
            id: Profiles.id(1), uuid: Profiles.lock,
            characteristics: properties.enumerated().map { number, properties in
                LocalCharacteristic(
                    id: Profiles.id(UInt32(number) + 2), uuid: BluetoothUUID(UInt16(0xFFE1 + number)),
                    properties: properties, permissions: 0x03)
            })
        #expect(server.add(service) == nil)
        server.ask(.startAdvertising(AdvertisementRequest(serviceUUIDs: [Profiles.lock])))

        var controller = SimulatedControllerConfiguration()
        controller.publicAddress = DeviceAddress("C0:FF:EE:00:00:01")
        let central = TestApp(AppStation(world, seed: 2, controller: controller)).central()
        let peer = try #require(central.discover([Profiles.lock]))
        #expect(central.connect(peer))
        let list = central.explore(peer, Profiles.lock)
        #expect(list.map(\.properties) == [0x0C, 0x08, 0x04, 0x02])
        for (number, characteristic) in list.enumerated() {
            central.forget()
            server.forget()
            central.ask(.writeValue([1], characteristic: characteristic.id), of: peer)
            central.run(.seconds(1))
            if let group = server.writeRequests.first { server.ask(.respond(group.id, code: 0, value: [])) }
            central.ask(.writeWithoutResponse([2], characteristic: characteristic.id), of: peer)
            central.run(.seconds(1))
            let takesRequests = number < 2
            let takesCommands = number == 0 || number == 2
            #expect(
                central.peripheralEvents == [
                    .valueWritten(characteristic: characteristic.id, takesRequests ? nil : .att(.writeNotPermitted))
                ])
            #expect(
                server.writeRequests.flatMap(\.writes).map(\.value)
                    == (takesRequests ? [[1]] : []) + (takesCommands ? [[2]] : []))
        }
    }

    @Test("a value that is read is the value of that characteristic, whichever service holds it (MOD-5)")
    func ownValues() throws {
        let station = AppStation(world)
        var belt = Profiles.belt()
        belt.services.append(
            SimulatedService(
                Profiles.lock,
                characteristics: [
                    SimulatedCharacteristic(Profiles.lockState, [.read, .notify], value: [10]),
                    SimulatedCharacteristic(Profiles.lockName, [.read], value: [11]),
                    SimulatedCharacteristic(Profiles.bodySensorLocation, [.read], value: [12]),
                ]))
        let device = air.addPeripheral(belt)
        let central = TestApp(station).central()
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.connect(peer))
        let heart = try #require(central.explore(peer, Profiles.heartRate)[Profiles.bodySensorLocation])
        central.forget()
        let list = central.explore(peer, Profiles.lock)
        let wanted = list.reversed() + [heart]
        #expect(central.subscribe(list[0], of: peer))
        central.forget()
        for characteristic in wanted { central.ask(.readValue(characteristic: characteristic.id), of: peer) }
        air.setValue([20], of: Profiles.lockState, on: device)
        central.run(.seconds(2))
        var values: [RemoteAttributeID: [[UInt8]]] = [:]
        for case .valueUpdated(let id, let value?, nil) in central.peripheralEvents {
            values[id, default: []].append(value)
        }
        #expect(values[heart.id] == [[1]])
        #expect(values[list[1].id] == [[11]])
        #expect(values[list[2].id] == [[12]])
        #expect(Set(values[list[0].id] ?? []) == [[20]])
        #expect(values[list[0].id]?.count == 2)
    }
}
