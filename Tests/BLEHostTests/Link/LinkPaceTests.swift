import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEHost

/// Connection parameters that follow what runs on a link, on virtual time.
@Suite("The pace of links")
struct LinkPaceTests {
    /// The intervals of a link, in milliseconds, in the order in which they came into force.
    static func intervals(_ host: HostStation, _ link: LinkID) -> [Double] {
        host.events.compactMap {
            if case .connectionParametersChanged(link, let parameters) = $0 {
                parameters.interval.milliseconds
            } else {
                nil
            }
        }
    }

    static func latency(_ host: HostStation, _ link: LinkID) -> UInt16? {
        host.events.reversed().lazy.compactMap {
            if case .connectionParametersChanged(link, let parameters) = $0 {
                parameters.peripheralLatency
            } else {
                nil
            }
        }.first
    }

    static func linked(
        _ pace: LinkPace?, _ change: (inout Timing) -> Void = { _ in }
    ) throws -> (world: World, link: LinkID, toCentral: LinkID) {
        let world = World(
            hosts: 2,
            configuration: { number in
                var configuration = HostConfiguration()
                if number == 1 { change(&configuration.timing) }
                return configuration
            })
        world.peripheral.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: [])))))
        var request = ConnectRequest(peer: world.peripheral.address)
        request.pace = pace
        guard case .success(.connected(let link))? = world.central.result(of: .radio(.connect(request))) else {
            throw Missing()
        }
        return (world, link, try #require(world.peripheral.centrals.first).id)
    }

    struct Missing: Error {}

    @Test(
        "a link begins busy, becomes idle, and is busy again during a discovery",
        arguments: [
            LinkPace.lowPower, .balanced, .throughput,
        ])
    func follows(pace: LinkPace) throws {
        let (world, link, _) = try Self.linked(pace)
        let central = world.central
        let first = try #require(central.links.first?.parameters)
        #expect(pace.busy.interval.contains(first.interval) && first.peripheralLatency == 0)
        world.run(for: .seconds(30))
        let idle = pace.idle.interval.upperBound.milliseconds
        #expect(Self.intervals(central, link) == [idle])
        #expect(Self.latency(central, link) == pace.idle.peripheralLatency)
        // A value that is read each second leaves it idle.
        for _ in 0..<10 {
            #expect(central.gatt(link, .read(AttributeHandle(rawValue: 3))) != nil)
            world.run(for: .seconds(1))
        }
        #expect(Self.intervals(central, link) == [idle])
        for _ in 0..<8 { #expect(central.gatt(link, .discoverServices(uuids: [])) != nil) }
        world.run(for: .seconds(1))
        #expect(Self.intervals(central, link) == [idle, pace.busy.interval.upperBound.milliseconds])
        world.run(for: .seconds(60))
        #expect(Self.intervals(central, link).last == idle)
        #expect(Self.intervals(central, link).count == 3)
        #expect(central.air.statistics(of: central.controller).rejections.isEmpty)
    }

    @Test("without a pace nothing changes; the pace of the timing holds for requests without one")
    func timing() throws {
        let (still, link, _) = try Self.linked(nil)
        still.run(for: .seconds(60))
        #expect(Self.intervals(still.central, link).isEmpty)
        let (world, other, _) = try Self.linked(nil) { $0.pace = .balanced }
        world.run(for: .seconds(60))
        #expect(Self.intervals(world.central, other) == [150])
    }

    @Test("what the peripheral asks for is used while the link is idle; a client's choice stays")
    func choices() throws {
        let (world, link, toCentral) = try Self.linked(.balanced)
        let wish = ConnectionParameterRequest(
            interval: .milliseconds(200)...ConnectionInterval.milliseconds(200), peripheralLatency: 1,
            supervisionTimeout: .milliseconds(4000))
        #expect(
            world.peripheral.result(of: .link(toCentral, .procedure(.updateParameters(wish)))) != nil)
        for _ in 0..<8 { #expect(world.central.gatt(link, .discoverServices(uuids: [])) != nil) }
        world.run(for: .seconds(60))
        #expect(Self.intervals(world.central, link).last == 200)
        let choice = ConnectionParameterRequest(
            interval: .milliseconds(50)...ConnectionInterval.milliseconds(50), peripheralLatency: 0,
            supervisionTimeout: .milliseconds(4000))
        #expect(world.central.result(of: .link(link, .procedure(.updateParameters(choice)))) != nil)
        for _ in 0..<8 { #expect(world.central.gatt(link, .discoverServices(uuids: [])) != nil) }
        world.run(for: .seconds(60))
        #expect(Self.intervals(world.central, link).last == 50)
    }

    @Test("parameters that contradict one another are refused")
    func invalid() {
        let world = World(hosts: 2)
        var pace = LinkPace.balanced
        pace.idle.supervisionTimeout = .milliseconds(100)
        var request = ConnectRequest(peer: world.peripheral.address)
        request.pace = pace
        #expect(
            world.central.result(of: .radio(.connect(request)))
                == .failure(.invalidRequest(.connectionParameters)))
    }
}
