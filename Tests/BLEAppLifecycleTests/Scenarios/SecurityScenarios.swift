import BLEHost
import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// The acceptance scenario of security (SPEC appendix B).
@Suite("Scenarios: security")
struct SecurityScenarios {
    let world = World()

    private func serving(
        pairing: Bool = false
    ) throws -> (
        manager: TestManager, remote: HostStation, link: LinkID, value: DiscoveredCharacteristic
    ) {
        let configuration = HostConfiguration(hasCryptoProvider: pairing)
        let station = AppStation(world, configuration: configuration)
        let manager = TestApp(station).peripheral()
        let secret = LocalService(
            id: Profiles.id(1), uuid: Profiles.lock,
            characteristics: [
                LocalCharacteristic(
                    id: Profiles.id(2), uuid: Profiles.lockState, properties: 0x02 | 0x10 | 0x100, permissions: 0x04)
            ])
        #expect(manager.add(secret) == nil)
        manager.ask(.startAdvertising(AdvertisementRequest(localName: "Door")))
        let remote = HostStation.remote(in: world, configuration: configuration)
        let link = try #require(remote.connect(Profiles.stationAddress))
        return (manager, remote, link, try #require(remote.characteristics(link, Profiles.lock).first))
    }

    @Test("scenario 24, first half: an unpaired central can neither read nor subscribe (SEC-1)")
    func unpaired() throws {
        let (manager, remote, link, value) = try serving()
        manager.forget()
        #expect(value.properties.contains(.notify))
        #expect(remote.attError(link, .read(value.valueHandle)) == .insufficientAuthentication)
        #expect(!remote.subscribe(link, value))
        #expect(manager.events.isEmpty)
    }

    @Test("scenario 24, second half: the refused read pairs and is repeated (SEC-2, SEC-3, SEC-4)")
    func pairs() throws {
        let (manager, remote, link, value) = try serving(pairing: true)
        let operation = remote.submit(.link(link, .gatt(.read(value.valueHandle))))
        manager.wait { if case .readRequest = $0 { true } else { false } }
        manager.ask(.respond(try #require(manager.readRequests.first).id, code: 0, value: [1]))
        world.run(for: .seconds(5))
        #expect(remote.results(of: operation).first == .success(.gatt(.value([1]))))
    }
}
