import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// What becomes of subscriptions when they are asked for in quick succession (SPEC 1.3).
@Suite("Requirements: subscriptions")
struct SubscriptionRequirements {
    let world = World()
    let air: SimulatedAir

    init() { air = world.air }

    /// A central that is connected to a lock and knows its state, which is notified.
    private func open(
        hearsOfChanges: Bool = true
    ) throws -> (TestManager, PeerIdentifier, SimulatedDeviceID) {
        var settings = LifecycleSettings()
        settings.learnsPeers = hearsOfChanges
        let station = AppStation(world, settings: settings)
        var door = Profiles.door()
        door.services[0].characteristics[1].properties = [.notify]
        let device = air.addPeripheral(door)
        let central = TestApp(station).central()
        let peer = try #require(central.discover([Profiles.lock]))
        #expect(central.connect(peer))
        central.run(.seconds(3))
        return (central, peer, device)
    }

    private func answers(_ central: TestManager) -> [String] {
        central.peripheralEvents.compactMap {
            guard case .notificationStateUpdated(_, let isNotifying, let error) = $0 else { return nil }
            return (isNotifying ? "on" : "off") + (error == nil ? "" : " refused")
        }
    }

    @Test("a characteristic with the property and without the descriptor is refused like one without both (CEN-15)")
    func withoutConfiguration() throws {
        let station = AppStation(world)
        var door = Profiles.door()
        door.services[0].characteristics[0].properties = [.notify]
        door.services[0].characteristics[0].hasConfiguration = false
        air.addPeripheral(door)
        let central = TestApp(station).central()
        let peer = try #require(central.discover([Profiles.lock]))
        #expect(central.connect(peer))
        let state = try #require(central.explore(peer, Profiles.lock)[Profiles.lockState])
        central.forget()
        central.ask(.setNotify(true, characteristic: state.id), of: peer)
        central.run(.seconds(3))
        #expect(
            central.peripheralEvents == [
                .notificationStateUpdated(characteristic: state.id, isNotifying: false, .att(code: 6))
            ])
    }

    struct Calls: CustomTestStringConvertible, Sendable {
        var before: [Bool] = []
        var atOnce: [Bool]
        /// Writes to the peer's configuration.
        var writes: Int
        var testDescription: String { "\(before) then \(atOnce)" }
    }

    @Test(
        "of calls in one turn the last one wins, and each has its answer in order (CEN-15, CEN-17, CEN-18)",
        arguments: [
            Calls(atOnce: [true, false], writes: 2), Calls(atOnce: [true, true], writes: 1),
            Calls(atOnce: [true, false, true], writes: 3), Calls(before: [true], atOnce: [false, true], writes: 2),
            Calls(before: [true], atOnce: [false, false, true, false], writes: 3),
            Calls(before: [true], atOnce: [true, false], writes: 1), Calls(atOnce: [false, false], writes: 0),
        ])
    func lastCallWins(_ calls: Calls) throws {
        let (central, peer, device) = try open()
        let state = try #require(central.explore(peer, Profiles.lock)[Profiles.lockState])
        for isOn in calls.before {
            central.ask(.setNotify(isOn, characteristic: state.id), of: peer)
            central.run(.seconds(1))
        }
        let writes = air.statistics(of: device).writes
        central.forget()
        for isOn in calls.atOnce { central.ask(.setNotify(isOn, characteristic: state.id), of: peer) }
        central.run(.seconds(3))
        #expect(answers(central) == calls.atOnce.map { $0 ? "on" : "off" })
        #expect(air.statistics(of: device).writes - writes == calls.writes)
        let isOn = calls.atOnce.last == true
        air.setValue([9], of: Profiles.lockState, on: device)
        central.run(.seconds(1))
        #expect(central.values == (isOn ? [[9]] : []))
        // What was asked for twice is taken back by one call.
        central.ask(.setNotify(false, characteristic: state.id), of: peer)
        central.run(.seconds(1))
        central.forget()
        let notifications = air.statistics(of: device).notifications
        air.setValue([10], of: Profiles.lockState, on: device)
        central.run(.seconds(1))
        #expect(central.values.isEmpty)
        #expect(air.statistics(of: device).notifications == notifications)
    }

    @Test(
        "a call that the peer refuses does not delay later ones, and characteristics are independent (CEN-15)"
    )
    func refusedCalls() throws {
        let (central, peer, device) = try open(hearsOfChanges: false)
        let list = central.explore(peer, Profiles.lock)
        let state = try #require(list[Profiles.lockState])
        let name = try #require(list[Profiles.lockName])
        // Of the one the configuration is known, of the other it is not even found.
        #expect(central.subscribe(state, of: peer))
        central.ask(.setNotify(false, characteristic: state.id), of: peer)
        central.run(.seconds(1))
        air.replaceServices([], on: device)
        central.forget()
        for isOn in [true, false, true] {
            for characteristic in [state, name] {
                central.ask(.setNotify(isOn, characteristic: characteristic.id), of: peer)
            }
        }
        central.run(.seconds(3))
        var told: [RemoteAttributeID: [String]] = [:]
        for case .notificationStateUpdated(let id, let isNotifying, let error) in central.peripheralEvents {
            told[id, default: []].append(error != nil ? "refused" : isNotifying ? "on" : "off")
        }
        #expect(told == [state.id: ["refused", "off", "refused"], name.id: ["refused", "off", "refused"]])
    }

    @Test(
        "after its services changed, a subscription is written to the peer again, even under the same handles (SPEC 2.3 didModifyServices, CEN-15, CEN-17)"
    )
    func changedServices() throws {
        let (central, peer, device) = try open()
        #expect(central.subscribe(try #require(central.explore(peer, Profiles.lock)[Profiles.lockState]), of: peer))
        // Twice: a change of all handles leaves the subscription to Service Changed itself in place.
        for value in UInt8(1)...2 {
            air.replaceServices(
                [SimulatedService(Profiles.lock, characteristics: Profiles.door().services[0].characteristics)],
                on: device)
            central.run(.seconds(2))
            guard case .servicesModified(let gone)? = central.peripheralEvents.last else {
                Issue.record("no change was told")
                return
            }
            #expect(gone.count == 1)
            central.forget()
            let state = try #require(central.explore(peer, Profiles.lock)[Profiles.lockState])
            #expect(!state.isNotifying)
            #expect(central.subscribe(state, of: peer))
            air.setValue([value], of: Profiles.lockState, on: device)
            central.run(.seconds(1))
            #expect(central.values == [[value]])
        }
    }
}
