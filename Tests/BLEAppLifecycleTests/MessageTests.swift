import BLEMessages
import BLEPackets
import Testing

@testable import BLEAppLifecycle

@Suite("Messages of apps")
struct MessageTests {
    private let peer = PeerIdentifier(high: 0x0123_4567_89AB_4DEF, low: 0x8123_4567_89AB_CDEF)

    @Test("an identifier prints as a UUID and reads back")
    func identifierText() {
        #expect(peer.description == "01234567-89AB-4DEF-8123-456789ABCDEF")
        #expect(PeerIdentifier(peer.description) == peer)
        #expect(PeerIdentifier(bytes: peer.bytes) == peer)
        #expect(PeerIdentifier(bytes: [1]) == nil)
        #expect(PeerIdentifier("180D") == nil)
    }

    @Test("requests and events are values that can be encoded: a daemon can run the engine")
    func encoding() throws {
        let requests: [ClientRequest] = [
            .createCentral(ManagerOptions(restoreIdentifier: "c")),
            .createPeripheral(ManagerOptions(overflow: .company(0xFFFF))),
            .central(.scan(ScanOptions(services: [BluetoothUUID(UInt16(0x180D))], allowsDuplicates: true))),
            .central(.connect(peer, ConnectOptions(notifiesOnConnection: true))), .central(.cancelConnection(peer)),
            .central(.retrievePeripherals(QueryID(rawValue: 1), [peer])), .central(.registerForConnectionEvents(nil)),
            .central(.peripheral(peer, .writeValue([1, 2], characteristic: RemoteAttributeID(rawValue: 3)))),
            .peripheral(.respond(ATTRequestID(rawValue: 1 << 63 + 5), code: 7, value: [])), .release,
        ]
        for request in requests {
            #expect(try AppRequest(request, from: ManagerID(rawValue: 1)).readBack().request == request)
        }
        let events: [ClientEvent] = [
            .stateChanged(.poweredOn, .allowedAlways),
            .disconnected(peer, .coreBluetooth(.connectionTimeout), microseconds: 1, isReconnecting: false),
            .peripheral(peer, .valueUpdated(characteristic: RemoteAttributeID(rawValue: 3), nil, .att(code: 2))),
            .updateQueued(QueryID(rawValue: 2), false),
        ]
        for event in events {
            #expect(try AppEvent(event, to: ManagerID(rawValue: 1)).readBack().event == event)
        }
    }
}
