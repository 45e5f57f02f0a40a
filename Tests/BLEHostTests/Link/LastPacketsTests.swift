import BLEPackets
import TestSupport
import Testing

@testable import BLEHost

/// A disconnection that a client asks for waits until the controller has sent what was queued before it.
@Suite("Last packets of a link")
struct LastPacketsTests {
    private func written() -> (rig: HostRig, link: LinkID) {
        let rig = HostRig()
        rig.start()
        let link = rig.connect()
        rig.confirmsData = false
        let writing = rig.submit(.link(link, .gatt(.writeCommand(AttributeHandle(rawValue: 3), value: [1, 2]))))
        #expect(rig.results(of: writing) == [.success(.gatt(.written))])
        return (rig, link)
    }

    private func confirm(_ rig: HostRig) {
        rig.receive(
            NumberOfCompletedPackets(links: [.init(connectionHandle: ConnectionHandle(rawValue: 0x40), count: 1)]))
    }

    @Test("Disconnect follows the confirmation of a write command")
    func confirmed() {
        let (rig, link) = written()
        rig.submit(.link(link, .disconnect))
        #expect(rig.count(of: Disconnect.opcode) == 0)
        rig.advance(by: .seconds(1))
        #expect(rig.count(of: Disconnect.opcode) == 0)
        confirm(rig)
        #expect(rig.count(of: Disconnect.opcode) == 1)
    }

    @Test("a controller that confirms nothing delays the end by 2 s, also where the whole host stops")
    func unconfirmed() {
        for stops in [false, true] {
            let (rig, link) = written()
            rig.submit(stops ? .stop : .link(link, .disconnect))
            rig.advance(by: .milliseconds(1900))
            #expect(rig.count(of: Disconnect.opcode) == 0)
            rig.advance(by: .milliseconds(200))
            #expect(rig.count(of: Disconnect.opcode) == 1)
        }
    }

    @Test("with nothing queued Disconnect goes at once")
    func idle() {
        let (rig, link) = written()
        confirm(rig)
        rig.submit(.link(link, .disconnect))
        #expect(rig.count(of: Disconnect.opcode) == 1)
    }

    @Test("a link that is closed directly after pairing stays until the peer had time to store its bond")
    func bondStorage() throws {
        let two = TwoHosts()
        two.connect()
        let link = try #require(two.link(.central))
        let pairing = two.submit(.security(.pair(link, nil)), by: .central)
        var disconnects = 0
        two.change = { side, packet in
            // HCI_Disconnect.
            if side == .central, packet.starts(with: [1, 0x06, 0x04]) { disconnects += 1 }
            return packet
        }
        two.run(for: .seconds(20)) { two.result(of: pairing, .central) != nil }
        let paired = two.now
        two.submit(.link(link, .disconnect), by: .central)
        two.run(for: .milliseconds(200))
        #expect(disconnects == 0)
        two.run(for: .seconds(2)) { disconnects > 0 }
        #expect(disconnects == 1)
        #expect(two.now < paired.advanced(by: .milliseconds(500)))
        // Later on, a link ends without delay.
        two.run(for: .seconds(1))
        two.connect()
        let next = try #require(two.link(.central))
        two.run(for: .seconds(1))
        two.submit(.link(next, .disconnect), by: .central)
        #expect(disconnects == 2)
    }
}
