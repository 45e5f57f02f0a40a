import BLEPackets
import Testing

@testable import BLEHost

/// The controller's packet buffers where links share them, and one of the peers acknowledges nothing.
@Suite("Shared buffers")
struct SharedBufferTests {
    private let long = [UInt8](repeating: 9, count: 200)

    /// A rig whose controller has `buffers`, with links on the handles from 0x40 on and nothing confirmed by itself.
    private func rig(buffers: UInt8, links count: Int) -> (HostRig, [LinkID]) {
        let rig = HostRig()
        rig.aclCount = buffers
        rig.start()
        let links = (0..<count).map { rig.connect(HostRig.peer($0), handle: UInt16(0x40 + $0), mtu: 247) }
        rig.confirmsData = false
        return (rig, links)
    }

    private func confirm(_ link: LinkID, in rig: HostRig, _ count: UInt16 = 1) {
        rig.receive(NumberOfCompletedPackets(links: [.init(connectionHandle: link.handle, count: count)]))
    }

    /// Whether a read on the link comes about while the controller confirms what is sent on it.
    private func reads(_ link: LinkID, in rig: HostRig) -> Bool {
        rig.forget()
        let read = rig.submit(.link(link, .gatt(.read(AttributeHandle(rawValue: 3)))))
        guard rig.data.map(\.first) == [UInt8(link.handle.rawValue)] else { return false }
        confirm(link, in: rig)
        rig.receive(frame: [0x0B, 7], handle: link.handle.rawValue)
        return rig.results(of: read) == [.success(.gatt(.value([7])))]
    }

    @Test("a peer that asks and acknowledges nothing does not block the other links (DESIGN 2, links)")
    func goesOn() {
        let (rig, links) = rig(buffers: 4, links: 2)
        for _ in 0..<10 { rig.receive(frame: [0x02, 0x00, 0x02], handle: 0x40) }
        #expect(rig.data.count == 3)
        for _ in 0..<20 { #expect(reads(links[1], in: rig)) }
        confirm(links[0], in: rig)
        #expect(rig.data.last?.first == 0x40)
    }

    @Test("several peers that acknowledge nothing do not block the one that does", arguments: [8, 12] as [UInt8])
    func severalStall(buffers: UInt8) {
        let (rig, links) = rig(buffers: buffers, links: 5)
        for link in links.dropLast() {
            rig.submit(.link(link, .gatt(.write(AttributeHandle(rawValue: 3), value: long))))
        }
        for _ in 0..<20 { #expect(reads(links[4], in: rig)) }
    }

    @Test("more links than buffers: one peer that acknowledges nothing holds half of them at most")
    func manyLinks() {
        let (rig, links) = rig(buffers: 4, links: 8)
        rig.submit(.link(links[0], .gatt(.write(AttributeHandle(rawValue: 3), value: long))))
        #expect(rig.data.count == 2)
        for link in links.dropFirst() { #expect(reads(link, in: rig)) }
    }

    @Test("no buffer lies idle while every link has something to send, and a single link uses all")
    func usesAll() {
        let (rig, links) = rig(buffers: 4, links: 2)
        for link in links { rig.submit(.link(link, .gatt(.write(AttributeHandle(rawValue: 3), value: long)))) }
        #expect(rig.data.map(\.first) == [0x40, 0x40, 0x40, 0x41])
        for turn in 0..<4 { confirm(links[turn % 2 == 0 ? 0 : 1], in: rig) }
        #expect(rig.data.count == 8)
        rig.receive(DisconnectionComplete(connectionHandle: links[1].handle, reason: .connectionTimeout))
        let sent = rig.data.count { $0[0] == 0x40 }
        #expect(sent >= 6)
        confirm(links[0], in: rig, 4)
        #expect(rig.data.count { $0[0] == 0x40 } == 8, "207 octets and the header are eight packets of 27")
    }

    @Test(
        "every frame arrives whole and in order, whichever link acknowledges first", arguments: 0..<20 as Range<UInt64>)
    func allArrives(seed: UInt64) {
        var generator = SplitMix(state: seed)
        let (rig, links) = rig(buffers: UInt8(1 + seed % 6), links: 4)
        var held = [0, 0, 0, 0]
        var seen = 0
        var octets = [0, 0, 0, 0]
        func look() {
            for packet in rig.data[seen...] {
                held[Int(packet[0]) - 0x40] += 1
                octets[Int(packet[0]) - 0x40] += packet.count - 4
            }
            seen = rig.data.count
            #expect(held.reduce(0, +) <= Int(rig.aclCount))
        }
        for link in links { rig.submit(.link(link, .gatt(.write(AttributeHandle(rawValue: 3), value: long)))) }
        look()
        for _ in 0..<200 {
            let index = Int(generator.next() % 4)
            guard held[index] > 0 else { continue }
            let count = 1 + Int(generator.next() % UInt64(held[index]))
            held[index] -= count
            confirm(links[index], in: rig, UInt16(count))
            look()
        }
        #expect(octets == [Int](repeating: 4 + 3 + 200, count: 4))
    }

    @Test("a link without acknowledgement for 45 s is ended and counted, and its buffers are free again")
    func stalls() {
        let (rig, links) = rig(buffers: 1, links: 2)
        rig.advance(by: .seconds(3))
        rig.submit(.link(links[0], .gatt(.writeCommand(AttributeHandle(rawValue: 3), value: [1]))))
        rig.submit(.link(links[1], .gatt(.writeCommand(AttributeHandle(rawValue: 3), value: [2]))))
        rig.advance(by: .seconds(44))
        #expect(rig.count(of: Disconnect.opcode) == 0)
        rig.advance(by: .seconds(2))
        #expect(rig.commands.map(\.opcode) == [Disconnect.opcode])
        #expect(rig.commands.last?.parameters.first == 0x40)
        #expect(rig.counters.stalledLinks == 1)
        rig.receive(
            DisconnectionComplete(
                connectionHandle: links[0].handle, reason: .connectionTerminatedByLocalHost))
        #expect(rig.data.map(\.first) == [0x40, 0x41])
    }

    @Test("a link that is slow, or has nothing to send, does not count as stalled, and an idle one sets no timer")
    func slow() {
        let (rig, links) = rig(buffers: 4, links: 1)
        for _ in 0..<4 { rig.submit(.link(links[0], .gatt(.writeCommand(AttributeHandle(rawValue: 3), value: [1])))) }
        for _ in 0..<4 {
            rig.advance(by: .seconds(40))
            confirm(links[0], in: rig)
        }
        rig.advance(by: .seconds(46))
        #expect(rig.counters.stalledLinks == 0)
        #expect(rig.count(of: Disconnect.opcode) == 0)
        #expect(rig.nextDeadline == nil)
    }
}
