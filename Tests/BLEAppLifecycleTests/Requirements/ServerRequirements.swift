import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// Requirements on what an app publishes, one by one (SPEC 1.3, 1.12).
@Suite("Requirements: server")
struct ServerRequirements {
    let world = World()

    private func service(_ properties: UInt16, _ permissions: UInt8, id: UInt32 = 1) -> LocalService {
        LocalService(
            id: Profiles.id(id), uuid: Profiles.lock,
            characteristics: [
                LocalCharacteristic(
                    id: Profiles.id(id + 1), uuid: Profiles.lockState, properties: properties, permissions: permissions)
            ])
    }

    /// A manager that advertises one characteristic, and a central that has found it.
    private func serving(
        _ properties: UInt16, _ permissions: UInt8
    ) throws -> (manager: TestManager, remote: HostStation, link: LinkID, value: DiscoveredCharacteristic) {
        let manager = TestApp(AppStation(world)).peripheral()
        #expect(manager.add(service(properties, permissions)) == nil)
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door")))
        let remote = HostStation.remote(in: world)
        let link = try #require(remote.connect(Profiles.stationAddress))
        return (manager, remote, link, try #require(remote.characteristics(link, Profiles.lock).first))
    }

    @Test("an app has as many services, attributes and channels as the settings allow, in all its managers together")
    func limits() {
        var settings = LifecycleSettings()
        (settings.servicesOfApp, settings.attributesOfApp, settings.channelsOfApp) = (3, 11, 2)
        let station = AppStation(world, settings: settings)
        let app = TestApp(station)
        let (one, two) = (app.peripheral(), app.peripheral())
        let full = ClientError.coreBluetooth(.outOfSpace)
        // A service with one characteristic counts as five attributes.
        #expect(one.add(service(0x02, 0x01)) == nil && two.add(service(0x02, 0x01, id: 3)) == nil)
        #expect(one.add(service(0x02, 0x01, id: 5)) == full)
        let small = LocalService(id: Profiles.id(7), uuid: Profiles.lock)
        #expect(one.add(small) == nil && two.add(LocalService(id: Profiles.id(8), uuid: Profiles.lock)) == full)
        one.ask(.removeService(small.id))
        #expect(two.add(LocalService(id: Profiles.id(9), uuid: Profiles.lock)) == nil)
        for manager in [one, two, one] { manager.ask(.publishChannel(isEncrypted: false)) }
        let told = (one.events + two.events).compactMap { event -> ClientError?? in
            if case .channelPublished(_, let error) = event { .some(error) } else { nil }
        }
        #expect(told.count == 3 && told.count { $0 == full } == 1)
        // Another app has its own.
        #expect(TestApp(station, "org.example.other").peripheral().add(service(0x02, 0x01)) == nil)
        let isLogged = station.logs.contains { if case .appLimitReached = $0 { true } else { false } }
        #expect(isLogged)
    }

    @Test("what apps have together is counted, and what their owner refuses is answered like what is too much for one")
    func together() {
        let station = AppStation(world)
        let (one, two) = (TestApp(station, "org.example.one"), TestApp(station, "org.example.two"))
        let (manager, central) = (one.peripheral(), two.central())
        _ = one.central()
        let added = service(0x02, 0x01)
        #expect(manager.add(added) == nil)
        manager.ask(.publishChannel(isEncrypted: false))
        central.ask(.scan(ScanOptions(services: [Profiles.heartRate])))
        var all = AppUse()
        (all.managers, all.scans, all.channels) = (3, 1, 1)
        (all.services, all.attributes) = (1, added.attributeCount)
        #expect(station.apps { $0.use(of: [one.id, two.id]) } == all)
        (all.managers, all.scans) = (2, 0)
        #expect(station.apps { $0.use(of: [one.id]) } == all)

        func demand(_ request: ClientRequest, _ manager: UInt32 = 9) -> AppUse {
            station.apps { $0.demand(of: request, from: ManagerID(rawValue: manager), of: two.id) }
        }
        // A scan takes the place of the manager's earlier one.
        let scan = ClientRequest.central(.scan(ScanOptions()))
        #expect(demand(scan).scans == 1 && demand(scan, central.id.rawValue) == AppUse())
        let more = service(0x02, 0x01, id: 3)
        #expect(demand(.peripheral(.addService(more))).attributes == added.attributeCount)
        #expect(demand(.createCentral(ManagerOptions())).managers == 1)

        func refuse(_ request: ClientRequest, _ manager: TestManager) -> ClientEvent? {
            station.apps { $0.refuse(request, from: manager.id, of: manager.app.id, at: world.now) }
            return manager.events.last
        }
        let full = ClientError.coreBluetooth(.outOfSpace)
        let peer = PeerIdentifier(high: 1, low: 1)
        #expect(refuse(.peripheral(.addService(more)), manager) == .serviceAdded(more.id, full))
        #expect(
            refuse(.peripheral(.publishChannel(isEncrypted: false)), manager) == .channelPublished(psm: 0, full))
        #expect(
            refuse(.central(.peripheral(peer, .openChannel(psm: 0x80))), central)
                == .peripheral(peer, .channelOpened(nil, psm: 0x80, full)))
        _ = refuse(scan, central)
        let logs = ["services or attributes", "channels", "channels", "scans"].map { LogMessage.sharedLimitReached($0) }
        #expect(station.logs == logs)
        #expect(station.apps { $0.use(of: [one.id]) } == all)
    }

    @Test(
        "eight properties may be published and are seen by centrals, the encrypted ones as what they encrypt (PER-4)",
        arguments: [
            (0x02, 0x02), (0x04, 0x04), (0x08, 0x08), (0x10, 0x10), (0x20, 0x20), (0x40, 0x40), (0x100, 0x10),
            (0x200, 0x20),
        ] as [(UInt16, UInt8)])
    func allowed(property: UInt16, octet: UInt8) throws {
        let (_, remote, link, value) = try serving(property, 0x03)
        #expect(value.properties.rawValue == octet)
        // Who is not paired cannot subscribe to the encrypted ones.
        guard octet & 0x30 != 0 else { return }
        #expect(remote.subscribe(link, value) == (property < 0x100))
    }

    @Test(
        "broadcast and extended properties may not be published, alone or with others (PER-4)",
        arguments: [0x01, 0x80, 0x03, 0x82] as [UInt16])
    func notAllowed(properties: UInt16) {
        let manager = TestApp(AppStation(world)).peripheral()
        #expect(manager.add(service(properties, 0x01)) == .coreBluetooth(.invalidParameters))
    }

    /// What a central that is not paired may do: `nil` where the app is asked.
    private struct Access: Sendable {
        var permissions: UInt8
        var read: ATTError?
        var write: ATTError?
    }

    @Test(
        "each permission allows one kind of access, the encrypted ones only to paired centrals (PER-5)",
        arguments: [0x01, 0x02, 0x04, 0x08] as [UInt8])
    func permissions(permission: UInt8) throws {
        let accesses = [
            Access(permissions: 0x01, read: nil, write: .writeNotPermitted),
            Access(permissions: 0x02, read: .readNotPermitted, write: nil),
            Access(permissions: 0x04, read: .insufficientAuthentication, write: .writeNotPermitted),
            Access(permissions: 0x08, read: .readNotPermitted, write: .insufficientAuthentication),
        ]
        let access = try #require(accesses.first { $0.permissions == permission })
        let (manager, remote, link, value) = try serving(0x0A, permission)
        if let error = access.read {
            #expect(remote.attError(link, .read(value.valueHandle)) == error)
        } else {
            let operation = remote.submit(.link(link, .gatt(.read(value.valueHandle))))
            manager.wait { if case .readRequest = $0 { true } else { false } }
            manager.ask(.respond(try #require(manager.readRequests.first).id, code: 0, value: [4]))
            world.run(for: .seconds(2))
            #expect(remote.results(of: operation).first == .success(.gatt(.value([4]))))
        }
        if let error = access.write {
            #expect(remote.attError(link, .write(value.valueHandle, value: [5])) == error)
        } else {
            let operation = remote.submit(.link(link, .gatt(.write(value.valueHandle, value: [5]))))
            manager.wait { if case .writeRequests = $0 { true } else { false } }
            let group = try #require(manager.writeRequests.first)
            #expect(group.writes.map(\.value) == [[5]])
            manager.ask(.respond(group.id, code: 0, value: []))
            world.run(for: .seconds(2))
            #expect(remote.results(of: operation).first == .success(.gatt(.written)))
        }
        #expect(manager.readRequests.count == (access.read == nil ? 1 : 0))
        #expect(manager.writeRequests.count == (access.write == nil ? 1 : 0))
    }

    @Test("an update goes to all subscribers, or to those that are named, and to no one else (PER-21)")
    func updates() throws {
        let station = AppStation(world)
        let manager = TestApp(station).peripheral()
        #expect(manager.add(Profiles.published) == nil)
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door")))
        var remotes: [HostStation] = []
        for number in 1...3 {
            let remote = HostStation.remote(in: world, address: DeviceAddress("C0:FF:EE:00:00:0\(number)"))
            let link = try #require(remote.connect(Profiles.stationAddress))
            let list = remote.characteristics(link, Profiles.lock)
            // The third is connected and has not subscribed.
            if number < 3 { #expect(remote.subscribe(link, try #require(list.first))) }
            remotes.append(remote)
        }
        world.run(for: .seconds(1))
        var subscribers: [PeerIdentifier] = []
        for case .subscribed(let central, Profiles.id(2)) in manager.events { subscribers.append(central.identifier) }
        try #require(subscribers.count == 2)
        func update(_ value: UInt8, _ centrals: [PeerIdentifier]?) {
            manager.ask(
                .updateValue(QueryID(rawValue: UInt32(value)), Profiles.id(2), value: [value], centrals: centrals))
            world.run(for: .seconds(1))
        }
        update(1, nil)
        update(2, [subscribers[1]])
        update(3, [subscribers[0]])
        update(4, subscribers)
        #expect(remotes[0].notifications == [[1], [3], [4]])
        #expect(remotes[1].notifications == [[1], [2], [4]])
        #expect(remotes[2].notifications.isEmpty)
    }

    @Test("a refused subscription pairs and is repeated, like a refused read (SEC-1, SEC-2, SEC-4)")
    func subscribesEncrypted() throws {
        let configuration = HostConfiguration(hasCryptoProvider: true)
        let station = AppStation(world, configuration: configuration)
        let manager = TestApp(station).peripheral()
        #expect(manager.add(service(0x02 | 0x10 | 0x100, 0x04)) == nil)
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door")))
        let remote = HostStation.remote(in: world, configuration: configuration)
        let link = try #require(remote.connect(Profiles.stationAddress))
        let value = try #require(remote.characteristics(link, Profiles.lock).first)
        #expect(remote.subscribe(link, value))
        #expect(remote.events.contains { if case .encryptionChanged = $0 { true } else { false } })
        #expect(manager.update(Profiles.id(2), [1]))
        world.run(for: .seconds(1))
        #expect(remote.notifications == [[1]])
    }

    @Test("nothing is advertised after an error, and its reason is reported (PER-9)")
    func refusedAdvertising() {
        let station = AppStation(world)
        let manager = TestApp(station).peripheral()
        let remote = HostStation.remote(in: world)
        remote.submit(.radio(.scan(ScanRequest())))
        manager.ask(
            .startAdvertising(
                AdvertisementRequest(localName: "Door", unsupportedKeys: ["kCBAdvDataManufacturerData"])))
        world.run(for: .seconds(5))
        #expect(manager.events.last == .advertisingStarted(.coreBluetooth(.invalidParameters)))
        #expect(station.logs == [.advertisementKeyNotAllowed("kCBAdvDataManufacturerData")])
        #expect(remote.discoveries.isEmpty)
    }
}
