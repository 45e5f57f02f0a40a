import BLEPackets
import Testing

@testable import BLEHost

@Suite("Whom events concern, and what commands occupy")
struct AudienceTests {
    private static let link = LinkID(handle: ConnectionHandle(rawValue: 64), generation: 1)
    private static let channel = ChannelID(link: link, number: 3)
    private static let client = ClientID(rawValue: 7)
    private static let operation = OperationID(rawValue: 9)
    private static let address = DeviceAddress(value: 0xC000_0000_0001, kind: .random)
    private static let handle = AttributeHandle(rawValue: 0x12)
    private static let parameters = ConnectionParameters(
        interval: .milliseconds(30), peripheralLatency: 0, supervisionTimeout: .milliseconds(720))
    private static let information = LinkInformation(
        id: link, peer: address, role: .central, parameters: parameters, attMTU: 23)

    /// Every case, those with several audiences once for each.
    private static let events: [(event: HostEvent, audience: HostAudience)] = [
        (.ready(ControllerInformation()), .everyone),
        (.recovering(.reset), .everyone),
        (.failed(.controllerUnresponsive), .owner),
        (.reopenTransport(resetsDevice: false), .owner),
        (.stopped, .owner),
        (
            .discovered(
                Discovery(
                    scan: operation, client: client, address: address, rssi: -40, isConnectable: true,
                    isScannable: true, advertisement: [], scanResponse: [], txPower: nil, isExtended: false,
                    time: .zero)), .scanners
        ),
        (.advertisingChanged(isAdvertising: true), .everyone),
        (.advertisingRoom(operation, client, AdvertisingRoom()), .client(client)),
        (.advertisingSet(operation, client, .stopped), .client(client)),
        (.train(operation, client, .lost(advertiser: address, identifier: 1)), .client(client)),
        (.completed(operation, .success(.done)), .operation(operation)),
        (.connected(information, client), .client(client)),
        (.disconnected(link, client, reason: .controllerLost), .client(client)),
        (
            .gatt(
                link,
                .notification(
                    GATTNotification(handle: handle, value: [1], isIndication: false, clients: [client, .local]))),
            .clients([client, .local])
        ),
        (.gatt(link, .mtuChanged(100)), .holders(link)),
        (.centralConnected(information), .servers),
        (.centralDisconnected(link, reason: .controllerLost), .servers),
        (
            .server(
                .read(
                    GATTReadRequest(
                        id: GATTRequestID(rawValue: 1), link: link, handle: handle, offset: 0, owner: client))),
            .client(client)
        ),
        (.server(.readyToUpdate), .servers),
        (.pairing(link, .started), .pairing(link)),
        (
            .encryptionChanged(
                link,
                LinkSecurity(
                    isEncrypted: true, isAuthenticated: false, isSecureConnections: true, keySize: 16, isBonded: false,
                    identity: address)), .holders(link)
        ),
        (.cleartextRefused(link, address), .holders(link)),
        (.bondChanged(Bond(identity: address)), .everyone),
        (.bondRemoved(address), .everyone),
        (
            .channel(.opened(ChannelInformation(id: channel, spsm: 0x80, sendMTU: 64, receiveMTU: 64), client)),
            .client(client)
        ),
        (.channel(.received(channel, [1])), .channel(channel)),
        (.channel(.closed(channel, .linkLost)), .channel(channel)),
        (.connectionParametersChanged(link, parameters), .holders(link)),
        (
            .subrateChanged(
                link,
                LinkSubrate(factor: 1, continuationNumber: 0, latency: 0, supervisionTimeout: .milliseconds(720))),
            .holders(link)
        ),
        (.linkReport(link, .unauthenticated), .observers(link)),
        (.phyChanged(link, transmit: .le1M, receive: .le1M), .holders(link)),
        (
            .dataLengthChanged(
                link,
                DataLength(
                    maxTransmitOctets: 27, maxTransmitMicroseconds: 328, maxReceiveOctets: 27,
                    maxReceiveMicroseconds: 328)), .holders(link)
        ),
        (.identityFound(address, behind: address), .log),
        (.ambiguousIdentity(address, []), .log),
        (.malformedPacket(.trailingBytes(1)), .log),
    ]

    /// The name of a case.
    private static func name(_ event: HostEvent) -> Substring { "\(event)".prefix { $0 != "(" } }

    @Test("each event has the audience that owners rely on")
    func audiences() {
        for (event, audience) in Self.events { #expect(event.audience == audience) }
        #expect(Set(Self.events.map { Self.name($0.event) }).count == 31)
    }

    @Test("what a command occupies is limited where several clients share an engine")
    func resources() {
        let occupying: [(HostCommand, ScarceResource)] = [
            (.radio(.scan(ScanRequest())), .scan),
            (.radio(.advertise(AdvertiseRequest(.packed(localName: nil, serviceUUIDs: [])))), .advertisement),
            (.channel(.listen(spsm: nil, ChannelSettings(), requiresEncryption: false)), .channel),
            (.channel(.open(Self.link, spsm: 0x80, ChannelSettings())), .channel),
            (.server(.publish(GATTServiceDefinition(uuid: BluetoothUUID(0x180F as UInt16)))), .service),
        ]
        for (command, resource) in occupying { #expect(command.scarceResource == resource) }
        let free: [HostCommand] = [
            .radio(.connect(ConnectRequest(peer: Self.address))), .link(Self.link, .disconnect),
            .channel(.close(Self.channel)), .cancel(Self.operation), .withholdConfirmations(true), .stop,
        ]
        for command in free { #expect(command.scarceResource == nil) }
    }
}
