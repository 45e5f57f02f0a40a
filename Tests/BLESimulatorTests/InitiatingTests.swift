import BLEPackets
import BLESimulator
import Testing

@Suite("Connecting")
struct InitiatingTests {
    let air = SimulatedAir()
    let host: TestHost
    let heart = SimulatedPeripheral.jellingHeart

    init() { host = .ready(air) }

    @Test("a pending connection never times out, and is made whenever its device appears (pain 3)")
    func pending() {
        host.beginConnecting(to: heart.address)
        host.run(milliseconds: 3_600_000)
        #expect(host.connectionResults.isEmpty)
        air.addPeripheral(heart)
        host.run(milliseconds: 300)
        #expect(host.connectionResults == [.success])
    }

    @Test("cancelling is answered first, then Connection Complete says 0x02 (pain 3)")
    func cancel() throws {
        host.beginConnecting(to: heart.address)
        host.forget()
        #expect(host.perform(LECreateConnectionCancel()) == .success)
        #expect(host.events.count == 2)
        guard case .commandComplete = try #require(host.events.first) else {
            Issue.record("the answer does not come first")
            return
        }
        #expect(host.connectionResults == [.unknownConnectionIdentifier])
        #expect(host.beginConnecting(to: heart.address) == .success)
    }

    @Test("a cancel that comes too late is refused, and the link that was made is reported (pain 3)")
    func cancelRace() {
        let device = air.addPeripheral(heart)
        host.beginConnecting(to: heart.address)
        // Until the link stands and the event that says so is under way.
        while let next = air.nextDeadlineMicroseconds, !air.statistics(of: device).isConnected {
            air.advance(to: next)
        }
        host.collect()
        #expect(host.connectionResults.isEmpty)
        host.send(LECreateConnectionCancel())
        host.run(milliseconds: 1)
        #expect(host.connectionResults == [.success])
        #expect(
            air.statistics(of: host.controller).rejections
                == [.init(opcode: LECreateConnectionCancel.opcode, status: .commandDisallowed)])
    }

    @Test("with the accept list the first device of it that is heard gets the link")
    func acceptList() {
        var other = heart
        other.address = DeviceAddress(value: 0xC000_0000_0009, kind: .random)
        air.addPeripheral(heart)
        air.addPeripheral(other)
        host.perform(LEAddDeviceToFilterAcceptList(address: other.address))
        host.perform(LECreateConnection(filterPolicy: .acceptList, parameters: TestHost.linkParameters))
        host.run(milliseconds: 500)
        #expect(host.lastLink?.peerAddress == other.address)
    }

    @Test("a public address is not the random one with the same octets (pain 10)")
    func addressType() {
        air.addPeripheral(heart)
        host.beginConnecting(to: DeviceAddress(value: heart.address.value, kind: .public))
        host.run(milliseconds: 2000)
        #expect(host.connectionResults.isEmpty)
    }

    @Test("a device that is connected already is refused with 0x0B")
    func exists() throws {
        air.addPeripheral(heart)
        _ = try host.connect(to: heart.address)
        #expect(host.beginConnecting(to: heart.address) == .connectionAlreadyExists)
    }

    @Test("more links than the controller can hold are refused with 0x09")
    func limit() throws {
        var configuration = SimulatedControllerConfiguration.numbered(2)
        configuration.maximumLinks = 1
        let small = TestHost.ready(air, configuration)
        air.addPeripheral(heart)
        _ = try small.connect(to: heart.address)
        #expect(
            small.beginConnecting(to: DeviceAddress(value: 0xC000_0000_0009, kind: .random))
                == .connectionLimitExceeded)
    }

    @Test("scanning goes on beside a pending connection")
    func scanBeside() {
        host.scan()
        host.beginConnecting(to: DeviceAddress(value: 0xC000_0000_0009, kind: .random))
        air.addPeripheral(heart)
        host.run(milliseconds: 300)
        #expect(!host.legacyReports.isEmpty)
    }

    @Test("a beacon is not connected to")
    func beacon() {
        air.addBroadcaster(.testBeacon)
        host.beginConnecting(to: SimulatedBroadcaster.testBeacon.address)
        host.run(milliseconds: 2000)
        #expect(host.connectionResults.isEmpty)
    }

    @Test("an establishment that fails is a link that ends with 0x3E after six intervals")
    func failsToEstablish() {
        let device = air.addPeripheral(heart)
        air.changeFaults(of: host.controller) { $0.failingConnections = 1 }
        host.beginConnecting(to: heart.address)
        host.run(milliseconds: 500)
        #expect(host.connectionResults == [.success])
        #expect(host.disconnections.map(\.reason) == [.connectionFailedToBeEstablished])
        #expect(!air.statistics(of: device).isConnected)
        host.beginConnecting(to: heart.address)
        host.run(milliseconds: 500)
        #expect(host.connectionResults == [.success, .success])
        #expect(air.statistics(of: device).isConnected)
    }

    @Test("other controllers say 0x3E in Connection Complete itself")
    func failsInConnectionComplete() {
        air.addPeripheral(heart)
        air.changeFaults(of: host.controller) {
            $0.failingConnections = 1
            $0.connectionFailure = .connectionComplete
        }
        host.beginConnecting(to: heart.address)
        host.run(milliseconds: 500)
        #expect(host.connectionResults == [.connectionFailedToBeEstablished])
        #expect(host.beginConnecting(to: heart.address) == .success)
    }
}
