import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// How long a woken app runs, of whom the system knows what it has handled (SPEC BGX-4, BGX-5, 5.5 rule 3).
@Suite("Requirements: the time of a wake")
struct WakeRequirements {
    private static let value = BluetoothUUID(UInt16(0x2A37))
    let world = World()
    var air: SimulatedAir { world.air }

    /// A station whose apps report what they handle.
    private func station(_ change: (inout LifecycleSettings) -> Void = { _ in }) -> AppStation {
        var settings = LifecycleSettings()
        settings.unhandledEventLimit = 1024
        settings.unhandledOctetLimit = 1 << 20
        change(&settings)
        return AppStation(world, settings: settings)
    }

    /// A suspended app that is subscribed to a belt.
    private func subscribed(_ station: AppStation) throws -> (app: TestApp, central: TestManager, SimulatedDeviceID) {
        let belt = air.addPeripheral(Profiles.belt())
        let app = TestApp(station, modes: [.central, .peripheral])
        let central = app.central()
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.connect(peer))
        let measurement = try #require(central.explore(peer, Profiles.heartRate)[Profiles.heartRateMeasurement])
        #expect(central.subscribe(measurement, of: peer))
        central.handleAll()
        app.leave()
        world.run(for: .seconds(5))
        station.forgetOutputs()
        central.forget()
        return (app, central, belt)
    }

    /// A value comes and wakes the app.
    private func beat(_ belt: SimulatedDeviceID, _ number: UInt8 = 70) {
        air.setValue([0, number], of: Self.value, on: belt)
        world.run(for: .milliseconds(500))
    }

    @Test("an app that has handled its events runs for the rest of its ten seconds, without a strike (BGX-4)")
    func idleKeepsBudget() throws {
        let station = station()
        let (app, central, belt) = try subscribed(station)
        beat(belt)
        central.handleAll()
        world.run(for: .seconds(9))
        #expect(app.actions == [.resume])
        world.run(for: .seconds(1))
        #expect(app.actions == [.resume, .suspend])
        #expect(station.logs == [])
        beat(belt, 71)
        #expect(app.actions == [.resume, .suspend, .resume], "it is not delayed")
    }

    @Test("an app that says that it is done is suspended as soon as it has handled its events (BGX-4)")
    func done() throws {
        let (app, central, belt) = try subscribed(station())
        beat(belt)
        app.finish()
        world.run(for: .seconds(1))
        #expect(app.actions == [.resume])
        central.handleAll()
        #expect(app.actions == [.resume, .suspend])
        beat(belt, 71)
        central.handleAll()
        app.finish()
        #expect(app.actions == [.resume, .suspend, .resume, .suspend])
    }

    @Test("an app whose last task ends is suspended at once, not while a task runs (BGX-4)")
    func tasks() throws {
        let (app, central, belt) = try subscribed(station())
        beat(belt)
        app.setTasks(1)
        app.setTasks(2)
        central.handleAll()
        world.run(for: .seconds(3))
        app.setTasks(1)
        #expect(app.actions == [.resume])
        app.setTasks(0)
        #expect(app.actions == [.resume, .suspend])
    }

    @Test(
        "tasks are warned after ten seconds; who does not end them in two more gets a strike (BGX-5)",
        arguments: [true, false])
    func expiredTasks(endsThem: Bool) throws {
        let station = station()
        let (app, central, belt) = try subscribed(station)
        beat(belt)
        app.setTasks(1)
        central.handleAll()
        world.run(for: .seconds(9))
        #expect(app.actions == [.resume])
        world.run(for: .seconds(1))
        #expect(app.actions == [.resume, .expiring])
        #expect(station.logs == [])
        if endsThem {
            app.setTasks(0)
            #expect(app.actions == [.resume, .expiring, .suspend])
            #expect(station.logs == [])
        } else {
            world.run(for: .seconds(2))
            #expect(app.actions == [.resume, .expiring, .suspend])
            #expect(station.logs == [.wakeBudgetExceeded(strikes: 1)])
        }
    }

    @Test("after three strikes for tasks the app is terminated (BGX-5)")
    func terminatedForTasks() throws {
        let (app, central, belt) = try subscribed(station())
        app.setTasks(1)
        for number in 0..<3 {
            beat(belt, UInt8(80 + number))
            central.handleAll()
            world.run(for: .seconds(30))
        }
        #expect(app.actions.contains(.terminate))
    }

    @Test("each event that comes while the app is idle has ten seconds, but a wake has twenty at most (BGX-4)")
    func renewed() throws {
        let station = station()
        let (app, central, belt) = try subscribed(station)
        beat(belt)
        central.handleAll()
        world.run(for: .seconds(8))
        beat(belt, 71)
        central.handleAll()
        world.run(for: .seconds(8))
        #expect(app.actions == [.resume])
        world.run(for: .seconds(2))
        #expect(app.actions == [.resume, .suspend])
        world.run(for: .seconds(5))
        station.forgetOutputs()
        for number in 0..<25 {
            beat(belt, UInt8(80 + number))
            central.handleAll()
            world.run(for: .milliseconds(500))
            if app.actions.contains(.suspend) { break }
            #expect(number < 21)
        }
        #expect(app.actions.prefix(2) == [.resume, .suspend])
        #expect(station.logs == [])
    }

    @Test("the owner's setting bounds how long an app is idle; one that was launched has two seconds to begin (BGX-4)")
    func idleSpan() throws {
        let station = station { $0.idleSpan = .milliseconds(500) }
        let (app, central, belt) = try subscribed(station)
        beat(belt)
        world.run(for: .seconds(3))
        #expect(app.actions == [.resume])
        central.handleAll()
        world.run(for: .milliseconds(400))
        #expect(app.actions == [.resume])
        world.run(for: .milliseconds(200))
        #expect(app.actions == [.resume, .suspend])
        app.end(.crashed)
        app.launch(inForeground: false)
        station.forgetOutputs()
        world.run(for: .milliseconds(1900))
        #expect(app.actions == [])
        world.run(for: .milliseconds(200))
        #expect(app.actions == [.suspend])
    }

    @Test("the time that is left is that of the wake, of the background, or unlimited (BGX-4)")
    func timeLeft() throws {
        let station = station()
        let (app, _, belt) = try subscribed(station)
        func left() -> Microseconds? { station.apps { $0.remainingTime(of: app.id, at: world.now) } }
        #expect(left() == .zero)
        beat(belt)
        #expect(try #require(left()) > .seconds(9) && left()! <= .seconds(10))
        app.enterForeground()
        #expect(left() == nil)
        app.enterBackground()
        #expect(left() == .seconds(10))
    }

    @Test("an app that enters the background with tasks is warned when its time is over, and then suspended (FGO-1)")
    func tasksInBackground() throws {
        let station = station()
        let app = TestApp(station, modes: .central)
        let other = TestApp(station, "org.example.other", modes: .central)
        for app in [app, other] {
            _ = app.central()
            app.setTasks(1)
            app.enterBackground()
        }
        world.run(for: .milliseconds(10_100))
        #expect(app.actions == [.expiring] && other.actions == [.expiring])
        app.setTasks(0)
        #expect(app.actions == [.expiring, .suspend])
        world.run(for: .seconds(2))
        #expect(other.actions == [.expiring, .suspend])
        #expect(station.logs == [.wakeBudgetExceeded(strikes: 1)])
    }

    @Test("an event at the end of an app's time in the background has the time of a wake (BGX-4)")
    func lateEvent() throws {
        let (app, central, belt) = try subscribed(station())
        app.enterForeground()
        app.enterBackground()
        world.run(for: .seconds(9))
        let before = app.actions.count
        beat(belt)
        central.handleAll()
        world.run(for: .seconds(9))
        #expect(app.actions.count == before)
        world.run(for: .seconds(1))
        #expect(app.actions.count == before + 1 && app.actions.last == .suspend)
    }

    // MARK: Requests

    private func served(
        _ station: AppStation, modes: BackgroundModes = .peripheral
    ) throws -> (
        app: TestApp, manager: TestManager, remote: HostStation, link: LinkID, handle: AttributeHandle
    ) {
        let app = TestApp(station, modes: modes)
        let manager = app.peripheral()
        #expect(manager.add(Profiles.published) == nil)
        manager.ask(.startAdvertising(AdvertisementRequest(serviceUUIDs: [Profiles.lock])))
        let remote = HostStation.remote(in: world)
        let link = try #require(remote.connect(Profiles.stationAddress))
        let list = remote.characteristics(link, Profiles.lock)
        return (app, manager, remote, link, try #require(list.first).valueHandle)
    }

    @Test(
        "a request that the app has not answered keeps it running; answered after two seconds, it has its value (BGP-1)"
    )
    func slowAnswer() throws {
        let station = station { $0.idleSpan = .zero }
        let (app, manager, remote, link, handle) = try served(station)
        app.leave()
        manager.handleAll()
        manager.forget()
        station.forgetOutputs()
        let read = remote.submit(.link(link, .gatt(.read(handle))))
        manager.wait { if case .readRequest = $0 { true } else { false } }
        manager.handleAll()
        world.run(for: .seconds(2))
        #expect(app.actions == [.resume])
        manager.ask(.respond(try #require(manager.readRequests.first).id, code: 0, value: [8]))
        #expect(app.actions == [.resume, .suspend])
        world.run(for: .seconds(2))
        #expect(remote.results(of: read).first == .success(.gatt(.value([8]))))
        #expect(station.logs == [])
    }

    @Test("a request that is not answered when the app is suspended ends with an error, and the link goes on (BGX-5)")
    func unanswered() throws {
        let station = station()
        let (app, manager, remote, link, handle) = try served(station)
        app.leave()
        manager.handleAll()
        manager.forget()
        station.forgetOutputs()
        let read = remote.submit(.link(link, .gatt(.read(handle))))
        manager.wait { if case .readRequest = $0 { true } else { false } }
        manager.handleAll()
        world.run(for: .seconds(13))
        #expect(app.actions == [.resume, .expiring, .suspend])
        #expect(station.logs == [.wakeBudgetExceeded(strikes: 1), .requestsEnded(count: 1)])
        guard case .failure(.gatt(.att(.unlikelyError, _)))? = remote.results(of: read).first else {
            Issue.record("not answered: \(remote.results(of: read))")
            return
        }
        manager.ask(.respond(try #require(manager.readRequests.first).id, code: 0, value: [8]))
        #expect(station.logs.last == .requestAlreadyAnswered)
    }

    @Test(
        "what an app without the mode has not answered when it leaves ends with an error (FGO-3)", arguments: [0, 10])
    func unansweredWithoutMode(seconds: Int32) throws {
        let station = station()
        let (app, manager, remote, link, handle) = try served(station, modes: [])
        let read = remote.submit(.link(link, .gatt(.read(handle))))
        manager.wait { if case .readRequest = $0 { true } else { false } }
        if seconds > 0 { app.enterBackground() } else { app.leave() }
        world.run(for: .seconds(seconds + 1))
        guard case .failure(.gatt(.att(.unlikelyError, _)))? = remote.results(of: read).first else {
            Issue.record("not answered: \(remote.results(of: read))")
            return
        }
    }

    @Test("write commands, which nobody answers, are no work (BGP-1)")
    func writeCommands() throws {
        let station = station { $0.idleSpan = .zero }
        let app = TestApp(station, modes: .peripheral)
        let manager = app.peripheral()
        let service = LocalService(
            id: Profiles.id(1), uuid: Profiles.lock,
            characteristics: [
                LocalCharacteristic(id: Profiles.id(2), uuid: Profiles.lockState, properties: 0x04, permissions: 0x02)
            ])
        #expect(manager.add(service) == nil)
        manager.ask(.startAdvertising(AdvertisementRequest(serviceUUIDs: [Profiles.lock])))
        let remote = HostStation.remote(in: world)
        let link = try #require(remote.connect(Profiles.stationAddress))
        let handle = try #require(remote.characteristics(link, Profiles.lock).first).valueHandle
        app.leave()
        manager.handleAll()
        station.forgetOutputs()
        remote.submit(.link(link, .gatt(.writeCommand(handle, value: [1]))))
        manager.wait { if case .writeRequests = $0 { true } else { false } }
        manager.handleAll()
        #expect(app.actions == [.resume, .suspend])
    }

    @Test("a request of a suspended app without the mode ends when it is in the foreground, by its result (FGO-5)")
    func ownRequest() throws {
        let station = station()
        let belt = air.addPeripheral(Profiles.belt())
        let app = TestApp(station)
        let central = app.central()
        let peer = try #require(central.discover([Profiles.heartRate]))
        #expect(central.connect(peer))
        let list = central.explore(peer, Profiles.heartRate)
        let location = try #require(list[Profiles.bodySensorLocation])
        let control = try #require(list[Profiles.controlPoint])
        central.ask(.readValue(characteristic: location.id), of: peer)
        central.ask(.writeValue([1], characteristic: control.id), of: peer)
        app.leave()
        world.run(for: .seconds(30))
        #expect(central.values == [])
        app.enterForeground()
        #expect(central.values == [[1]])
        #expect(central.peripheralEvents.last == .valueWritten(characteristic: control.id, nil))
        _ = belt
    }

    // MARK: Scanning

    @Test("behind, a device wakes the app once; what it changes afterwards waits for the next wake (BGC-3, CEN-26)")
    func changedAdvertisement() throws {
        let station = station { $0.idleSpan = .zero }
        let belt = air.addPeripheral(Profiles.belt())
        let app = TestApp(station, modes: .central)
        let central = app.central()
        central.ask(.scan(ScanOptions(services: [Profiles.heartRate])))
        app.leave()
        central.handleAll()
        station.forgetOutputs()
        central.forget()
        world.run(for: .seconds(30)) { app.wakeCount > 0 }
        central.handleAll()
        // The scan response may be another report.
        world.run(for: .seconds(10))
        central.handleAll()
        #expect(app.wakeCount == 1)
        let before = central.discoveries.count
        for number in 0..<10 {
            air.setAdvertisement(
                SimulatedAdvertisement(
                    name: "Belt", serviceUUIDs: [Profiles.heartRate],
                    manufacturerData: (company: 0xFFFF, data: [UInt8(number)])), of: belt)
            world.run(for: .seconds(5))
        }
        #expect(app.wakeCount == 1)
        #expect(central.discoveries.count == before)
        air.addPeripheral(Profiles.belt(DeviceAddress(value: 0xC000_0000_0009, kind: .random), name: "Other"))
        world.run(for: .seconds(30)) { app.wakeCount > 1 }
        #expect(app.wakeCount == 2)
        let told = central.discoveries.dropFirst(before)
        #expect(told.count == 2, "the changed one once, and the new one")
        #expect(told.first?.content.manufacturerData?.last == 9)
    }
}

extension TestApp {
    func finish() { station.apps { $0.finished(id, at: station.world.now) } }
    func setTasks(_ count: Int) { station.apps { $0.setTasks(count, of: id, at: station.world.now) } }
}

extension TestManager {
    /// The app has handled everything that it was told.
    func handleAll() {
        app.station.apps {
            $0.returned(events: 1 << 20, octets: 1 << 30, by: id, of: app.id, at: app.station.world.now)
        }
    }
}
