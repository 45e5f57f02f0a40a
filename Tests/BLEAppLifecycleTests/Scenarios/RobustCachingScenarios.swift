import BLEHost
import BLEPackets
import TestSupport
import Testing

@testable import BLEAppLifecycle

/// What the system asks of a bonded device that can tell a client of its services from one that knows them no longer
/// (Core 5.4, Vol 3, Part G, 2.5.2.1).
@Suite("Scenarios: robust caching")
struct RobustCachingScenarios {
    private let world = World()
    private let remote: HostStation
    private let central: TestManager

    /// An app, and a device whose value is only for those that are paired with it.
    init() {
        let configuration = HostConfiguration(hasCryptoProvider: true)
        let station = AppStation(world, configuration: configuration)
        remote = HostStation.remote(in: world, configuration: configuration)
        _ = remote.publish(Self.service(Profiles.lock, value: [42]))
        remote.submit(
            .radio(.advertise(AdvertiseRequest(.packed(localName: "Remote", serviceUUIDs: [Profiles.lock])))))
        central = TestApp(station).central()
    }

    private static func service(_ uuid: BluetoothUUID, value: [UInt8]) -> GATTServiceDefinition {
        GATTServiceDefinition(
            uuid: uuid,
            characteristics: [
                GATTCharacteristicDefinition(
                    uuid: Profiles.lockState, properties: .read, permissions: .readEncryption, value: value)
            ])
    }

    /// What the device keeps of the features of its client.
    private var features: UInt8? {
        remote.events.reversed().lazy.compactMap { event -> UInt8? in
            if case .bondChanged(let bond) = event { bond.clientRecord?.features } else { nil }
        }.first
    }

    private func read(_ characteristic: RemoteCharacteristic, of peer: PeerIdentifier) {
        central.forget()
        central.ask(.readValue(characteristic: characteristic.id), of: peer)
        central.run(.seconds(5))
    }

    /// Connects to the bonded device.
    private func bonded() throws -> PeerIdentifier {
        let peer = try #require(central.discover([Profiles.lock]))
        #expect(central.connect(peer))
        read(try #require(central.explore(peer, Profiles.lock).first), of: peer)
        #expect(central.values == [[42]])
        central.ask(.cancelConnection(peer))
        central.run(.seconds(3))
        central.forget()
        #expect(central.connect(peer))
        central.run(.seconds(5))
        return peer
    }

    @Test("a bonded device is asked for robust caching once, and keeps the wish")
    func asked() throws {
        let peer = try bonded()
        #expect(features == 0x01)
        central.ask(.cancelConnection(peer))
        central.run(.seconds(3))
        remote.forget()
        central.forget()
        #expect(central.connect(peer))
        central.run(.seconds(5))
        #expect(features == nil, "it is set already")
    }

    @Test(
        "a request that is refused as out of sync makes all services invalid; the app discovers them again (SPEC 2.3)")
    func outOfSync() throws {
        let peer = try bonded()
        let state = try #require(central.explore(peer, Profiles.lock).first)
        // The indication of Service Changed is lost: another value comes in its place.
        remote.change = { packet in
            guard packet.count > 11, packet[0] == 2, packet[7] == 4, packet[9] == 0x1D else { return packet }
            var other = packet
            (other[9], other[10], other[11]) = (0x1B, 0xFE, 0xFF)
            return other
        }
        _ = remote.publish(Self.service(BluetoothUUID(UInt16(0xFFEA)), value: [1]))
        central.run(.seconds(1))
        read(state, of: peer)
        #expect(central.valueErrors == [.att(code: 0x12)])
        let isTold = central.peripheralEvents.contains { event in
            if case .servicesModified(let gone) = event { !gone.isEmpty } else { false }
        }
        #expect(isTold)
        central.forget()
        let again = try #require(central.explore(peer, Profiles.lock).first)
        read(again, of: peer)
        #expect(central.values == [[42]])
    }
}
