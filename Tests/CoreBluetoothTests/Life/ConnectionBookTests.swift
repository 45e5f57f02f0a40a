import BLEAppLifecycle
import Testing

@testable import CoreBluetooth

@Suite("What a central manager has of a daemon")
final class ConnectionBookTests {
    private var book = ConnectionBook()
    private let peer = PeerIdentifier(high: 1, low: 1)
    private let other = PeerIdentifier(high: 1, low: 2)

    private func ask(_ request: CentralManagerRequest, isAway: Bool = false) {
        book.record(request, isAway: isAway)
    }

    private func requests(in state: ManagerState) -> [CentralManagerRequest] { book.requests(in: state) }
    private func lose(microseconds: Int64) -> [ClientEvent] { book.lose(microseconds: microseconds) }
    private func note(_ event: ClientEvent) -> Bool { book.record(event) }

    private func connected(_ peer: PeerIdentifier) -> Bool {
        book.record(
            .connected(
                PeripheralDescription(identifier: peer, state: .connected), maximumWriteLength: WriteLimits()))
    }

    private func ended(_ peer: PeerIdentifier, isReconnecting: Bool = false) {
        _ = book.record(.disconnected(peer, nil, microseconds: 0, isReconnecting: isReconnecting))
    }

    private func end(_ peer: PeerIdentifier, isReconnecting: Bool = false) -> ClientEvent {
        .disconnected(peer, .coreBluetooth(.unknown), microseconds: 7, isReconnecting: isReconnecting)
    }

    @Test("links are told to have ended, attempts are made again once the next daemon can, both once (SPEC 5.5 rule 6)")
    func loses() {
        let options = ConnectOptions(notifiesOnConnection: true)
        ask(.connect(peer, ConnectOptions()))
        ask(.connect(other, options))
        #expect(connected(peer))
        #expect(requests(in: .poweredOn).isEmpty)
        #expect(lose(microseconds: 7) == [end(peer)])
        #expect(lose(microseconds: 8).isEmpty)
        #expect(requests(in: .unsupported).isEmpty)
        #expect(requests(in: .poweredOff) == [.connect(other, options)])
        #expect(requests(in: .poweredOn).isEmpty)
    }

    @Test("a connection that the next daemon reports twice, as preserved and as asked again, is told once")
    func once() {
        ask(.connect(peer, ConnectOptions()))
        _ = lose(microseconds: 7)
        #expect(requests(in: .poweredOn).count == 1)
        #expect(connected(peer))
        #expect(!connected(peer))
        // The app asks for a link that it has.
        ask(.connect(peer, ConnectOptions()))
        #expect(connected(peer))
    }

    @Test("the end of a cancelled connection does not end the one that the app has asked for since")
    func again() {
        ask(.connect(peer, ConnectOptions()))
        #expect(connected(peer))
        ask(.cancelConnection(peer))
        ask(.connect(peer, ConnectOptions()))
        ended(peer)
        #expect(lose(microseconds: 7).isEmpty)
        #expect(requests(in: .poweredOn) == [.connect(peer, ConnectOptions())])
        ask(.cancelConnection(peer))
        ended(peer)
        _ = lose(microseconds: 7)
        #expect(requests(in: .poweredOn).isEmpty)
    }

    @Test("an object that is released while there is no daemon ends what the next one has preserved (SPEC CEN-6)")
    func released() {
        ask(.connect(peer, ConnectOptions()))
        ask(.connect(other, ConnectOptions()))
        _ = lose(microseconds: 7)
        ask(.letGo(peer), isAway: true)
        ask(.letGo(other), isAway: true)
        ask(.connect(other, ConnectOptions()), isAway: true)
        #expect(requests(in: .poweredOn) == [.letGo(peer), .connect(other, ConnectOptions())])
    }

    @Test("a link that the system is to make again by itself is reconnecting")
    func automatic() {
        let options = ConnectOptions(reconnectsAutomatically: true)
        ask(.connect(peer, options))
        #expect(connected(peer))
        ended(peer, isReconnecting: true)
        #expect(connected(peer))
        #expect(lose(microseconds: 7) == [end(peer, isReconnecting: true)])
        #expect(requests(in: .poweredOn) == [.connect(peer, options)])
    }

    @Test("restored links are the app's; when Bluetooth is off, there is nothing to tell")
    func restored() {
        let states: [(PeerIdentifier, PeripheralState)] = [
            (peer, .connected), (other, .connecting), (PeerIdentifier(high: 1, low: 3), .disconnected),
        ]
        let peripherals = states.map { peer, state in
            RestoredRemotePeripheral(
                description: PeripheralDescription(identifier: peer, state: state), services: nil,
                writeLimits: WriteLimits())
        }
        let before = book
        #expect(note(.willRestoreCentral(RestoredCentral(peripherals: peripherals))))
        #expect(lose(microseconds: 7) == [end(peer)])
        // The daemon has preserved the attempt, with its options.
        #expect(requests(in: .poweredOn).isEmpty)
        book = before
        #expect(note(.willRestoreCentral(RestoredCentral(peripherals: peripherals))))
        #expect(note(.stateChanged(.poweredOff, .allowedAlways)))
        #expect(lose(microseconds: 7).isEmpty)
    }
}
