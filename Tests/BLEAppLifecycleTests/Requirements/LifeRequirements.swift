import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// Requirements on processes, queues and permissions that no scenario shows whole (SPEC 1.5 to 1.8).
@Suite("Requirements: life")
struct LifeRequirements {
    let world = World()
    let air: SimulatedAir

    init() { air = world.air }

    @Test("in the background, an app without a mode is soon suspended and neither scans nor finds (FGO-1, FGO-2)")
    func noScanBehind() {
        let station = AppStation(world)
        air.addPeripheral(Profiles.belt())
        let app = TestApp(station)
        let central = app.central()
        app.enterBackground()
        central.ask(.scan(ScanOptions(services: [Profiles.heartRate])))
        world.run(for: .seconds(11))
        #expect(app.actions == [.suspend])
        #expect(station.commands(LESetExtendedScanEnable.opcode).isEmpty)
        #expect(central.discoveries.isEmpty)
        app.enterForeground()
        world.run(for: .seconds(3))
        #expect(central.discoveries.count == 1)
    }

    @Test("a mode declared for one role does nothing for the other (BGX-1)", arguments: ["central", "peripheral"])
    func modes(name: String) {
        let station = AppStation(world)
        let app = TestApp(station, modes: BackgroundModes(names: ["bluetooth-\(name)", "audio"]))
        let central = app.central()
        let peripheral = app.peripheral()
        app.enterBackground()
        central.ask(.scan(ScanOptions(services: [Profiles.heartRate])))
        peripheral.ask(.startAdvertising(AdvertisementRequest(serviceUUIDs: [Profiles.lock])))
        world.run(for: .seconds(1))
        #expect(station.commands(LESetExtendedScanEnable.opcode).isEmpty == (name != "central"))
        #expect(station.commands(LESetExtendedAdvertisingEnable.opcode).isEmpty == (name != "peripheral"))
    }

    @Test("with the mode, everything works in the background: find, connect, explore, read, write, subscribe (BGC-1)")
    func worksBehind() throws {
        let station = AppStation(world)
        air.addPeripheral(Profiles.door())
        let app = TestApp(station, modes: .central)
        let central = app.central()
        app.enterBackground()
        let peer = try #require(central.discover([Profiles.lock]))
        #expect(central.connect(peer))
        let state = try #require(central.explore(peer, Profiles.lock)[Profiles.lockState])
        central.ask(.writeValue([3], characteristic: state.id), of: peer)
        central.ask(.readValue(characteristic: state.id), of: peer)
        central.run(.seconds(2))
        #expect(central.values == [[3]])
        #expect(central.subscribe(state, of: peer))
    }

    @Test("events during a wake-up belong to it; when the app is done, it is suspended (BGX-2, BGX-4)")
    func oneWake() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let app = TestApp(station, modes: .central)
        let central = app.central()
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.connect(peer))
        let measurement = try #require(central.explore(peer, Profiles.heartRate)[Profiles.heartRateMeasurement])
        #expect(central.subscribe(measurement, of: peer))
        app.leave()
        for beat in 0..<3 {
            air.setValue([0, UInt8(beat)], of: Profiles.heartRateMeasurement, on: belt)
            world.run(for: .seconds(1))
        }
        #expect(central.values == [[0, 0], [0, 1], [0, 2]])
        #expect(app.actions == [.suspend, .resume])
        app.suspend()
        world.run(for: .seconds(60))
        #expect(app.actions == [.suspend, .resume, .suspend])
        #expect(station.logs.isEmpty)
    }

    @Test("a suspended app with the peripheral mode is woken to read, write and subscribe (BGP-1)")
    func servedBehind() throws {
        let station = AppStation(world)
        let app = TestApp(station, modes: .peripheral)
        let manager = app.peripheral()
        #expect(manager.add(Profiles.published) == nil)
        manager.ask(.startAdvertising(AdvertisementRequest(serviceUUIDs: [Profiles.lock])))
        let remote = HostStation.remote(in: world)
        let link = try #require(remote.connect(Profiles.stationAddress))
        let list = remote.characteristics(link, Profiles.lock)
        app.leave()
        manager.forget()
        let read = remote.submit(.link(link, .gatt(.read(list[0].valueHandle))))
        manager.wait { if case .readRequest = $0 { true } else { false } }
        #expect(app.wakeCount == 1)
        manager.ask(.respond(try #require(manager.readRequests.first).id, code: 0, value: [8]))
        app.suspend()
        world.run(for: .seconds(2))
        #expect(remote.results(of: read).first == .success(.gatt(.value([8]))))
        remote.submit(.link(link, .gatt(.write(list[0].valueHandle, value: [4]))))
        manager.wait { if case .writeRequests = $0 { true } else { false } }
        #expect(app.wakeCount == 2)
        manager.ask(.respond(try #require(manager.writeRequests.first).id, code: 0, value: []))
        app.suspend()
        #expect(remote.subscribe(link, list[0]))
        #expect(app.wakeCount == 3)
    }

    @Test("the background's advertising interval applies only while no foreground app advertises (BGP-5)")
    func sharedPace() {
        let station = AppStation(world)
        let one = TestApp(station, "org.example.one", modes: .peripheral)
        let two = TestApp(station, "org.example.two", modes: .peripheral)
        for app in [one, two] {
            app.peripheral().ask(.startAdvertising(AdvertisementRequest(serviceUUIDs: [Profiles.lock])))
        }
        func interval() -> UInt16 {
            guard let parameters = station.commands(LESetExtendedAdvertisingParameters.opcode).last else { return 0 }
            return UInt16(parameters[3]) | UInt16(parameters[4]) << 8
        }
        world.run(for: .seconds(1))
        let inFront = interval()
        one.enterBackground()
        world.run(for: .seconds(1))
        #expect(interval() == inFront)
        two.enterBackground()
        world.run(for: .seconds(1))
        #expect(interval() > inFront)
        #expect(Timing.ios.backgroundAdvertising.initial > Timing.ios.foregroundAdvertising.initial)
    }

    @Test("an app that does not start is tried again at growing intervals (BGX-5)")
    func relaunchFails() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let app = TestApp(station, modes: .central)
        let central = app.central(ManagerOptions(restoreIdentifier: "c"))
        let peer = try #require(central.discover([Profiles.heartRate]))
        air.setAdvertising(false, of: belt)
        central.ask(.connect(peer, ConnectOptions()))
        app.end(.crashed)
        air.setAdvertising(true, of: belt)
        world.run(for: .seconds(19))
        #expect(app.relaunchCount == 1)
        world.run(for: .seconds(4))
        #expect(app.relaunchCount == 2)
        world.run(for: .seconds(60))
        #expect(app.relaunchCount <= 4)
        app.launch(inForeground: false)
        #expect(app.central(ManagerOptions(restoreIdentifier: "c")).connections == [peer])
    }

    @Test("a lost link is reconnected at once if the app asks for it, in the background too (LTA-1)")
    func reconnects() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let app = TestApp(station, modes: .central)
        let central = app.central()
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.connect(peer))
        app.leave()
        air.setInRange(false, belt)
        central.wait(.seconds(30)) { $0.isDisconnection(of: peer) }
        #expect(central.disconnections == [.coreBluetooth(.connectionTimeout)])
        central.ask(.connect(peer, ConnectOptions(reconnectsAutomatically: true)))
        app.suspend()
        world.run(for: .seconds(60))
        air.setInRange(true, belt)
        central.run(.seconds(5))
        #expect(central.connections.count == 2)
        air.disconnect(belt)
        central.run(.seconds(5))
        #expect(central.connections.count == 3)
        var flags: [Bool] = []
        for case .disconnected(_, _, _, let isReconnecting) in central.events { flags.append(isReconnecting) }
        #expect(flags == [false, true])
    }

    @Test("an unauthorized app is told so, and its commands are dropped (CEN-3)")
    func unauthorized() {
        let station = AppStation(world)
        air.addPeripheral(Profiles.belt())
        let central = TestApp(station, authorization: .denied).central()
        #expect(central.events == [.stateChanged(.unauthorized, .denied)])
        central.ask(.scan(ScanOptions()))
        central.run(.seconds(3))
        #expect(station.logs == [.notPoweredOn(.central)])
        #expect(central.discoveries.isEmpty)
    }

    @Test("a start delay postpones a connection by that time")
    func startDelay() throws {
        let station = AppStation(world)
        air.addPeripheral(Profiles.belt())
        let central = TestApp(station).central()
        let peer = try #require(central.discover([Profiles.heartRate]))
        central.ask(.connect(peer, ConnectOptions(startDelayMilliseconds: 5000)))
        central.run(.milliseconds(4900))
        #expect(central.connections.isEmpty)
        central.run(.seconds(3))
        #expect(central.connections == [peer])
    }

    @Test("a start delay that ends while Bluetooth is off has no effect until it is on")
    func startDelayWhileOff() throws {
        let station = AppStation(world)
        air.addPeripheral(Profiles.belt())
        let central = TestApp(station).central()
        let peer = try #require(central.discover([Profiles.heartRate]))
        central.ask(.connect(peer, ConnectOptions(startDelayMilliseconds: 2000)))
        central.run(.seconds(1))
        station.apps { $0.transportClosed(at: world.now) }
        central.run(.seconds(10))
        #expect(central.connections.isEmpty)
        #expect(station.apps { $0.nextDeadline } == nil)
    }

    @Test("a link that cannot be established, however often, leaves the connection pending (SPEC CEN-9)")
    func establishmentFails() throws {
        let station = AppStation(world)
        air.addPeripheral(Profiles.belt())
        let central = TestApp(station).central()
        let peer = try #require(central.discover([Profiles.heartRate]))
        air.changeFaults(of: station.controller) {
            $0.failingConnections = 25
            $0.connectionFailure = .connectionComplete
        }
        central.ask(.connect(peer, ConnectOptions()))
        central.run(.seconds(60))
        #expect(central.connections == [peer])
        #expect(!central.events.contains { if case .connectionFailed = $0 { true } else { false } })
    }

    @Test("an app that registers is told of connections that other apps make and lose")
    func connectionEvents() throws {
        let station = AppStation(world)
        let belt = air.addPeripheral(Profiles.belt())
        let one = TestApp(station, "org.example.one").central()
        let two = TestApp(station, "org.example.two").central()
        two.ask(.registerForConnectionEvents(ConnectionEventFilter(services: [Profiles.heartRate])))
        let peer = try #require(one.discover([Profiles.heartRate]))
        #expect(one.connect(peer))
        _ = one.explore(peer, Profiles.heartRate)
        air.disconnect(belt)
        one.run(.seconds(3))
        var kinds: [Bool] = []
        for case .connectionEvent(_, let isConnected) in two.events { kinds.append(isConnected) }
        #expect(kinds == [true, false])
        #expect(!one.events.contains { if case .connectionEvent = $0 { true } else { false } })
    }

    @Test(
        "releasing a peripheral withdraws its connection, whatever state Bluetooth is in; cancelling is refused (CEN-6)"
    )
    func letsGoWhileOff() throws {
        let station = AppStation(world)
        let device = air.addPeripheral(Profiles.belt())
        let central = TestApp(station).central()
        let peer = try #require(central.discover([Profiles.heartRate]))
        air.setInRange(false, device)
        central.ask(.connect(peer, ConnectOptions()))
        station.apps { $0.setPower(false, at: world.now) }
        central.ask(.cancelConnection(peer))
        #expect(station.logs == [.notPoweredOn(.central)])
        #expect(central.disconnections.isEmpty)
        central.ask(.letGo(peer))
        #expect(station.logs == [.notPoweredOn(.central)])
        #expect(central.disconnections == [nil])
        station.apps { $0.setPower(true, at: world.now) }
        air.setInRange(true, device)
        central.run(.seconds(10))
        #expect(central.connections.isEmpty)
        #expect(central.discover([Profiles.heartRate]) == peer)
    }

    @Test("a connection that is asked for when Bluetooth has just gone off is made when it is on again (CEN-9)")
    func connectsAfterwards() throws {
        let station = AppStation(world)
        air.addPeripheral(Profiles.belt())
        let central = TestApp(station).central()
        let peer = try #require(central.discover([Profiles.heartRate]))
        station.apps { $0.setPower(false, at: world.now) }
        central.ask(.connect(peer, ConnectOptions()))
        central.run(.seconds(1))
        #expect(station.logs.isEmpty && central.connections.isEmpty)
        station.apps { $0.setPower(true, at: world.now) }
        central.run(.seconds(10))
        #expect(central.connections.count == 1)
    }
}
