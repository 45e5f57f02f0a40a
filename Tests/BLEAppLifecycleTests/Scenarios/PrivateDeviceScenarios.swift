import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// Devices whose address changes, as apps see them.
@Suite("Scenarios: private devices")
struct PrivateDeviceScenarios {
    private let world = World()
    private static let identity = DeviceAddress(value: 0xC0DE_0000_0099, kind: .random)

    private func configuration(isPrivate: Bool) -> HostConfiguration {
        var configuration = HostConfiguration(hasCryptoProvider: true)
        guard isPrivate else { return configuration }
        configuration.ownAddress = .resolvable(fallback: Self.identity)
        configuration.security.identityResolvingKey = Key128(rawValue: 0xFEED)
        configuration.privateAddressLifetime = .seconds(60)
        return configuration
    }

    private func privateController() -> SimulatedControllerConfiguration {
        var controller = SimulatedControllerConfiguration()
        controller.publicAddress = nil
        return controller
    }

    @Test(
        "a device that pairs keeps its identifier for every app, connects again and is restored by it (SPEC REC-3, 5.6, LTA-1)",
        arguments: [1, 150])
    func reconnection(pause: Int32) throws {
        let remote = AppStation(
            world, configuration: configuration(isPrivate: true), controller: privateController())
        let server = TestApp(remote).peripheral()
        let secret = LocalService(
            id: Profiles.id(1), uuid: Profiles.lock,
            characteristics: [
                LocalCharacteristic(
                    id: Profiles.id(2), uuid: Profiles.lockState, properties: 0x02, permissions: 0x04, value: [1])
            ])
        #expect(server.add(secret) == nil)
        server.ask(.startAdvertising(AdvertisementRequest(serviceUUIDs: [Profiles.lock])))
        let station = AppStation(world, configuration: configuration(isPrivate: false), seed: 2)
        let manager = TestApp(station).central()
        let other = TestApp(station, "org.example.other").central()
        let peer = try #require(manager.discover([Profiles.lock]))
        let theirs = try #require(other.discover([Profiles.lock]))
        #expect(manager.connect(peer))
        let value = try #require(manager.explore(peer, Profiles.lock).first)
        manager.ask(.readValue(characteristic: value.id), of: peer)
        #expect(manager.wait(.seconds(20)) { _ in manager.values == [[1]] })
        // Another app has the link at once.
        #expect(other.connect(theirs))
        other.ask(.cancelConnection(theirs))
        manager.ask(.cancelConnection(peer))
        world.run(for: .seconds(pause))
        manager.forget()
        other.forget()
        #expect(manager.connect(peer))
        manager.ask(.cancelConnection(peer))
        world.run(for: .seconds(5))
        for (app, known) in [(manager, peer), (other, theirs)] {
            #expect(app.discover([Profiles.lock]) == known)
            app.ask(.retrievePeripherals(QueryID(rawValue: 9), [known]))
            #expect(
                app.events.contains {
                    if case .retrieved(_, let found) = $0 { found.map(\.identifier) == [known] } else { false }
                })
        }
        #expect(manager.disconnections == [nil])
        let kept = AppStation.state(in: station.journal).identities
        #expect(kept.last { $0.identifier == peer }?.address == Self.identity)
        #expect(kept.last { $0.identifier == theirs }?.address == Self.identity)
    }
}
