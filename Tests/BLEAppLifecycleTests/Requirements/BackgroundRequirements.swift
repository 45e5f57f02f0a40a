import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// Requirements on what goes on behind, one by one (SPEC 1.5, 1.7).
@Suite("Requirements: background")
struct BackgroundRequirements {
    let world = World()
    let air: SimulatedAir

    init() { air = world.air }

    @Test(
        "a scan of an app without a mode stops when the app leaves the foreground, and continues when it returns (FGO-1, FGO-2)"
    )
    func scanEnds() {
        let station = AppStation(world)
        let app = TestApp(station)
        let central = app.central()
        central.ask(.scan(ScanOptions(services: [Profiles.heartRate])))
        world.run(for: .seconds(1))
        #expect(air.isScanning(station.controller))
        app.enterBackground()
        world.run(for: .seconds(1))
        #expect(!air.isScanning(station.controller), "in the background")
        world.run(for: .seconds(20))
        air.addPeripheral(Profiles.belt())
        world.run(for: .seconds(20))
        #expect(!air.isScanning(station.controller), "suspended")
        #expect(central.discoveries.isEmpty)
        app.enterForeground()
        world.run(for: .seconds(2))
        #expect(central.discoveries.count == 1)
    }

    @Test("no event wakes a suspended app without a mode, and it receives none (FGO-1)")
    func unaware() throws {
        let street = BeltAndDoor(world)
        let app = TestApp(street.station)
        let known = try street.acquaint(app)
        try street.engage(known)
        app.enterBackground()
        world.run(for: .seconds(11))
        #expect(app.actions == [.suspend])
        street.happen()
        let now = world.now
        street.station.apps { $0.setPower(false, at: now) }
        #expect(known.central.events.isEmpty)
        #expect(app.wakeCount == 0)
    }

    @Test(
        "advertising of an app without a mode stops in the background, and requests for its dynamic values are errors (FGO-3)",
        arguments: [0x02, 0x0A] as [UInt16])
    func noServer(properties: UInt16) throws {
        let station = AppStation(world)
        let app = TestApp(station)
        let manager = app.peripheral()
        let service = LocalService(
            id: Profiles.id(1), uuid: Profiles.lock,
            characteristics: [
                LocalCharacteristic(
                    id: Profiles.id(2), uuid: Profiles.lockState, properties: properties, permissions: 0x03)
            ])
        #expect(manager.add(service) == nil)
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door")))
        let remote = HostStation.remote(in: world)
        let link = try #require(remote.connect(Profiles.stationAddress))
        let value = try #require(remote.characteristics(link, Profiles.lock).first)
        app.leave()
        manager.forget()
        #expect(remote.attError(link, .read(value.valueHandle)) == .unlikelyError)
        #expect(manager.events.isEmpty)
        let late = HostStation.remote(in: world, address: DeviceAddress("C0:FF:EE:00:00:02"))
        late.submit(.radio(.scan(ScanRequest())))
        world.run(for: .seconds(5))
        #expect(late.discoveries.isEmpty)
    }

    enum Happening: CaseIterable {
        case discovery, connection, disconnection, value, state, services
    }

    @Test(
        "a suspended app with the mode is woken by every event for its delegates (BGC-2)",
        arguments: Happening.allCases)
    func woken(by happening: Happening) throws {
        let street = BeltAndDoor(world)
        let app = TestApp(street.station, modes: .central)
        let known = try street.acquaint(app)
        try street.engage(known)
        let central = known.central
        if happening == .discovery { central.ask(.scan(ScanOptions(services: [Profiles.battery]))) }
        app.leave()
        world.run(for: .seconds(60))
        #expect(app.wakeCount == 0)
        central.forget()
        switch happening {
        case .discovery:
            var scale = Profiles.belt(DeviceAddress(value: 0xC000_0000_0009, kind: .random), name: "Scale")
            scale.services = [SimulatedService(Profiles.battery)]
            air.addPeripheral(scale)
        case .connection: air.setInRange(true, street.door)
        case .disconnection: air.disconnect(street.belt)
        case .value: air.setValue([0, 90], of: Profiles.heartRateMeasurement, on: street.belt)
        case .state:
            let now = world.now
            street.station.apps { $0.setPower(false, at: now) }
        case .services: air.replaceServices([SimulatedService(Profiles.battery)], on: street.belt)
        }
        world.run(for: .seconds(5))
        #expect(app.wakeCount == 1)
        let isTold = central.events.contains { event in
            switch (happening, event) {
            case (.discovery, .discovered), (.connection, .connected), (.disconnection, .disconnected),
                (.value, .peripheral(_, .valueUpdated)), (.state, .stateChanged),
                (.services, .peripheral(_, .servicesModified)):
                true
            default: false
            }
        }
        #expect(isTold)
    }

    @Test("in the background, a scan with duplicates reports a device once however often it advertises (BGC-3)")
    func coalesced() {
        let station = AppStation(world)
        air.addPeripheral(Profiles.belt())
        let app = TestApp(station, modes: .central)
        let central = app.central()
        app.enterBackground()
        central.ask(.scan(ScanOptions(services: [Profiles.heartRate], allowsDuplicates: true)))
        world.run(for: .seconds(60))
        #expect(station.counters.advertisingReports > 20)
        #expect(central.discoveries.count == 1)
    }

    @Test("the time of a wake-up is ten seconds, not less and not more (BGX-4)")
    func tenSeconds() throws {
        let street = BeltAndDoor(world)
        let app = TestApp(street.station, modes: .central)
        try street.engage(try street.acquaint(app))
        app.leave()
        street.station.forgetOutputs()
        air.setInRange(true, street.door)
        world.run(for: .seconds(60)) { app.wakeCount == 1 }
        world.run(for: .milliseconds(9900))
        #expect(app.actions == [.resume])
        world.run(for: .milliseconds(200))
        #expect(app.actions == [.resume, .expiring])
        #expect(street.station.logs == [.wakeBudgetExceeded(strikes: 1)])
        world.run(for: .seconds(2))
        #expect(app.actions == [.resume, .expiring, .suspend])

        // Who is done before is not struck.
        world.run(for: .seconds(30))
        street.station.forgetOutputs()
        air.disconnect(street.door)
        world.run(for: .seconds(5)) { app.wakeCount == 1 }
        world.run(for: .milliseconds(9900))
        app.suspend()
        #expect(app.actions == [.resume, .suspend])
        #expect(street.station.logs.isEmpty)
    }

    @Test("after an overrun the next event wakes the app later, by a longer time each time (BGX-5)")
    func throttled() throws {
        let street = BeltAndDoor(world)
        let app = TestApp(street.station, modes: .central)
        try street.engage(try street.acquaint(app))
        app.leave()
        for seconds in [2, 4] as [Int32] {
            air.setValue([0, 90], of: Profiles.heartRateMeasurement, on: street.belt)
            world.run(for: .seconds(60)) { app.actions.last == .suspend && app.wakeCount > 0 }
            let wakes = app.wakeCount
            air.setValue([0, 91], of: Profiles.heartRateMeasurement, on: street.belt)
            world.run(for: .milliseconds(seconds * 1000 - 200))
            #expect(app.wakeCount == wakes, "\(seconds) s")
            world.run(for: .milliseconds(400))
            #expect(app.wakeCount == wakes + 1, "\(seconds) s")
        }
    }

    @Test(
        "an app terminated to free memory loses its link and its pending connection (BGX-3, LTA-3), unless they are preserved (SPR-4, SPR-13)",
        arguments: [nil, "street"])
    func ended(identifier: String?) throws {
        let street = BeltAndDoor(world)
        let app = TestApp(street.station, modes: .central)
        let known = try street.acquaint(app, ManagerOptions(restoreIdentifier: identifier))
        try street.engage(known)
        app.leave()
        app.end(.terminatedBySystem)
        world.run(for: .seconds(60))
        #expect(air.statistics(of: street.belt).isConnected == (identifier != nil))
        air.setInRange(true, street.door)
        world.run(for: .seconds(5))
        #expect(air.statistics(of: street.door).isConnected == (identifier != nil))
        #expect(app.relaunchCount == (identifier == nil ? 0 : 1))
        guard let identifier else { return }
        air.disconnect(street.belt)
        world.run(for: .seconds(1))
        app.launch(inForeground: false)
        let again = app.central(ManagerOptions(restoreIdentifier: identifier))
        #expect(again.connections == [known.door])
        #expect(again.disconnections == [.coreBluetooth(.peripheralDisconnected)])
    }
}
