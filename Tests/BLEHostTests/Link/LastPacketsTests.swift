import BLEPackets
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
}
