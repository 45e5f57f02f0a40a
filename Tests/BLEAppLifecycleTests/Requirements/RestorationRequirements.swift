import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// Requirements on preservation that no scenario shows whole (SPEC 1.9).
@Suite("Requirements: restoration")
struct RestorationRequirements {
    let world = World()
    let air: SimulatedAir

    init() { air = world.air }

    private func named(_ identifier: String) -> ManagerOptions { ManagerOptions(restoreIdentifier: identifier) }

    @Test(
        "services, advertising and subscribers of a peripheral manager are restored completely (SPR-P1, SPR-P2, SPR-P3, SPR-12, SPR-36, PER-24)"
    )
    func peripheral() throws {
        let station = AppStation(world)
        let app = TestApp(station, modes: .peripheral)
        let manager = app.peripheral(named("door"))
        #expect(manager.add(Profiles.published) == nil)
        let advertisement = AdvertisementRequest(localName: "Door", serviceUUIDs: [Profiles.lock])
        manager.ask(.startAdvertising(advertisement))
        let remote = HostStation.remote(in: world)
        let link = try #require(remote.connect(Profiles.stationAddress))
        let list = remote.characteristics(link, Profiles.lock)
        #expect(remote.subscribe(link, list[0]))
        app.end(.crashed)
        // Fixed values need nobody.
        #expect(remote.gatt(link, .read(list[1].valueHandle)) == .value([42]))
        #expect(app.relaunchCount == 0)
        let read = remote.submit(.link(link, .gatt(.read(list[0].valueHandle))))
        world.run(for: .seconds(2))
        #expect(app.actions.last == .relaunch(LaunchOptions(peripherals: ["door"])))
        #expect(remote.results(of: read).first == nil)
        app.launch(inForeground: false)
        let again = app.peripheral(named("door"))
        guard case .willRestorePeripheral(let state)? = again.events.first else {
            Issue.record("nothing was restored")
            return
        }
        #expect(state.services == [Profiles.published])
        #expect(state.advertisement == advertisement)
        #expect(state.subscriptions.map(\.characteristic) == [Profiles.id(2)])
        #expect(state.subscriptions.first?.centrals.count == 1)
        #expect(again.states == [.poweredOn])
        let request = try #require(again.readRequests.first)
        again.ask(.respond(request.id, code: 0, value: [6]))
        world.run(for: .seconds(2))
        #expect(remote.results(of: read).first == .success(.gatt(.value([6]))))
        #expect(again.update(Profiles.id(2), [1]))
        world.run(for: .seconds(1))
        #expect(remote.notifications == [[1]])
    }

    @Test("a preserved scan finds its device and the app is launched for it (SPR-5, SPR-31, SPR-35, SPR-C1)")
    func scan() {
        let station = AppStation(world)
        let app = TestApp(station, modes: .central)
        let central = app.central(named("c"))
        let options = ScanOptions(services: [Profiles.heartRate], allowsDuplicates: true)
        central.ask(.scan(options))
        world.run(for: .seconds(1))
        app.end(.terminatedBySystem)
        world.run(for: .seconds(60))
        #expect(app.relaunchCount == 0)
        air.addPeripheral(Profiles.belt())
        world.run(for: .seconds(5))
        #expect(app.relaunchCount == 1)
        app.launch(inForeground: false)
        let again = app.central(named("c"))
        #expect(again.events.first == .willRestoreCentral(RestoredCentral(scan: options)))
        #expect(again.discoveries.map(\.peer.name) == ["Belt"])
    }

    @Test(
        "only managers with activity are named at launch; each is restored by its own identifier (SPR-2, SPR-3, SPR-7, SPR-8, SPR-16)"
    )
    func several() {
        let station = AppStation(world)
        let app = TestApp(station, modes: [.central, .peripheral])
        let busy = app.central(named("busy"))
        _ = app.central(named("idle"))
        let server = app.peripheral(named("busy"))
        let services = [Profiles.heartRate]
        busy.ask(.scan(ScanOptions(services: services)))
        #expect(server.add(Profiles.published) == nil)
        app.end(.crashed)
        air.addPeripheral(Profiles.belt())
        world.run(for: .seconds(5))
        #expect(app.actions.last == .relaunch(LaunchOptions(centrals: ["busy"], peripherals: ["busy"])))
        app.launch(inForeground: false)
        #expect(app.central(named("idle")).events == [.stateChanged(.poweredOn, .allowedAlways)])
        let back = app.peripheral(named("busy"))
        #expect(back.events.count == 2)
        #expect(app.central(named("busy")).discoveries.count == 1)
    }

    @Test("without anything to restore the state comes first (SPR-10), the next launch by the user restores too")
    func byUser() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let app = TestApp(station, modes: .central)
        let central = app.central(named("c"))
        #expect(central.events == [.stateChanged(.poweredOn, .allowedAlways)])
        let peer = try #require(central.discover([Profiles.heartRate]))
        air.setAdvertising(false, of: belt)
        central.ask(.connect(peer, ConnectOptions()))
        app.end(.exited)
        app.launch(inForeground: true)
        #expect(app.launchOptions.isEmpty)
        let again = app.central(named("c"))
        guard case .willRestoreCentral? = again.events.first else {
            Issue.record("nothing was restored")
            return
        }
        #expect(again.events.last == .stateChanged(.poweredOn, .allowedAlways))
        again.ask(.cancelConnection(peer))
        app.end(.exited)
        app.launch(inForeground: true)
        #expect(app.central(named("c")).events == [.stateChanged(.poweredOn, .allowedAlways)])
    }

    @Test(
        "an identifier without the mode, or one that is taken, preserves nothing and is reported (SPR-2, SPR-32)"
    )
    func misuse() {
        let station = AppStation(world)
        let foreground = TestApp(station, "org.example.foreground")
        let manager = foreground.peripheral(named("p"))
        #expect(station.logs == [.restorationWithoutBackgroundMode(.peripheral)])
        #expect(manager.states == [.poweredOn])
        #expect(manager.add(Profiles.published) == nil)
        foreground.end(.crashed)
        #expect(AppStation.state(in: station.journal).managers.isEmpty)

        let app = TestApp(station, modes: .central)
        _ = app.central(named("c"))
        _ = app.central(named("c"))
        #expect(station.logs.last == .duplicateRestoreIdentifier(.central, "c"))
        #expect(
            LogMessage.restorationWithoutBackgroundMode(.central).text
                == "State restoration of CBCentralManager is only allowed for applications that have specified the "
                + "\"bluetooth-central\" background mode")
        #expect(
            LogMessage.restorationWithoutIdentifier(.central).text
                == "API MISUSE: CBCentralManager has no restore identifier but the delegate implements the "
                + "centralManager:willRestoreState: method. Restoring will not be supported")
    }

    @Test(
        "a manager that is restored before Bluetooth is on gets its peripherals first, and commands are dropped until then (SPR-34)"
    )
    func beforePower() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let app = TestApp(station, modes: .central)
        let central = app.central(named("c"))
        let peer = try #require(central.discover([Profiles.heartRate]))
        air.setAdvertising(false, of: belt)
        central.ask(.connect(peer, ConnectOptions()))
        world.remove(station)
        air.closeTransport(of: station.controller)
        let again = AppStation(world, journal: station.journal, seed: 2, starts: false)
        let same = TestApp(again, modes: .central)
        let restored = same.central(named("c"))
        #expect(restored.events.count == 1)
        #expect(restored.states.isEmpty)
        restored.ask(.cancelConnection(peer))
        #expect(again.logs == [.notPoweredOn(.central)])
        again.start()
        #expect(restored.states == [.poweredOn])
        air.setAdvertising(true, of: belt)
        restored.run(.seconds(5))
        #expect(restored.connections == [peer])
    }

    @Test("services of an app that is not preserved leave the database with it (SPR-1, BGX-3)")
    func leaves() throws {
        let station = AppStation(world)
        let app = TestApp(station, modes: .peripheral)
        let manager = app.peripheral()
        #expect(manager.add(Profiles.published) == nil)
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door")))
        let remote = HostStation.remote(in: world)
        let link = try #require(remote.connect(Profiles.stationAddress))
        #expect(remote.characteristics(link, Profiles.lock).count == 2)
        app.end(.terminatedBySystem)
        #expect(remote.characteristics(link, Profiles.lock).isEmpty)
        world.run(for: .seconds(1))
        #expect(station.commands(LESetExtendedAdvertisingEnable.opcode).last?.first == 0)
    }

    @Test(
        "of two managers that do the same, the one with an identifier is preserved and the other is not (SPR-1, SPR-3)"
    )
    func chosen() throws {
        let street = BeltAndDoor(world)
        let app = TestApp(street.station, modes: .central)
        let kept = app.central(named("kept"))
        let lost = app.central()
        let belt = try #require(lost.discover([Profiles.heartRate]))
        let door = try #require(kept.discover([Profiles.lock]))
        #expect(kept.connect(door))
        #expect(lost.connect(belt))
        app.end(.terminatedBySystem)
        world.run(for: .seconds(5))
        #expect(air.statistics(of: street.door).isConnected)
        #expect(!air.statistics(of: street.belt).isConnected)
        app.launch(inForeground: true)
        #expect(app.central().events == [.stateChanged(.poweredOn, .allowedAlways)])
        guard case .willRestoreCentral(let state)? = app.central(named("kept")).events.first else {
            Issue.record("nothing was restored")
            return
        }
        #expect(state.peripherals.map(\.description.identifier) == [door])
    }

    @Test(
        "whether an event brings an app back depends on how it ended (SPR-30)",
        arguments: [ProcessEnd.terminatedBySystem, .crashed, .exited, .forceQuit])
    func relaunchTable(end: ProcessEnd) throws {
        let street = BeltAndDoor(world)
        let app = TestApp(street.station, modes: .central)
        try street.engage(try street.acquaint(app, named("c")))
        app.leave()
        app.end(end)
        street.happen()
        #expect(app.relaunchCount == (end == .forceQuit ? 0 : 1))
        #expect(app.wakeCount == 0)
    }

    @Test("an app suspended in memory is resumed, not launched (SPR-30)")
    func resumed() throws {
        let street = BeltAndDoor(world)
        let app = TestApp(street.station, modes: .central)
        try street.engage(try street.acquaint(app, named("c")))
        app.leave()
        street.happen()
        #expect(app.wakeCount == 1)
        #expect(app.relaunchCount == 0)
    }

    enum Pending: CaseIterable { case none, scan, connection, subscription, advertising }

    @Test(
        "an app is relaunched when an event of its pending work happens, and not before (SPR-5, SPR-31)",
        arguments: Pending.allCases)
    func onlyForItsTask(task: Pending) throws {
        let street = BeltAndDoor(world)
        let app = TestApp(street.station, modes: [.central, .peripheral])
        let known = try street.acquaint(app, named("c"))
        let central = known.central
        let server = app.peripheral(named("p"))
        var remote: HostStation?
        switch task {
        case .none: break
        case .scan: central.ask(.scan(ScanOptions(services: [Profiles.battery])))
        case .connection:
            air.setInRange(false, street.door)
            central.ask(.connect(known.door, ConnectOptions()))
        case .subscription:
            #expect(central.connect(known.belt))
            let list = central.explore(known.belt, Profiles.heartRate)
            #expect(central.subscribe(try #require(list[Profiles.heartRateMeasurement]), of: known.belt))
        case .advertising:
            #expect(server.add(Profiles.published) == nil)
            server.ask(.startAdvertising(AdvertisementRequest(serviceUUIDs: [Profiles.lock])))
            remote = HostStation.remote(in: world)
        }
        world.run(for: .seconds(1))
        app.leave()
        app.end(.terminatedBySystem)
        world.run(for: .seconds(3600))
        #expect(app.relaunchCount == 0)

        // Everything happens that any of these tasks could wait for.
        var scale = Profiles.belt(DeviceAddress(value: 0xC000_0000_0009, kind: .random), name: "Scale")
        scale.services = [SimulatedService(Profiles.battery)]
        air.addPeripheral(scale)
        air.setInRange(true, street.door)
        air.setValue([0, 90], of: Profiles.heartRateMeasurement, on: street.belt)
        if let remote {
            let link = try #require(remote.connect(Profiles.stationAddress))
            #expect(app.relaunchCount == 0, "a link is nothing that the app hears of")
            #expect(remote.subscribe(link, try #require(remote.characteristics(link, Profiles.lock).first)))
        }
        world.run(for: .seconds(5))
        #expect(app.relaunchCount == (task == .none ? 0 : 1))
    }

    @Test(
        "services are published and restored as they were, with all their contents, after a restart too (SPR-P1, SPR-P2, SPR-36)"
    )
    func whole() throws {
        let station = AppStation(world)
        let manager = TestApp(station, modes: .peripheral).peripheral(named("p"))
        let battery = LocalService(
            id: Profiles.id(1), uuid: Profiles.battery, isPrimary: false,
            characteristics: [
                LocalCharacteristic(
                    id: Profiles.id(2), uuid: Profiles.batteryLevel, properties: 0x02, permissions: 0x01, value: [90],
                    descriptors: [
                        LocalDescriptor(id: Profiles.id(3), uuid: BluetoothUUID(UInt16(0x2901)), value: [65, 66])
                    ])
            ])
        let heart = LocalService(
            id: Profiles.id(4), uuid: Profiles.heartRate, includedServices: [battery.id],
            characteristics: [
                LocalCharacteristic(
                    id: Profiles.id(5), uuid: Profiles.controlPoint, properties: 0x208, permissions: 0x08)
            ])
        #expect(manager.add(battery) == nil)
        #expect(manager.add(heart) == nil)
        let advertisement = AdvertisementRequest(localName: "Heart", serviceUUIDs: [Profiles.heartRate])
        manager.ask(.startAdvertising(advertisement))
        world.run(for: .seconds(1))
        world.remove(station)
        air.closeTransport(of: station.controller)

        let again = AppStation(world, journal: station.journal, seed: 2)
        let app = TestApp(again, modes: .peripheral, launches: false)
        let remote = HostStation.remote(in: world)
        let link = try #require(remote.connect(Profiles.stationAddress))
        guard case .services(let found)? = remote.gatt(link, .discoverServices(uuids: [Profiles.heartRate])),
            let service = found.first,
            case .includedServices(let inner)? = remote.gatt(link, .discoverIncludedServices(service.range))
        else {
            Issue.record("the services are not back")
            return
        }
        #expect(inner.map(\.uuid) == [Profiles.battery])
        app.launch(inForeground: true)
        guard case .willRestorePeripheral(let state)? = app.peripheral(named("p")).events.first else {
            Issue.record("nothing was restored")
            return
        }
        #expect(state.services == [battery, heart])
        #expect(state.advertisement == advertisement)
    }
}
