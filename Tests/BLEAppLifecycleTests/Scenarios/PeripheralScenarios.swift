import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// The acceptance scenarios of the peripheral role (SPEC appendix B).
@Suite("Scenarios: peripheral")
struct PeripheralScenarios {
    let world = World()

    /// An app that publishes a service, and a central that is connected to it.
    private func serving(
        modes: BackgroundModes = [], attMTU: UInt16 = 517
    ) throws -> (
        app: TestApp, manager: TestManager, remote: HostStation, link: LinkID, list: [DiscoveredCharacteristic]
    ) {
        let station = AppStation(world)
        let app = TestApp(station, modes: modes)
        let manager = app.peripheral()
        #expect(manager.add(Profiles.published) == nil)
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door", serviceUUIDs: [Profiles.lock])))
        var timing = Timing.gateway
        timing.attMTU = attMTU
        let remote = HostStation.remote(in: world, configuration: HostConfiguration(timing: timing))
        let link = try #require(remote.connect(Profiles.stationAddress))
        let list = remote.characteristics(link, Profiles.lock)
        #expect(list.count == 2)
        manager.forget()
        return (app, manager, remote, link, list)
    }

    @Test(
        "scenario 15: at the end of a value the answer is empty, beyond it the offset is invalid (PER-13, PER-14, PER-15, PER-16)"
    )
    func scenario15() throws {
        let (_, manager, remote, link, list) = try serving()
        let value: [UInt8] = [1, 2, 3]
        func read(from offset: UInt16) -> Result<HostResult, HostFailure>? {
            let operation = remote.submit(.link(link, .gatt(.readLong(list[0].valueHandle, offset: offset))))
            let before = manager.readRequests.count
            world.run(for: .seconds(5)) { manager.readRequests.count > before }
            guard let request = manager.readRequests.last else { return nil }
            #expect(request.characteristic == Profiles.id(2))
            #expect(request.offset == Int(offset))
            let isIn = request.offset <= value.count
            manager.ask(
                .respond(request.id, code: isIn ? 0 : 7, value: isIn ? Array(value.dropFirst(request.offset)) : []))
            world.run(for: .seconds(5)) { !remote.results(of: operation).isEmpty }
            return remote.results(of: operation).first
        }
        #expect(read(from: 1) == .success(.gatt(.value([2, 3]))))
        #expect(read(from: 3) == .success(.gatt(.value([]))))
        #expect(read(from: 4) == .failure(.gatt(.att(.invalidOffset, handle: list[0].valueHandle))))
        // A fixed value is answered without the app (PER-3).
        #expect(remote.gatt(link, .read(list[1].valueHandle)) == .value([42]))
        #expect(manager.readRequests.count == 3)
    }

    @Test(
        "scenario 16: prepared writes to two values are one request with one answer; if it is refused, nothing is written (PER-17, PER-18, PER-19)"
    )
    func scenario16() throws {
        let station = AppStation(world)
        let manager = TestApp(station).peripheral()
        var service = Profiles.published
        service.characteristics[1] = LocalCharacteristic(
            id: Profiles.id(3), uuid: Profiles.lockName, properties: 0x0A, permissions: 0x03)
        #expect(manager.add(service) == nil)
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door")))
        let remote = HostStation.remote(in: world)
        let link = try #require(remote.connect(Profiles.stationAddress))
        let list = remote.characteristics(link, Profiles.lock)
        let writes = [
            AttributeWrite(handle: list[0].valueHandle, value: [1, 2]),
            AttributeWrite(handle: list[1].valueHandle, value: [3]),
        ]
        for code in [UInt8(0), 0x80] {
            let operation = remote.submit(.link(link, .gatt(.reliableWrite(writes))))
            let before = manager.writeRequests.count
            world.run(for: .seconds(5)) { manager.writeRequests.count > before }
            #expect(manager.writeRequests.count == before + 1)
            let group = try #require(manager.writeRequests.last)
            #expect(group.writes.map(\.characteristic) == [Profiles.id(2), Profiles.id(3)])
            #expect(group.writes.map(\.value) == [[1, 2], [3]])
            manager.ask(.respond(group.id, code: code, value: []))
            world.run(for: .seconds(5)) { !remote.results(of: operation).isEmpty }
            if code == 0 {
                #expect(remote.results(of: operation).first == .success(.gatt(.written)))
            } else {
                guard case .failure(.gatt(.att(let error, _)))? = remote.results(of: operation).first else {
                    Issue.record("the refusal did not arrive")
                    continue
                }
                #expect(error.rawValue == code)
            }
        }
    }

    @Test("scenario 17: a second answer is reported as misuse; no answer in 30 s ends the link (PER-16)")
    func scenario17() throws {
        let (app, manager, remote, link, list) = try serving()
        let operation = remote.submit(.link(link, .gatt(.read(list[0].valueHandle))))
        manager.wait { if case .readRequest = $0 { true } else { false } }
        let request = try #require(manager.readRequests.first)
        manager.ask(.respond(request.id, code: 0, value: [5]))
        manager.ask(.respond(request.id, code: 0, value: [6]))
        #expect(app.station.logs == [.requestAlreadyAnswered])
        world.run(for: .seconds(2))
        #expect(remote.results(of: operation).first == .success(.gatt(.value([5]))))

        remote.submit(.link(link, .gatt(.read(list[0].valueHandle))))
        world.run(for: .seconds(31))
        #expect(app.station.logs.last == .requestNotAnswered)
        world.run(for: .seconds(2))
        #expect(remote.events.contains { if case .disconnected(link, _, _) = $0 { true } else { false } })
    }

    @Test(
        "scenario 18: a full queue refuses updates and reports room once; a long value is truncated (PER-20, PER-21, PER-22, PER-23)"
    )
    func scenario18() throws {
        let (_, manager, remote, link, list) = try serving(attMTU: 50)
        // Who has not subscribed gets nothing.
        #expect(manager.update(Profiles.id(2), [0]))
        #expect(remote.subscribe(link, list[0]))
        manager.wait { if case .subscribed(_, Profiles.id(2)) = $0 { true } else { false } }
        var subscriber: CentralDescription?
        for case .subscribed(let central, _) in manager.events { subscriber = central }
        #expect(subscriber?.maximumUpdateLength == 47)
        var taken = 0
        while taken < 1000, manager.update(Profiles.id(2), [UInt8(taken & 0xFF)], number: UInt32(taken + 10)) {
            taken += 1
        }
        #expect(taken > 1 && taken < 1000)
        #expect(manager.readinessCount == 0)
        world.run(for: .seconds(5))
        #expect(manager.readinessCount == 1)
        #expect(remote.notifications.count == taken)
        #expect(manager.update(Profiles.id(2), [UInt8](repeating: 9, count: 100), number: 5000))
        world.run(for: .seconds(2))
        #expect(remote.notifications.count == taken + 1)
        #expect(remote.notifications.last == [UInt8](repeating: 9, count: 47))
        #expect(manager.readinessCount == 1)
    }

    @Test("scenario 19: what cannot be published is refused with its reason (PER-3, PER-4, PER-5, PER-6, PER-7)")
    func scenario19() {
        let station = AppStation(world)
        let manager = TestApp(station).peripheral()
        #expect(manager.add(Profiles.published) == nil)
        var changed = Profiles.published
        changed.characteristics.removeLast()
        #expect(manager.add(changed) == .coreBluetooth(.invalidParameters))
        let cached = LocalService(
            id: Profiles.id(10), uuid: Profiles.battery,
            characteristics: [
                LocalCharacteristic(
                    id: Profiles.id(11), uuid: Profiles.batteryLevel, properties: 0x0A, permissions: 0x03, value: [1])
            ])
        #expect(manager.add(cached) == .coreBluetooth(.invalidParameters))
        let including = LocalService(
            id: Profiles.id(20), uuid: Profiles.battery, includedServices: [Profiles.id(21)])
        #expect(manager.add(including) == .coreBluetooth(.invalidParameters))
        let included = LocalService(id: Profiles.id(21), uuid: Profiles.battery, isPrimary: false)
        #expect(manager.add(included) == nil)
        #expect(manager.add(including) == nil)
        let broadcast = LocalService(
            id: Profiles.id(30), uuid: Profiles.battery,
            characteristics: [
                LocalCharacteristic(
                    id: Profiles.id(31), uuid: Profiles.batteryLevel, properties: 0x03, permissions: 0x01)
            ])
        #expect(manager.add(broadcast) == .coreBluetooth(.invalidParameters))
        for reserved in ["7905F431-B5CE-4E99-A40F-4B1E122D00D0", "1800", "1801"] {
            guard let uuid = BluetoothUUID(reserved) else { continue }
            let service = LocalService(id: Profiles.id(40), uuid: uuid)
            #expect(manager.add(service) == .coreBluetooth(.uuidNotAllowed), "\(reserved)")
        }
    }

    @Test("scenario 20: another key is refused, and so is a second start (PER-8, PER-9, PER-10, PER-12)")
    func scenario20() {
        let station = AppStation(world)
        let manager = TestApp(station).peripheral()
        let remote = HostStation.remote(in: world)
        remote.submit(.radio(.scan(ScanRequest())))
        manager.ask(.startAdvertising(AdvertisementRequest(unsupportedKeys: ["kCBAdvDataTxPowerLevel"])))
        world.run(for: .seconds(2))
        #expect(manager.events.last == .advertisingStarted(.coreBluetooth(.invalidParameters)))
        #expect(remote.discoveries.isEmpty)
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door", serviceUUIDs: [Profiles.lock])))
        world.run(for: .seconds(2))
        #expect(manager.events.last == .advertisingStarted(nil))
        #expect(remote.discoveries.count == 1)
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door")))
        #expect(manager.events.last == .advertisingStarted(.coreBluetooth(.alreadyAdvertising)))
        manager.ask(.stopAdvertising)
        world.run(for: .seconds(1))
        #expect(station.commands(LESetExtendedAdvertisingEnable.opcode).last?.first == 0)
    }

    @Test(
        "scenario 21: in the background, neither name nor service is visible, and all services are in the overflow area (ADV-3, ADV-4, BGP-2, BGP-3, BGP-4, BGP-5)"
    )
    func scenario21() {
        let station = AppStation(world)
        let app = TestApp(station, modes: .peripheral)
        let manager = app.peripheral()
        let remote = HostStation.remote(in: world)
        remote.submit(.radio(.scan(ScanRequest())))
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door", serviceUUIDs: [Profiles.lock])))
        world.run(for: .seconds(2))
        #expect(remote.discoveries.last?.advertisement == [2, 1, 6, 3, 3, 0xE0, 0xFF, 5, 9] + Array("Door".utf8))
        func interval() -> UInt8 { station.commands(LESetExtendedAdvertisingParameters.opcode).last?[3] ?? 0 }
        let inFront = interval()
        app.enterBackground()
        world.run(for: .seconds(3))
        let mask = OverflowArea(hashing: [Profiles.lock])
        let octets = remote.discoveries.last?.advertisement ?? []
        let data = AdvertisingData(advertisement: octets.span.bytes)
        #expect(data.localName == nil)
        #expect(data.serviceUUIDs.isEmpty)
        #expect(data.overflowArea == mask)
        #expect(interval() > inFront)
        app.suspend()
        world.run(for: .seconds(3))
        #expect(remote.discoveries.count == 2, "what is suspended with the mode is still advertised")
        app.enterForeground()
        world.run(for: .seconds(2))
        #expect(remote.discoveries.count == 3)
        #expect(interval() == inFront)
    }

    @Test(
        "scenario 26: in the background without the mode, services can be discovered but not read, and nothing is advertised (FGO-3)"
    )
    func scenario26() throws {
        let (app, manager, remote, link, list) = try serving()
        app.enterBackground()
        world.run(for: .seconds(1))
        #expect(remote.characteristics(link, Profiles.lock).count == 2)
        #expect(remote.attError(link, .read(list[0].valueHandle)) == .unlikelyError)
        #expect(remote.attError(link, .read(list[1].valueHandle)) == .unlikelyError)
        #expect(remote.attError(link, .write(list[0].valueHandle, value: [1])) == .unlikelyError)
        #expect(manager.events.isEmpty)
        #expect(app.station.commands(LESetExtendedAdvertisingEnable.opcode).last?.first == 0)
        app.enterForeground()
        #expect(remote.gatt(link, .read(list[1].valueHandle)) == .value([42]))
    }
}
