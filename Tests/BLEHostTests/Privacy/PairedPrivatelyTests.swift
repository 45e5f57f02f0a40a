import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEHost

/// Devices that were met under a private address and have told who they are since.
@Suite("Devices paired under a private address")
struct PairedPrivatelyTests {
    typealias Private = PrivateWorldTests

    /// A link under the peripheral's private address, paired over.
    private static func paired(
        _ kind: Private.Kind, resumes: Bool = true
    ) throws -> (world: World, address: DeviceAddress, link: LinkID) {
        let world = Private.world([.extended, kind], friends: [])
        var request = Private.open
        request.resumesAfterConnection = resumes
        world.hosts[0].submit(.radio(.advertise(request)))
        let address = try #require(world.hosts[0].ownAddress)
        let link = try #require(world.hosts[1].connect(address))
        guard case .success(.paired)? = world.hosts[1].result(of: .security(.pair(link, nil))) else {
            throw Missing()
        }
        return (world, address, link)
    }

    private struct Missing: Error {}

    @Test(
        "its link is found under its identity and under the address of the connection (SPEC 2.3 connect)",
        arguments: [true, false])
    func sharedLink(resumes: Bool) throws {
        let (world, address, link) = try Self.paired(.extended, resumes: resumes)
        let central = world.hosts[1]
        #expect(central.events.contains(.identityFound(Private.identity(0), behind: address)))
        world.run(for: .seconds(2))
        for (client, peer) in [(7, Private.identity(0)), (8, address)] as [(UInt32, DeviceAddress)] {
            let again = central.submit(.radio(.connect(ConnectRequest(peer: peer))), from: ClientID(rawValue: client))
            #expect(central.results(of: again) == [.success(.connected(link))])
            #expect(central.links.last?.peer == Private.identity(0).asIdentity)
        }
    }

    @Test("a client that waits for its identity while it pairs gets that link (SPEC 2.3 connect)")
    func waitingForTheIdentity() throws {
        let world = Private.world([.extended, .extended], friends: [])
        let (peripheral, central) = (world.hosts[0], world.hosts[1])
        peripheral.submit(.radio(.advertise(Private.open)))
        let address = try #require(peripheral.ownAddress)
        let link = try #require(central.connect(address))
        let waiting = central.submit(
            .radio(.connect(ConnectRequest(peer: Private.identity(0)))), from: ClientID(rawValue: 7))
        #expect(central.results(of: waiting).isEmpty)
        _ = central.result(of: .security(.pair(link, nil)))
        #expect(central.results(of: waiting) == [.success(.connected(link))])
    }

    @Test(
        "the address of the first connection leads to it again, now and after it has changed (SPEC REC-3)",
        arguments: Private.Kind.allCases, [1, 150])
    func connectAgain(kind: Private.Kind, pause: Int32) throws {
        let (world, address, link) = try Self.paired(kind)
        let (peripheral, central) = (world.hosts[0], world.hosts[1])
        central.submit(.link(link, .disconnect))
        world.run(for: .seconds(pause))
        #expect((peripheral.ownAddress == address) == (pause == 1))
        let before = peripheral.centrals.count
        let again = central.submit(.radio(.connect(ConnectRequest(peer: address))))
        #expect(world.run(for: .seconds(40)) { !central.results(of: again).isEmpty })
        #expect(central.links.last?.peer == Private.identity(0).asIdentity)
        world.run(for: .seconds(5))
        #expect(peripheral.centrals.count == before + 1)
    }

    @Test(
        "a bonded device is connected to under its private address, and the client learns its identity (SPEC CEN-9)",
        arguments: Private.Kind.allCases)
    func bondedBefore(kind: Private.Kind) throws {
        let world = Private.world([.extended, kind], friends: [1])
        let (peripheral, central) = (world.hosts[0], world.hosts[1])
        let address = try #require(peripheral.ownAddress)
        let operation = central.submit(.radio(.connect(ConnectRequest(peer: address))))
        #expect(central.events.contains(.identityFound(Private.identity(0), behind: address)))
        world.run(for: .seconds(200))
        peripheral.submit(.radio(.advertise(Private.open)))
        #expect(world.run(for: .seconds(40)) { !central.results(of: operation).isEmpty })
        #expect(peripheral.centrals.count == 1)
    }

    @Test("a later bond identifies devices that are waited for")
    func bondedLater() throws {
        let world = Private.world([.extended, .without], friends: [])
        let (peripheral, central) = (world.hosts[0], world.hosts[1])
        let address = try #require(peripheral.ownAddress)
        let operation = central.submit(.radio(.connect(ConnectRequest(peer: address))))
        world.run(for: .seconds(100))
        central.submit(.security(.restoreBonds([Private.bond(0, with: 1)])))
        peripheral.submit(.radio(.advertise(Private.open)))
        #expect(world.run(for: .seconds(40)) { !central.results(of: operation).isEmpty })
    }
}
