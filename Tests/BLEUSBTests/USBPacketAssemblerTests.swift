import Testing

@testable import BLEUSB

@Suite("Packets from pieces of USB transfers")
struct USBPacketAssemblerTests {
    static func event(_ length: Int, code: UInt8 = 0x3E) -> [UInt8] {
        [code, UInt8(length)] + (0..<length).map { UInt8($0 & 0xFF) }
    }

    static func data(_ length: Int) -> [UInt8] {
        [0x01, 0x20, UInt8(length & 0xFF), UInt8(length >> 8)] + (0..<length).map { UInt8($0 & 0xFF) }
    }

    static func pieces(_ octets: [UInt8], of size: Int) -> [[UInt8]] {
        stride(from: 0, to: octets.count, by: size).map { Array(octets[$0..<min($0 + size, octets.count)]) }
    }

    static func assemble(_ pieces: [[UInt8]], with assembler: inout USBPacketAssembler) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        for piece in pieces { assembler.receive(piece.span.bytes) { packets.append($0) } }
        return packets
    }

    @Test("an event in pieces ends by its own length, also with a full last piece", arguments: [8, 16, 32, 64])
    func events(size: Int) {
        var assembler = USBPacketAssembler(.event)
        let events = [0, 1, 5, 6, 14, 30, 62, 126, 254, 255].map { Self.event($0) }
        let packets = Self.assemble(events.flatMap { Self.pieces($0, of: size) }, with: &assembler)
        #expect(packets == events.map { [0x04] + $0 })
        #expect(!assembler.isUnfinished && assembler.strayOctetCount == 0)
    }

    @Test("several events in one transfer, the last of which goes on in the next one")
    func joined() {
        var assembler = USBPacketAssembler(.event)
        let all = [3, 10, 200].map { Self.event($0) }
        let octets = Array(all.joined())
        #expect(Self.assemble(Self.pieces(octets, of: 64), with: &assembler) == all.map { [0x04] + $0 })
    }

    @Test("data in transfers of any number of packets", arguments: [64, 512, 1024])
    func dataPackets(size: Int) {
        var assembler = USBPacketAssembler(.acl)
        let all = [0, 1, 23, 60, 251, 1017, 1021].map { Self.data($0) }
        let packets = Self.assemble(all.flatMap { Self.pieces($0, of: size) }, with: &assembler)
        #expect(packets == all.map { [0x02] + $0 })
    }

    @Test("an octet behind an event is dropped and counted, in its transfer or in one of its own (A83)")
    func strayOctet() {
        var assembler = USBPacketAssembler(.event)
        var packets: [[UInt8]] = []
        var wanted: [[UInt8]] = []
        // With 14 octets of parameters the stray one does not fit beside them.
        for length in [4, 14, 30, 20] {
            let octets = Self.event(length)
            wanted.append([0x04] + octets)
            packets += Self.assemble(Self.pieces(octets + [0xA5], of: 16), with: &assembler)
        }
        #expect(packets == wanted)
        #expect(assembler.strayOctetCount == 4)
    }

    @Test("less than a header of data is dropped and counted (A83)")
    func strayData() {
        var assembler = USBPacketAssembler(.acl)
        let packets = Self.assemble([Self.data(10) + [1, 2, 3], [9, 9], Self.data(5)], with: &assembler)
        #expect(packets == [[0x02] + Self.data(10), [0x02] + Self.data(5)])
        #expect(assembler.strayOctetCount == 5)
    }

    @Test("data of a length that no controller has is dropped, and the next transfer is read again")
    func giantData() {
        var assembler = USBPacketAssembler(.acl)
        let packets = Self.assemble(
            [[1, 0x20, 0xFF, 0xFF] + [UInt8](repeating: 0, count: 60), Self.data(5)], with: &assembler)
        #expect(packets == [[0x02] + Self.data(5)])
        #expect(assembler.damagedPacketCount == 1 && !assembler.isUnfinished)
    }

    @Test("a piece that was lost costs the packet that it belongs to")
    func lostPiece() {
        var assembler = USBPacketAssembler(.event)
        #expect(Self.assemble([Array(Self.event(40)[..<16])], with: &assembler).isEmpty)
        assembler.pieceWasLost()
        #expect(Self.assemble([Self.event(3)], with: &assembler) == [[0x04] + Self.event(3)])
        #expect(assembler.damagedPacketCount == 1)
        assembler.pieceWasLost()
        #expect(assembler.damagedPacketCount == 1)
    }

    @Test("arbitrary pieces never trap, and what is passed on is whole")
    func arbitrary() {
        var chance = Chance(83)
        for kind: USBPacketAssembler.Kind in [.event, .acl] {
            var assembler = USBPacketAssembler(kind)
            for _ in 0..<50_000 {
                let piece = chance.octets(chance.number(below: 80))
                assembler.receive(piece.span.bytes) { packet in
                    switch kind {
                    case .event: #expect(packet.count == 3 + Int(packet[2]))
                    case .acl:
                        let length = Int(packet[4]) << 8 | Int(packet[3])
                        #expect(packet.count == 5 + length && length <= USBPacketAssembler.greatestDataByteCount)
                    }
                }
            }
        }
    }
}
