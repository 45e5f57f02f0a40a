import BLEAppLifecycle
import BLEMessages
import BLEPackets
import Testing

@Suite("Discoveries are encoded once for many apps")
struct DiscoveryEncoderTests {
    @Test("each frame is the one that the message makes for itself")
    func frames() throws {
        var encoder = DiscoveryEncoder()
        var content = AdvertisementContent()
        content.localName = "Sensor"
        content.manufacturerData = [1, 2, 3]
        content.serviceData = [.init(uuid: "180F", data: [87])]
        content.serviceUUIDs = ["180D"]
        content.txPower = -4
        content.isConnectable = true
        content.microseconds = 1 << 40
        let names = [nil, "", "Sensor", String(repeating: "ä", count: 200)]
        var count = 0
        for (number, name) in names.enumerated() {
            for state in [PeripheralState.disconnected, .connecting, .connected] {
                for manager: UInt32 in [0, 1, 127, 128, 1 << 30] {
                    for rssi: Int8 in [-80, -80, 4] {
                        let peripheral = PeripheralDescription(
                            identifier: PeerIdentifier(high: UInt64(number) << 56, low: .max), name: name, state: state)
                        if manager == 1 { content.overflowServiceUUIDs = ["FEAA"] }
                        if manager == 127 { content = AdvertisementContent() }
                        let id = ManagerID(rawValue: manager)
                        // Another app knows the same device by another identifier.
                        let other = PeripheralDescription(
                            identifier: PeerIdentifier(high: 0x0102_0304_0506_0708, low: UInt64(count)), name: name,
                            state: state)
                        var octets: [UInt8] = []
                        let app = AppID(rawValue: "app")
                        let shared = SharedDiscovery(
                            name, content, rssi: rssi,
                            for: [peripheral, other, peripheral, other, peripheral].map {
                                .init(app: app, manager: id, identifier: $0.identifier, state: state)
                            })
                        for recipient in shared.recipients { encoder.append(shared, to: recipient, into: &octets) }
                        var reader = FrameReader(limit: BledProtocol.eventLimit)
                        reader.append(octets.span.bytes)
                        for known in [peripheral, other, peripheral, other, peripheral] {
                            let expected = FromDaemon.appEvent(
                                AppEvent(.discovered(known, content, rssi: rssi), to: id))
                            let message = try #require(try reader.next())
                            #expect(FrameReader.frame(Array(message)) == expected.framed())
                        }
                        #expect(reader.waitingOctets == 0)
                        count += 1
                    }
                }
            }
        }
        #expect(count == 180)
    }
}
