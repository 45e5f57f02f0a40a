import Testing

@testable import BLEPackets

@Suite("H4 framer")
struct H4FramerTests {
    static let command: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
    static let commandWithParameters: [UInt8] = [0x01, 0x06, 0x04, 0x03, 0x40, 0x00, 0x13]
    static let event: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]
    static let eventWithoutParameters: [UInt8] = [0x04, 0xFF, 0x00]
    static let acl: [UInt8] = [0x02, 0x40, 0x20, 0x07, 0x00, 0x03, 0x00, 0x04, 0x00, 0x0B, 0x01, 0x02]
    static let emptyACL: [UInt8] = [0x02, 0x40, 0x20, 0x00, 0x00]
    static let sco: [UInt8] = [0x03, 0x40, 0x00, 0x02, 0xAA, 0xBB]
    /// Reserved bits above the 14 of the length are set.
    static let iso: [UInt8] = [0x05, 0x40, 0x00, 0x03, 0xC0, 0x01, 0x02, 0x03]
    static let packets = [
        command, event, acl, sco, iso, commandWithParameters, emptyACL, eventWithoutParameters, largeACL, event,
    ]
    static let largeACL: [UInt8] = [0x02, 0x40, 0x20, 0x2C, 0x01] + (0..<300).map { UInt8(truncatingIfNeeded: $0) }

    private func packets(of chunks: [[UInt8]]) throws(DecodingError) -> [[UInt8]] {
        var framer = H4Framer()
        var found: [[UInt8]] = []
        for chunk in chunks { try framer.receive(chunk.span.bytes) { found.append($0.copied()) } }
        #expect(framer.unfinishedByteCount == 0)
        return found
    }

    @Test("joined packets of every type are separated")
    func joined() throws {
        #expect(try packets(of: [Array(Self.packets.joined())]) == Self.packets)
    }

    @Test("a stream split in two at any place gives the same packets")
    func splitAnywhere() throws {
        let stream = Array(Self.packets.joined())
        for position in 0...stream.count {
            #expect(try packets(of: [Array(stream[..<position]), Array(stream[position...])]) == Self.packets)
        }
    }

    @Test("a stream in pieces of any size gives the same packets", arguments: 1...20)
    func pieces(size: Int) throws {
        let stream = Array(Self.packets.joined())
        let chunks = stride(from: 0, to: stream.count, by: size).map {
            Array(stream[$0..<min($0 + size, stream.count)])
        }
        #expect(try packets(of: chunks) == Self.packets)
    }

    @Test("a complete packet in a chunk is lent from it, not copied")
    func lendsWithoutCopy() throws {
        let stream = Array(Self.packets.joined())
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: stream.count, alignment: 1)
        defer { unsafe chunk.deallocate() }
        unsafe chunk.copyBytes(from: stream)
        var framer = H4Framer()
        var offset = 0
        try unsafe framer.receive(UnsafeRawBufferPointer(chunk).bytes) { packet in
            let expected = unsafe chunk.baseAddress.map { unsafe UnsafeRawPointer($0 + offset) }
            unsafe packet.withUnsafeBytes { #expect(unsafe $0.baseAddress == expected) }
            offset += packet.byteCount
        }
        #expect(offset == stream.count)
    }

    @Test(
        "an unknown packet type ends the stream for good, after the packets before it", arguments: [0x00, 0x06, 0xFF])
    func unknownType(octet: UInt8) {
        var framer = H4Framer()
        var found: [[UInt8]] = []
        let chunk = Self.event + [octet] + Self.event
        for _ in 0..<2 {
            do throws(DecodingError) {
                try framer.receive(chunk.span.bytes) { found.append($0.copied()) }
                Issue.record("the stream went on")
            } catch {
                #expect(error == .invalidValue(UInt64(octet), field: .packetType))
            }
        }
        #expect(found == [Self.event])
    }

    @Test("an unknown packet type after a split packet is found as well")
    func unknownTypeAfterSplit() {
        var framer = H4Framer()
        var found = 0
        do throws(DecodingError) {
            try framer.receive(Array(Self.event[..<4]).span.bytes) { _ in found += 1 }
            try framer.receive((Array(Self.event[4...]) + [0x77]).span.bytes) { _ in found += 1 }
            Issue.record("the stream went on")
        } catch {
            #expect(error == .invalidValue(0x77, field: .packetType))
        }
        #expect(found == 1)
    }

    @Test("the largest packet of each type passes, and nothing more than it is ever kept")
    func largest() throws {
        let headers: [[UInt8]: Int] = [
            [0x01, 0, 0, 0xFF]: 255, [0x02, 0, 0, 0xFF, 0xFF]: 0xFFFF, [0x03, 0, 0, 0xFF]: 255, [0x04, 0, 0xFF]: 255,
            [0x05, 0, 0, 0xFF, 0xFF]: 0x3FFF,
        ]
        for (header, length) in headers {
            var framer = H4Framer()
            var count: Int?
            let packet = header + [UInt8](repeating: 1, count: length)
            try framer.receive(Array(packet[..<(packet.count - 1)]).span.bytes) { _ in Issue.record("too early") }
            #expect(framer.unfinishedByteCount == packet.count - 1)
            #expect(framer.unfinishedByteCount < H4Framer.maximumPacketByteCount)
            try framer.receive(Array(packet[(packet.count - 1)...]).span.bytes) { count = $0.byteCount }
            #expect(count == packet.count)
            #expect(framer.unfinishedByteCount == 0)
        }
    }

    @Test("an empty chunk changes nothing")
    func emptyChunk() throws {
        var framer = H4Framer()
        try framer.receive([UInt8]().span.bytes) { _ in Issue.record("nothing came") }
        try framer.receive([UInt8(0x04)].span.bytes) { _ in Issue.record("too early") }
        try framer.receive([UInt8]().span.bytes) { _ in Issue.record("nothing came") }
        #expect(framer.unfinishedByteCount == 1)
    }

    @Test("random bytes never trap, and never make the framer keep more than one packet")
    func hostile() {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        func random() -> UInt8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        for _ in 0..<2_000 {
            var framer = H4Framer()
            for _ in 0..<8 {
                var chunk = (0..<Int(random() % 64)).map { _ in random() }
                if !chunk.isEmpty, random() < 200 { chunk[0] = random() % 6 }
                do throws(DecodingError) {
                    try framer.receive(chunk.span.bytes) { #expect($0.byteCount >= 3) }
                } catch { break }
                #expect(framer.unfinishedByteCount < H4Framer.maximumPacketByteCount)
            }
        }
    }
}
