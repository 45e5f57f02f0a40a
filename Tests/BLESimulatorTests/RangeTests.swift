import BLEPackets
import BLESimulator
import Testing

@Suite("Near and far")
struct RangeTests {
    let air = SimulatedAir()
    let host: TestHost
    let device: SimulatedDeviceID
    let heart = SimulatedPeripheral.jellingHeart.address

    init() {
        host = .ready(air)
        var belt = SimulatedPeripheral.jellingHeart
        belt.motion = nil
        device = air.addPeripheral(belt)
    }

    @Test("a device that goes out of range is lost on both sides after the supervision timeout: 0x08")
    func lost() throws {
        _ = try host.connect(to: heart)
        air.setInRange(false, device)
        host.run(milliseconds: 900)
        #expect(host.disconnections.isEmpty)
        host.run(milliseconds: 200)
        #expect(host.disconnections.map(\.reason) == [.connectionTimeout])
        #expect(air.statistics(of: device).lastDisconnectReason == .connectionTimeout)
    }

    @Test("a device that comes back in time is not lost, and what waited arrives")
    func comesBack() throws {
        let link = try host.connect(to: heart)
        air.setInRange(false, device)
        host.send([0x0A, 3, 0], to: link)
        host.run(milliseconds: 800)
        #expect(host.frames.isEmpty)
        air.setInRange(true, device)
        host.run(milliseconds: 5000)
        #expect(host.disconnections.isEmpty && host.frames.count == 1)
    }

    @Test(
        "a link on which nothing gets through any more is lost after the supervision timeout, idle or not: 0x08",
        arguments: [false, true])
    func everythingLost(hasData: Bool) throws {
        let link = try host.connect(to: heart)
        #expect(host.request([0x0A, 3, 0], on: link)?.first == 0x0B)
        air.configuration.lossPerMille = 1000
        if hasData { host.send([0x0A, 3, 0], to: link) }
        host.run(milliseconds: 900)
        #expect(host.disconnections.isEmpty)
        host.run(milliseconds: 200)
        #expect(host.disconnections.map(\.reason) == [.connectionTimeout])
        #expect(air.statistics(of: device).lastDisconnectReason == .connectionTimeout)
    }

    @Test("a link that the air's sensitivity no longer reaches is lost, unless it reaches it again in time")
    func lessSensitive() throws {
        _ = try host.connect(to: heart)
        air.setSignal(-55, of: device)
        air.configuration.sensitivity = -40
        host.run(milliseconds: 800)
        air.configuration.sensitivity = -100
        host.run(milliseconds: 5000)
        #expect(host.disconnections.isEmpty)
        air.configuration.sensitivity = -40
        host.run(milliseconds: 1100)
        #expect(host.disconnections.map(\.reason) == [.connectionTimeout])
    }

    @Test("a link survives loss that lets something through in time")
    func survivesLoss() throws {
        let link = try host.connect(to: heart)
        air.configuration.lossPerMille = 1000
        host.send([0x0A, 3, 0], to: link)
        host.run(milliseconds: 800)
        air.configuration.lossPerMille = 300
        host.run(milliseconds: 3_600_000)
        #expect(host.disconnections.isEmpty && host.frames.count == 1)
        air.configuration.lossPerMille = 0
        host.run(milliseconds: 2000)
        #expect(host.disconnections.isEmpty && air.nextDeadlineMicroseconds == nil)
    }

    @Test("the supervision timeout counts from the last packet, whatever took the later ones")
    func lostInSeveralWays() throws {
        _ = try host.connect(to: heart)
        air.configuration.lossPerMille = 1000
        host.run(milliseconds: 600)
        air.setInRange(false, device)
        host.run(milliseconds: 200)
        air.setInRange(true, device)
        host.run(milliseconds: 300)
        #expect(host.disconnections.map(\.reason) == [.connectionTimeout])
    }

    @Test("a link that one end has forgotten is not taken up again")
    func forgotten() throws {
        _ = try host.connect(to: heart)
        host.perform(Reset())
        air.setInRange(false, device)
        air.setInRange(true, device)
        air.configuration.sensitivity = -90
        host.run(milliseconds: 1100)
        #expect(!air.statistics(of: device).isConnected)
        #expect(air.statistics(of: device).lastDisconnectReason == .connectionTimeout)
    }

    @Test("a device that is removed is lost as well, and is never heard again")
    func removed() throws {
        _ = try host.connect(to: heart)
        air.remove(device)
        host.run(milliseconds: 1100)
        #expect(host.disconnections.map(\.reason) == [.connectionTimeout])
        host.scan()
        host.run(milliseconds: 2000)
        #expect(host.legacyReports.isEmpty)
    }

    @Test("disconnecting from a device out of range ends with the supervision timeout, as our own request: 0x16")
    func disconnectOutOfRange() throws {
        let link = try host.connect(to: heart)
        air.setInRange(false, device)
        host.perform(Disconnect(connectionHandle: link))
        host.run(milliseconds: 1100)
        #expect(host.disconnections.map(\.reason) == [.connectionTerminatedByLocalHost])
        #expect(air.statistics(of: device).lastDisconnectReason == .connectionTimeout)
    }

    @Test("a device out of range is not heard, nor one below the sensitivity")
    func notHeard() {
        host.scan()
        host.run(milliseconds: 300)
        #expect(!host.legacyReports.isEmpty)
        for change in [{ air.setInRange(false, device) }, { air.setSignal(-105, of: device) }] {
            change()
            host.run(milliseconds: 10)
            host.forget()
            host.run(milliseconds: 1000)
            #expect(host.legacyReports.isEmpty)
            air.setInRange(true, device)
        }
        air.setSignal(-80, of: device)
        host.run(milliseconds: 300)
        #expect(host.legacyReports.last?.rssi == -80)
    }

    @Test(
        "the signal falls by 6 dB with each doubling of the distance",
        arguments: [(1.0, -59), (2.0, -65), (4.0, -71), (10.0, -79), (0.5, -53)])
    func distance(metres: Double, rssi: Int) {
        air.setDistance(metres: metres, of: device)
        host.scan(.passive)
        host.run(milliseconds: 200)
        #expect(host.legacyReports.first.map { Int($0.rssi) } == rssi)
    }

    @Test("jitter stays within its bounds and gives several values")
    func jitter() {
        air.configuration.signalJitter = 4
        host.scan(.passive)
        host.run(milliseconds: 10_000)
        let values = Set(host.legacyReports.map(\.rssi))
        #expect(values.allSatisfy { -56 ... -48 ~= $0 } && values.count >= 5)
    }

    @Test("advertising data may change, stop and go on")
    func advertisement() {
        host.scan(.passive)
        air.setAdvertisement(.init(data: [2, 0x0A, 9]), of: device)
        host.run(milliseconds: 300)
        #expect(host.legacyReports.last?.data == [2, 0x0A, 9])
        air.setAdvertising(false, of: device)
        host.run(milliseconds: 10)
        host.forget()
        host.run(milliseconds: 1000)
        #expect(host.legacyReports.isEmpty)
        air.setAdvertising(true, of: device)
        host.run(milliseconds: 300)
        #expect(!host.legacyReports.isEmpty)
    }

    @Test("a device that is connected advertises no more, and goes on when the link has ended")
    func restsWhileConnected() throws {
        let link = try host.connect(to: heart)
        host.scan(.passive)
        host.run(milliseconds: 1000)
        #expect(host.legacyReports.isEmpty)
        host.perform(Disconnect(connectionHandle: link))
        host.run(milliseconds: 300)
        #expect(!host.legacyReports.isEmpty)
        #expect(air.statistics(of: device).lastDisconnectReason == .remoteUserTerminatedConnection)
    }

    @Test("a device may end the link itself")
    func deviceDisconnects() throws {
        _ = try host.connect(to: heart)
        air.disconnect(device, reason: .remoteDevicePowerOff)
        host.run(milliseconds: 100)
        #expect(host.disconnections.map(\.reason) == [.remoteDevicePowerOff])
        #expect(air.statistics(of: device).lastDisconnectReason == .connectionTerminatedByLocalHost)
    }
}
