import BLEPackets
import Testing

@testable import BLESimulator

@Suite("Collisions and drift")
struct ConditionTests {
    private static func address(_ number: Int) -> DeviceAddress {
        DeviceAddress(value: 0xC000_0000_0000 + UInt64(number), kind: .random)
    }

    /// How often each of `count` beacons is heard in ten seconds; the first one is the nearest.
    private func heard(of count: Int, collide: Bool, seed: UInt64 = 1) -> [Int] {
        let air = SimulatedAir(seed: seed, configuration: .init(advertisementsCollide: collide))
        for number in 0..<count {
            let advertisement = SimulatedAdvertisement(data: [UInt8](repeating: 0, count: 31), isConnectable: false)
            air.addBroadcaster(
                .init(
                    address: Self.address(number), advertisement: advertisement, rssi: number == 0 ? -40 : -60))
        }
        let host = TestHost.ready(air)
        host.scan(.passive)
        host.run(milliseconds: 10_000)
        var reports = [Int](repeating: 0, count: count)
        for report in host.legacyReports { reports[Int(report.address.value & 0xFFFF)] += 1 }
        return reports
    }

    @Test("a hundred beacons drown each other as often as pure ALOHA says, but not one that is 10 dB stronger")
    func collisions() {
        let free = heard(of: 100, collide: false)
        let crowded = heard(of: 100, collide: true)
        // A packet of 376 µs every 105 ms, and 99 others: e to the power of −2 × 99 × 376 / 105,000 is 0.49.
        let share = Double(crowded.reduce(0, +)) / Double(free.reduce(0, +))
        #expect((0.42...0.56).contains(share), "\(share)")
        #expect(abs(crowded[0] - free[0]) <= 4)
        #expect(crowded == heard(of: 100, collide: true))
        #expect(crowded != heard(of: 100, collide: true, seed: 2))
    }

    @Test("a beacon alone loses nothing on an air with collisions")
    func alone() { #expect(abs(heard(of: 1, collide: true)[0] - heard(of: 1, collide: false)[0]) <= 2) }

    @Test("a crowd delays a connection and does not prevent it")
    func connecting() throws {
        let air = SimulatedAir(configuration: .init(advertisementsCollide: true))
        for number in 1...200 {
            air.addBroadcaster(
                .init(
                    address: Self.address(number), advertisement: SimulatedAdvertisement(data: [2, 1, 6]), rssi: -40))
        }
        air.addPeripheral(SimulatedPeripheral(name: "Lamp", address: Self.address(0), rssi: -40))
        let host = TestHost.ready(air)
        host.beginConnecting(to: Self.address(0))
        host.run(milliseconds: 5000)
        #expect(host.lastLink != nil)
    }

    @Test("two controllers that advertise hear each other beside their own advertisements")
    func controllers() {
        let air = SimulatedAir(configuration: .init(advertisementsCollide: true, clockDriftPartsPerMillion: 500))
        let hosts = [1, 2].map { TestHost.ready(air, .numbered($0)) }
        for host in hosts {
            host.advertise(type: .nonConnectableUndirected)
            host.scan(.passive)
        }
        for _ in 0..<100 { for host in hosts { host.run(milliseconds: 50) } }
        for host in hosts { #expect((80...100).contains(host.legacyReports.count), "\(host.legacyReports.count)") }
    }

    @Test(
        "a clock's intervals are too long or too short by its share, whatever their number",
        arguments: [-500, -1, 0, 1, 37, 500])
    func clocks(partsPerMillion: Int64) {
        let clock = StationClock(partsPerMillion: partsPerMillion)
        // A hundred days of connection events.
        for count: Int64 in [0, 1, 2, 133, 134, 1_000_000, 1_151_999_999] {
            let own = count * 7_500
            let air = clock.airTime(of: own)
            #expect(0..<1_000_000 ~= (air - own) * 1_000_000 - own * partsPerMillion)
            #expect(clock.ownTime(after: air) / 7_500 == count)
            #expect(count == 0 || clock.ownTime(after: air - 1) / 7_500 == count - 1)
        }
    }

    @Test("the seed decides each station's clock, within the limit")
    func drift() {
        let air = SimulatedAir(seed: 3, configuration: .init(clockDriftPartsPerMillion: 100))
        let clocks = (0..<1000).map { air.clock(of: $0).partsPerMillion }
        #expect(clocks.allSatisfy { (-100...100).contains($0) } && Set(clocks).count > 150)
        let other = SimulatedAir(seed: 4, configuration: air.configuration)
        #expect(clocks != (0..<1000).map { other.clock(of: $0).partsPerMillion })
        air.configuration.clockDriftPartsPerMillion = 0
        #expect(air.clock(of: 7) == .exact)
    }

    @Test("the events of a link drift with its central")
    func links() throws {
        /// When a request that is sent after ten minutes is answered.
        func answered(drift: Int) throws -> Int64 {
            let air = SimulatedAir(seed: 5, configuration: .init(clockDriftPartsPerMillion: drift))
            air.addPeripheral(.jellingHeart)
            let host = TestHost.ready(air)
            let link = try host.connect(to: SimulatedPeripheral.jellingHeart.address)
            host.air.advance(to: 600_000_000)
            host.forget()
            host.send([0x02, 23, 0], to: link)
            while host.frames.isEmpty, host.air.nowMicroseconds < 601_000_000 { host.run(microseconds: 1) }
            return host.air.nowMicroseconds
        }
        let exact = try answered(drift: 0)
        let drifted = try answered(drift: 500)
        #expect(exact < 600_100_000 && drifted < 600_100_000)
        #expect(exact != drifted)
    }
}
