import BLE
import BLEAppLifecycle
import BLEMessages
import Testing

@Suite("Messages with a whole database of a device")
struct DeepMessageTests {
    private static let peer = PeerIdentifier(high: 1, low: 2)
    private static let services = [
        RemoteService(
            id: RemoteAttributeID(rawValue: 1), uuid: "180D", isPrimary: true, endHandle: 20,
            includedServices: [RemoteAttributeID(rawValue: 1)],
            characteristics: [
                RemoteCharacteristic(
                    id: RemoteAttributeID(rawValue: 2), uuid: "2A37", properties: 0x10, isNotifying: true,
                    descriptors: [RemoteDescriptor(id: RemoteAttributeID(rawValue: 4), uuid: "2902")], valueHandle: 3,
                    endHandle: 4, configuration: 4)
            ])
    ]

    @Test(
        "an app is told of services whose descriptors it has discovered, also when it is restored",
        arguments: [
            ClientEvent.peripheral(peer, .servicesDiscovered(services, nil)),
            .peripheral(peer, .includedServicesDiscovered(service: services[0].id, services, nil)),
            .peripheral(
                peer, .characteristicsDiscovered(service: services[0].id, services[0].characteristics ?? [], nil)),
            .willRestoreCentral(
                RestoredCentral(peripherals: [
                    RestoredRemotePeripheral(
                        description: PeripheralDescription(identifier: peer), services: services,
                        writeLimits: WriteLimits())
                ])),
        ])
    func explored(event: ClientEvent) throws {
        let message = FromDaemon.appEvent(AppEvent(event, to: ManagerID(rawValue: 1)))
        var reader = FrameReader(limit: BledProtocol.eventLimit)
        reader.append(message.framed().span.bytes)
        #expect(try FromDaemon(octets: try #require(try reader.next())) == message)
    }
}
