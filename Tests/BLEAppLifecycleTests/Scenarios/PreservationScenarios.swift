import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// The acceptance scenarios of preservation, wake-ups and power (SPEC appendix B).
@Suite("Scenarios: preservation")
struct PreservationScenarios {
    let world = World()
    let air: SimulatedAir

    init() { air = world.air }

    private let restoring = ManagerOptions(restoreIdentifier: "lock")

    /// An app that waits for a belt which is away.
    private func waiting(
        _ station: AppStation, _ belt: SimulatedDeviceID, _ options: ManagerOptions
    ) throws -> (
        app: TestApp, peer: PeerIdentifier
    ) {
        let app = TestApp(station, modes: .central)
        let central = app.central(options)
        let peer = try #require(central.discover([Profiles.heartRate]))
        air.setAdvertising(false, of: belt)
        central.ask(.connect(peer, ConnectOptions()))
        central.run(.seconds(1))
        station.forgetOutputs()
        return (app, peer)
    }

    @Test(
        "scenario 7: the app is gone for thirty days, then it is relaunched and gets: restored state, state, connection (LTA-2, SPR-4, SPR-5, SPR-6, SPR-7, SPR-8, SPR-10, SPR-11, SPR-13, SPR-C2)",
        arguments: [ProcessEnd.terminatedBySystem, .crashed, .exited])
    func scenario7(end: ProcessEnd) throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let (app, peer) = try waiting(station, belt, restoring)
        app.leave()
        app.end(end)
        for _ in 0..<30 { world.run(for: .seconds(86_400)) }
        #expect(app.relaunchCount == 0)
        air.setAdvertising(true, of: belt)
        world.run(for: .seconds(5))
        #expect(app.actions.last == .relaunch(LaunchOptions(centrals: ["lock"])))
        app.launch(inForeground: false)
        #expect(app.launchOptions == LaunchOptions(centrals: ["lock"]))
        let central = app.central(restoring)
        let kinds = central.events.map { event -> Int in
            switch event {
            case .willRestoreCentral: 0
            case .stateChanged(.poweredOn, _): 1
            case .connected: 2
            default: 3
            }
        }
        #expect(kinds.prefix(3) == [0, 1, 2])
        guard case .willRestoreCentral(let restored)? = central.events.first else {
            Issue.record("nothing was restored")
            return
        }
        #expect(restored.peripherals.map(\.description.identifier) == [peer])
        #expect(restored.peripherals.map(\.description.state) == [.connecting])
        #expect(restored.scan == nil)
    }

    @Test("scenario 8: without an identifier the pending connection ends with the app (LTA-3, SPR-1, BGX-3)")
    func withoutIdentifier() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let (app, _) = try waiting(station, belt, ManagerOptions())
        app.end(.terminatedBySystem)
        world.run(for: .seconds(1))
        let cancels = station.commands(LECreateConnectionCancel.opcode).count
        #expect(cancels == 1)
        air.setAdvertising(true, of: belt)
        world.run(for: .seconds(5))
        #expect(app.relaunchCount == 0)
        #expect(air.statistics(of: belt).connections == 0)
    }

    @Test("scenario 8: after the user ended the app nothing is left of it (SPR-30)")
    func forceQuit() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let (app, _) = try waiting(station, belt, restoring)
        app.end(.forceQuit)
        air.setAdvertising(true, of: belt)
        world.run(for: .seconds(5))
        #expect(app.relaunchCount == 0)
        #expect(AppStation.state(in: station.journal).managers.isEmpty)
        app.launch(inForeground: true)
        let central = app.central(restoring)
        #expect(central.states == [.poweredOn])
        #expect(central.events.count == 1)
    }

    @Test("scenario 8: after a restart of the system the app is still relaunched (SPR-30)")
    func restart() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let (app, peer) = try waiting(station, belt, restoring)
        _ = app
        // Killed without a word: only the journal is left.
        world.remove(station)
        air.closeTransport(of: station.controller)
        var other = SimulatedControllerConfiguration()
        other.publicAddress = Profiles.stationAddress
        let again = AppStation(world, journal: station.journal, seed: 2, controller: other)
        let same = TestApp(again, modes: .central, launches: false)
        world.run(for: .seconds(2))
        #expect(same.relaunchCount == 0)
        air.setAdvertising(true, of: belt)
        world.run(for: .seconds(5))
        #expect(same.actions == [.relaunch(LaunchOptions(centrals: ["lock"]))])
        same.launch(inForeground: false)
        let central = same.central(restoring)
        #expect(central.connections == [peer])
        guard case .willRestoreCentral? = central.events.first else {
            Issue.record("the restoration comes first")
            return
        }
    }

    @Test("scenario 8: after Bluetooth was switched off the app is not relaunched (SPR-30)")
    func powerToggle() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let (app, peer) = try waiting(station, belt, restoring)
        app.end(.terminatedBySystem)
        let now = world.now
        station.apps { $0.setPower(false, at: now) }
        station.apps { $0.setPower(true, at: now) }
        air.setAdvertising(true, of: belt)
        world.run(for: .seconds(5))
        #expect(app.relaunchCount == 0)
        app.launch(inForeground: true)
        #expect(app.central(restoring).connections == [peer])
    }

    @Test("scenario 8: after an interruption that the user has not chosen in the settings it is relaunched (SPR-30)")
    func interruption() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let (app, _) = try waiting(station, belt, restoring)
        app.end(.terminatedBySystem)
        let now = world.now
        station.apps { $0.setPower(false, byUser: false, at: now) }
        station.apps { $0.setPower(true, byUser: false, at: now) }
        air.setAdvertising(true, of: belt)
        world.run(for: .seconds(5))
        #expect(app.actions.last == .relaunch(LaunchOptions(centrals: ["lock"])))
    }

    @Test(
        "scenario 9: what was scanned for, connected, discovered and subscribed is restored (SPR-C1, SPR-C2, SPR-C3, SPR-12, SPR-14, SPR-15, SPR-34, SPR-35)"
    )
    func scenario9() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let app = TestApp(station, modes: .central)
        let central = app.central(restoring)
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.connect(peer))
        let measurement = try #require(central.explore(peer, Profiles.heartRate)[Profiles.heartRateMeasurement])
        #expect(central.subscribe(measurement, of: peer))
        let options = ScanOptions(services: [Profiles.lock], allowsDuplicates: true)
        central.ask(.scan(options))
        central.run(.seconds(1))
        app.end(.terminatedBySystem)
        air.setValue([0, 99], of: Profiles.heartRateMeasurement, on: belt)
        world.run(for: .seconds(2))
        #expect(app.actions.last == .relaunch(LaunchOptions(centrals: ["lock"])))
        app.launch(inForeground: false)
        let restored = app.central(restoring)
        guard case .willRestoreCentral(let state)? = restored.events.first else {
            Issue.record("nothing was restored")
            return
        }
        #expect(state.scan == options)
        let peripheral = try #require(state.peripherals.first)
        #expect(peripheral.description.state == .connected)
        #expect(peripheral.description.name == "Belt")
        let service = try #require(peripheral.services?.first { $0.uuid == Profiles.heartRate })
        #expect(service.characteristics?[Profiles.heartRateMeasurement]?.isNotifying == true)
        #expect(service.characteristics?[Profiles.bodySensorLocation]?.isNotifying == false)
        #expect(restored.values == [[0, 99]])
        // The app goes on without discovering anything again.
        restored.forget()
        let location = try #require(service.characteristics?[Profiles.bodySensorLocation])
        restored.ask(.readValue(characteristic: location.id), of: peer)
        restored.run(.seconds(2))
        #expect(restored.values == [[1]])
        // The scan has never stopped.
        air.addPeripheral(Profiles.door())
        restored.run(.seconds(5))
        #expect(restored.discoveries.map(\.peer.name) == ["Lock"])
    }

    @Test(
        "scenario 23: an app that overruns its ten seconds is frozen and counted; the third time it is terminated with its state kept (BGX-4, BGX-5)"
    )
    func scenario23() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let app = TestApp(station, modes: .central)
        let central = app.central(restoring)
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.connect(peer))
        let measurement = try #require(central.explore(peer, Profiles.heartRate)[Profiles.heartRateMeasurement])
        #expect(central.subscribe(measurement, of: peer))
        app.leave()
        station.forgetOutputs()
        func beat() { air.setValue([0, 70], of: Profiles.heartRateMeasurement, on: belt) }

        beat()
        world.run(for: .seconds(11))
        app.suspend()
        #expect(app.actions == [.resume, .expiring, .suspend])
        #expect(station.logs == [.wakeBudgetExceeded(strikes: 1)])

        // For two seconds it is not woken, and nothing is lost.
        central.forget()
        beat()
        world.run(for: .seconds(1))
        #expect(central.values.isEmpty)
        world.run(for: .seconds(2))
        #expect(central.values.count == 1)
        // Nobody says that it is done: it is frozen after two seconds more.
        world.run(for: .seconds(13))
        #expect(app.actions == [.resume, .expiring, .suspend, .resume, .expiring, .suspend])

        beat()
        world.run(for: .seconds(20))
        #expect(app.actions.suffix(3) == [.resume, .expiring, .terminate])
        #expect(AppStation.state(in: station.journal).managers.count == 1)
        beat()
        world.run(for: .seconds(20))
        #expect(app.actions.last == .relaunch(LaunchOptions(centrals: ["lock"])))
    }

    @Test(
        "undelivered discoveries are dropped when Bluetooth goes off; all other events are delivered (SPEC 2.3, 5.5 rule 2)",
        arguments: [true, false])
    func powerOffDropsDiscoveries(goesOff: Bool) throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let app = TestApp(station, modes: .central)
        let central = app.central()
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.connect(peer))
        let measurement = try #require(central.explore(peer, Profiles.heartRate)[Profiles.heartRateMeasurement])
        #expect(central.subscribe(measurement, of: peer))
        central.ask(.scan(ScanOptions(services: [Profiles.lock])))
        app.leave()
        // An app that overran is not woken for two seconds: what happens then waits.
        air.setValue([0, 70], of: Profiles.heartRateMeasurement, on: belt)
        world.run(for: .seconds(11))
        app.suspend()
        central.forget()
        air.setValue([0, 71], of: Profiles.heartRateMeasurement, on: belt)
        // Heard by the sparse windows of a background scan in that time.
        var door = Profiles.door()
        door.advertisement = SimulatedAdvertisement(
            name: "Lock", serviceUUIDs: [Profiles.lock], intervalMicroseconds: 20_000)
        air.addPeripheral(door)
        world.run(for: .milliseconds(1500))
        #expect(central.events.isEmpty)
        if goesOff { station.apps { $0.setPower(false, at: world.now) } }
        app.enterForeground()
        #expect(central.discoveries.map(\.peer.name) == (goesOff ? [] : ["Lock"]))
        #expect(central.values == [[0, 71]])
        #expect(central.states == (goesOff ? [.poweredOff] : []))
        // Neither the scan nor what it had heard comes back with the power.
        guard goesOff else { return }
        station.apps { $0.setPower(true, at: world.now) }
        world.run(for: .seconds(5))
        #expect(central.discoveries.isEmpty)
        #expect(central.states == [.poweredOff, .poweredOn])
    }

    @Test(
        "scenario 25: the controller may be released while Bluetooth is off: it is off until it is on, and services stay (CEN-3, PER-1)"
    )
    func releasedWhileOff() throws {
        let station = AppStation(world)
        let app = TestApp(station)
        let central = app.central()
        let peripheral = app.peripheral()
        #expect(peripheral.add(Profiles.published) == nil)
        peripheral.ask(.startAdvertising(AdvertisementRequest(localName: "Door")))
        world.run(for: .seconds(1))
        station.apps { $0.setPower(false, at: world.now) }
        station.closeTransport()
        world.run(for: .seconds(2))
        #expect(TestApp(station, "org.example.late").central().states == [.poweredOff])
        station.start()
        world.run(for: .seconds(2))
        #expect(central.states == [.poweredOn, .poweredOff])
        station.apps { $0.setPower(true, at: world.now) }
        world.run(for: .seconds(2))
        for states in [central.states, peripheral.states] { #expect(states == [.poweredOn, .poweredOff, .poweredOn]) }
        let remote = HostStation.remote(in: world)
        let link = try #require(remote.connect(Profiles.stationAddress))
        #expect(remote.characteristics(link, Profiles.lock).count == 2)
    }

    @Test("scenario 23: an app that finishes in time is woken again at once (BGX-2, BGC-2)")
    func inTime() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let app = TestApp(station, modes: .central)
        let central = app.central()
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.connect(peer))
        app.leave()
        air.disconnect(belt)
        central.run(.seconds(5))
        #expect(central.disconnections.count == 1)
        app.suspend()
        let now = world.now
        station.apps { $0.setPower(false, at: now) }
        #expect(central.states.last == .poweredOff)
        #expect(station.logs.isEmpty)
        #expect(app.wakeCount == 2)
    }

    @Test(
        "scenario 25: when Bluetooth is off, links and scans end; published services stay when it is off and go when it is reset (CEN-3, PER-1)"
    )
    func scenario25() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let app = TestApp(station)
        let central = app.central()
        let peripheral = app.peripheral()
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.connect(peer))
        central.ask(.scan(ScanOptions()))
        #expect(peripheral.add(Profiles.published) == nil)
        peripheral.ask(.startAdvertising(AdvertisementRequest(localName: "Door")))
        world.run(for: .seconds(1))

        let remote = HostStation.remote(in: world)
        let first = try #require(remote.connect(Profiles.stationAddress))
        let now = world.now
        station.apps { $0.setPower(false, at: now) }
        world.run(for: .seconds(2))
        #expect(central.states == [.poweredOn, .poweredOff])
        #expect(peripheral.states == [.poweredOn, .poweredOff])
        #expect(!air.statistics(of: belt).isConnected)
        #expect(remote.events.contains { if case .disconnected(first, _, _) = $0 { true } else { false } })
        central.forget()
        central.ask(.scan(ScanOptions()))
        #expect(station.logs.last == .notPoweredOn(.central))
        world.run(for: .seconds(5))
        #expect(central.discoveries.isEmpty)

        // What was advertised is advertised again, what was published is still there.
        station.apps { $0.setPower(true, at: world.now) }
        world.run(for: .seconds(1))
        let second = try #require(remote.connect(Profiles.stationAddress))
        #expect(remote.characteristics(second, Profiles.lock).count == 2)
        world.run(for: .seconds(1))

        air.sendHardwareError(1, from: station.controller)
        world.run(for: .seconds(5))
        #expect(peripheral.states.suffix(2) == [.resetting, .poweredOn])
        #expect(peripheral.add(Profiles.published) == nil, "the database was cleared: the same service is new")
    }
}
