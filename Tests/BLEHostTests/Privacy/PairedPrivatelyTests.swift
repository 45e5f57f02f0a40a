import BLEPackets
import BLESimulator
import Testing

@testable import BLEHost

/// Devices that were met under a private address and have told who they are since.
@Suite("Devices paired under a private address")
struct PairedPrivatelyTests {
    typealias World = PrivateWorldTests

    /// A link under the peripheral's private address, paired over.
    private static func paired(
        _ kind: World.Kind, resumes: Bool = true
    ) throws -> (pair: HostPair, address: DeviceAddress, link: LinkID) {
        let pair = World.world([.extended, kind], friends: [])
        var request = World.open
        request.resumesAfterConnection = resumes
        pair.submit(.radio(.advertise(request)), to: pair.stations[0])
        let address = try #require(pair.stations[0].ownAddress)
        let link = try #require(pair.connect(pair.stations[1], to: address))
        guard case .success(.paired)? = pair.result(of: .security(.pair(link, nil)), at: pair.stations[1]) else {
            throw Missing()
        }
        return (pair, address, link)
    }

    private struct Missing: Error {}

    @Test(
        "its link is found under its identity and under the address of the connection (SPEC 2.3 connect)",
        arguments: [true, false])
    func sharedLink(resumes: Bool) throws {
        let (pair, address, link) = try Self.paired(.extended, resumes: resumes)
        let central = pair.stations[1]
        #expect(central.events.contains(.identityFound(World.identity(0), behind: address)))
        pair.run(for: .seconds(2))
        for (client, peer) in [(7, World.identity(0)), (8, address)] as [(UInt32, DeviceAddress)] {
            let again = pair.submit(
                .radio(.connect(ConnectRequest(peer: peer))), to: central, from: ClientID(rawValue: client))
            #expect(central.results(of: again) == [.success(.connected(link))])
            #expect(central.links.last?.peer == World.identity(0).asIdentity)
        }
    }

    @Test("who waits for its identity while it pairs has that link (SPEC 2.3 connect)")
    func waitingForTheIdentity() throws {
        let pair = World.world([.extended, .extended], friends: [])
        let (peripheral, central) = (pair.stations[0], pair.stations[1])
        pair.submit(.radio(.advertise(World.open)), to: peripheral)
        let address = try #require(peripheral.ownAddress)
        let link = try #require(pair.connect(central, to: address))
        let waiting = pair.submit(
            .radio(.connect(ConnectRequest(peer: World.identity(0)))), to: central, from: ClientID(rawValue: 7))
        #expect(central.results(of: waiting).isEmpty)
        _ = pair.result(of: .security(.pair(link, nil)), at: central)
        #expect(central.results(of: waiting) == [.success(.connected(link))])
    }

    @Test(
        "the address of the first connection leads to it again, now and when it has another (SPEC REC-3)",
        arguments: World.Kind.allCases, [1, 150])
    func connectAgain(kind: World.Kind, pause: Int32) throws {
        let (pair, address, link) = try Self.paired(kind)
        let (peripheral, central) = (pair.stations[0], pair.stations[1])
        pair.submit(.link(link, .disconnect), to: central)
        pair.run(for: .seconds(pause))
        #expect((peripheral.ownAddress == address) == (pause == 1))
        let before = peripheral.centrals.count
        let again = pair.submit(.radio(.connect(ConnectRequest(peer: address))), to: central)
        #expect(pair.run(for: .seconds(40)) { !central.results(of: again).isEmpty })
        #expect(central.links.last?.peer == World.identity(0).asIdentity)
        pair.run(for: .seconds(5))
        #expect(peripheral.centrals.count == before + 1)
    }

    @Test(
        "a bonded device is connected to under a private address of its own, and who asked is told who that is (SPEC CEN-9)",
        arguments: World.Kind.allCases)
    func bondedBefore(kind: World.Kind) throws {
        let pair = World.world([.extended, kind], friends: [1])
        let (peripheral, central) = (pair.stations[0], pair.stations[1])
        let address = try #require(peripheral.ownAddress)
        let operation = pair.submit(.radio(.connect(ConnectRequest(peer: address))), to: central)
        #expect(central.events.contains(.identityFound(World.identity(0), behind: address)))
        pair.run(for: .seconds(200))
        pair.submit(.radio(.advertise(World.open)), to: peripheral)
        #expect(pair.run(for: .seconds(40)) { !central.results(of: operation).isEmpty })
        #expect(peripheral.centrals.count == 1)
    }

    @Test("a bond that comes later names those that are waited for")
    func bondedLater() throws {
        let pair = World.world([.extended, .without], friends: [])
        let (peripheral, central) = (pair.stations[0], pair.stations[1])
        let address = try #require(peripheral.ownAddress)
        let operation = pair.submit(.radio(.connect(ConnectRequest(peer: address))), to: central)
        pair.run(for: .seconds(100))
        pair.submit(.security(.restoreBonds([World.bond(0, with: 1)])), to: central)
        pair.submit(.radio(.advertise(World.open)), to: peripheral)
        #expect(pair.run(for: .seconds(40)) { !central.results(of: operation).isEmpty })
    }
}
