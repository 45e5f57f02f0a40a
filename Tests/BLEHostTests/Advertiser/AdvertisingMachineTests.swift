import BLEPackets
import Testing

@testable import BLEHost

@Suite("Advertising machine")
struct AdvertisingMachineTests {
    private let now = Instant(microseconds: 5_000_000)

    private func plan(_ byte: UInt8, interval: Double = 100) -> AdvertisingMachine.Plan {
        AdvertisingMachine.Plan(
            parameters: AdvertisingParameters(
                isConnectable: true, isScannable: true, interval: .milliseconds(interval), ownAddressType: .public),
            advertisement: [2, 1, byte], scanResponse: [2, 10, byte])
    }

    private func advertising(_ plan: AdvertisingMachine.Plan) -> AdvertisingMachine {
        var machine = AdvertisingMachine()
        _ = machine.want(plan)
        for _ in 0..<4 { _ = machine.completed(.success, at: now) }
        #expect(machine.isAdvertising)
        return machine
    }

    @Test("parameters, data and scan response are set before advertising is switched on")
    func order() {
        var machine = AdvertisingMachine()
        let plan = plan(6)
        #expect(machine.want(plan) == .setParameters(plan.parameters))
        #expect(machine.completed(.success, at: now) == .setAdvertisement([2, 1, 6]))
        #expect(machine.completed(.success, at: now) == .setScanResponse([2, 10, 6]))
        #expect(machine.completed(.success, at: now) == .setEnabled(true))
        #expect(machine.completed(.success, at: now) == .none)
        #expect(machine.isAdvertising)
    }

    @Test("data change while advertising runs; parameters only while it is off (pain 1)")
    func changes() {
        var machine = advertising(plan(6))
        #expect(machine.want(plan(7)) == .setAdvertisement([2, 1, 7]))
        #expect(machine.completed(.success, at: now) == .setScanResponse([2, 10, 7]))
        #expect(machine.completed(.success, at: now) == .none)
        #expect(machine.isAdvertising)
        #expect(machine.want(plan(7, interval: 200)) == .setEnabled(false))
        #expect(machine.completed(.success, at: now) == .setParameters(plan(7, interval: 200).parameters))
    }

    @Test("a connection ends advertising, and what is wanted afterwards starts again")
    func connection() {
        var machine = advertising(plan(6))
        #expect(machine.ended() == .none)
        #expect(machine.isIdle)
        #expect(machine.want(plan(6)) == .setParameters(plan(6).parameters))
    }

    @Test("a connection that comes while data are written is not forgotten")
    func connectionDuringUpdate() {
        var machine = advertising(plan(6))
        _ = machine.want(plan(7))
        _ = machine.ended()
        #expect(machine.completed(.success, at: now) == .setParameters(plan(7).parameters))
    }

    @Test("the wish that is withdrawn on the way is met afterwards, once")
    func withdrawn() {
        var machine = AdvertisingMachine()
        _ = machine.want(plan(6))
        #expect(machine.want(nil) == .none)
        #expect(machine.completed(.success, at: now) == .none)
        #expect(machine.isIdle)
    }

    @Test("a controller without capacity is asked again after a pause, or when a link has ended (A74)")
    func noRoom() {
        var machine = AdvertisingMachine()
        _ = machine.want(plan(6))
        for _ in 0..<3 { _ = machine.completed(.success, at: now) }
        #expect(machine.completed(.connectionLimitExceeded, at: now) == .none)
        #expect(machine.nextDeadline == now.advanced(by: AdvertisingMachine.refusalPause))
        #expect(machine.advance(to: now) == .none)
        var other = machine
        #expect(other.proceed() == .setParameters(plan(6).parameters))
        #expect(machine.advance(to: now.advanced(by: .seconds(2))) == .setParameters(plan(6).parameters))
    }

    @Test("a permanent refusal is reported, and the request dropped")
    func fails() {
        var machine = AdvertisingMachine()
        _ = machine.want(plan(6))
        #expect(machine.completed(.invalidCommandParameters, at: now) == .fail(.invalidCommandParameters))
        #expect(machine.wanted == nil)
    }

    @Test("an extended set gets its random address after its parameters")
    func randomAddress() {
        var machine = AdvertisingMachine(setsRandomAddress: true)
        var plan = plan(6)
        plan.parameters.ownAddressType = .random
        _ = machine.want(plan)
        #expect(machine.completed(.success, at: now) == .setRandomAddress)
        #expect(machine.completed(.success, at: now) == .setAdvertisement([2, 1, 6]))
    }
}
