import BLEPackets
import Testing

@testable import BLEHost

/// Controllers that report room for data which they do not have, lose data, or stop to send them.
@Suite("Controllers that lose data or stop sending")
struct BufferTests {
    private func command(_ link: LinkID, on rig: HostRig, _ value: [UInt8] = [1]) {
        rig.submit(.link(link, .gatt(.writeCommand(AttributeHandle(rawValue: 3), value: value))))
    }

    private func confirm(_ handles: [UInt16], in rig: HostRig, _ count: UInt16 = 1) {
        rig.receive(
            NumberOfCompletedPackets(
                links: handles.map { .init(connectionHandle: ConnectionHandle(rawValue: $0), count: count) }))
    }

    /// Links on the handles from 0x40 on, with nothing confirmed by itself.
    private func rig(
        buffers: UInt8 = 8, links count: Int, found: ControllerTraits = [], adapts: Bool = true
    ) -> (HostRig, [LinkID]) {
        var configuration = HostConfiguration()
        configuration.adaptsToController = adapts
        configuration.experience.found = found
        let rig = HostRig(configuration: configuration)
        rig.aclCount = buffers
        rig.start()
        let links = (0..<count).map { rig.connect(HostRig.peer($0), handle: UInt16(0x40 + $0), mtu: 247) }
        rig.confirmsData = false
        rig.forget()
        return (rig, links)
    }

    private func recoveries(_ rig: HostRig) -> Int {
        rig.events.count { if case .recovering = $0 { true } else { false } }
    }

    @Test("fragments of 8192 octets and 128 packets at a time are not believed (A18)")
    func cap() {
        var scheduler = ACLScheduler()
        scheduler.configure(packetLength: 8192, packetCount: 128, isBelieved: false)
        #expect(scheduler.packetLength == 1021)
        scheduler.configure(packetLength: 251, packetCount: 8, isBelieved: false)
        #expect(scheduler.packetLength == 251)
        for (adapts, count) in [(true, 32), (false, 60)] {
            let (rig, links) = rig(buffers: 128, links: 1, adapts: adapts)
            for _ in 0..<60 { command(links[0], on: rig) }
            #expect(rig.data.count == count)
        }
    }

    @Test("packets confirmed for no link, twice, or more than were sent, make no room that is not there (A52)")
    func overcounted() {
        let (rig, links) = rig(buffers: 4, links: 2)
        for _ in 0..<20 { command(links[0], on: rig) }
        #expect(rig.data.count == 3, "one buffer is left for the other link")
        confirm([0x77, 0x41], in: rig, 9)
        #expect(rig.data.count == 3)
        confirm([0x40], in: rig, 2)
        #expect(rig.data.count == 5)
        confirm([0x40], in: rig, 1000)
        #expect(rig.data.count == 8, "never more than three at a time")
        confirm([0x40], in: rig, 0)
        #expect(rig.data.count == 8)
    }

    @Test("data that the controller lost are counted, and it gets one packet less at a time, but one (A93)")
    func overflow() {
        let (rig, links) = rig(buffers: 4, links: 1)
        for _ in 0..<40 { command(links[0], on: rig) }
        #expect(rig.data.count == 4)
        rig.receive(DataBufferOverflow(linkType: 1))
        #expect(rig.counters.dataBufferOverflows == 1)
        confirm([0x40], in: rig, 1)
        #expect(rig.data.count == 4, "three are in the controller")
        confirm([0x40], in: rig, 1)
        #expect(rig.data.count == 5)
        for _ in 0..<10 { rig.receive(DataBufferOverflow(linkType: 1)) }
        confirm([0x40], in: rig, 3)
        #expect(rig.data.count == 6)
        confirm([0x40], in: rig, 1)
        #expect(rig.data.count == 7)
        rig.receive(DataBufferOverflow(linkType: 0))
        #expect(rig.counters.dataBufferOverflows == 12)
    }

    @Test("a controller that sends nothing on any link is reset instead of closing them one by one (A53)")
    func allStall() {
        let (rig, links) = rig(links: 3)
        for link in links { command(link, on: rig) }
        rig.advance(by: .seconds(46))
        #expect(rig.events.contains(.recovering(.reset)) && rig.count(of: Reset.opcode) == 1)
        #expect(rig.count(of: Disconnect.opcode) == 0)
        #expect(rig.disconnections == [.controllerLost, .controllerLost, .controllerLost])
        #expect(rig.isReady)
    }

    @Test("two peers that acknowledge nothing end their own links, and not that of one that still sends (A53)")
    func othersSend() {
        let (rig, links) = rig(links: 3)
        for link in links[..<2] { command(link, on: rig) }
        for _ in 0..<48 {
            rig.receive(frame: [0x1B, 0x10, 0x00, 0x01], handle: 0x42)
            rig.advance(by: .seconds(1))
        }
        #expect(rig.count(of: Disconnect.opcode) >= 2 && rig.count(of: Reset.opcode) == 0)
        #expect(rig.counters.stalledLinks == 2 && !rig.disconnections.contains(.controllerLost))
    }

    @Test("one link that stalls beside one that works is closed, and nothing else happens (A53)")
    func oneStalls() {
        let (rig, links) = rig(links: 2)
        command(links[0], on: rig)
        for _ in 0..<46 {
            command(links[1], on: rig)
            confirm([0x41], in: rig)
            rig.advance(by: .seconds(1))
        }
        #expect(rig.count(of: Disconnect.opcode) == 1 && rig.count(of: Reset.opcode) == 0)
        #expect(rig.counters.stalledLinks == 1)
    }

    @Test("a single link that stalls is closed; if the next one stalls, too, the controller is reset (A53)")
    func oneAfterTheOther() {
        let (rig, links) = rig(links: 1)
        command(links[0], on: rig)
        rig.advance(by: .seconds(46))
        #expect(rig.count(of: Disconnect.opcode) == 1 && rig.count(of: Reset.opcode) == 0)
        rig.receive(
            DisconnectionComplete(connectionHandle: links[0].handle, reason: .connectionTerminatedByLocalHost))
        rig.forget()
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(9)))))
        rig.receive(rig.connectionComplete(HostRig.peer(9)))
        rig.receive(frame: [0x03, 0x17, 0x00], handle: 0x40)
        if let link = rig.links.last { command(link.id, on: rig) }
        rig.advance(by: .seconds(46))
        #expect(rig.count(of: Reset.opcode) == 1)
    }

    @Test("peers that acknowledge nothing, again and again, cannot have the controller given up (A53)")
    func hostilePeers() {
        let (rig, _) = rig(links: 0)
        for _ in 0..<20 {
            for number in 0..<2 {
                rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer(number)))))
                rig.receive(rig.connectionComplete(HostRig.peer(number), handle: UInt16(0x40 + number)))
                rig.receive(frame: [0x03, 0x17, 0x00], handle: UInt16(0x40 + number))
                if let link = rig.links.last { command(link.id, on: rig) }
            }
            rig.advance(by: .seconds(46))
            for number in 0..<2 {
                rig.receive(
                    DisconnectionComplete(
                        connectionHandle: ConnectionHandle(rawValue: UInt16(0x40 + number)),
                        reason: .connectionTerminatedByLocalHost))
            }
            rig.advance(by: .seconds(1))
        }
        #expect((1...3).contains(recoveries(rig)))
        #expect(rig.isReady)
    }

    @Test("where long data are known to be lost, one link that stalls is enough for a reset (A54)")
    func longData() {
        let (rig, links) = rig(links: 2, found: .losesLongData)
        command(links[0], on: rig, [UInt8](repeating: 7, count: 200))
        for _ in 0..<46 {
            command(links[1], on: rig)
            confirm([0x41], in: rig)
            rig.advance(by: .seconds(1))
        }
        #expect(rig.count(of: Disconnect.opcode) == 0 && rig.count(of: Reset.opcode) == 1)
    }
}
