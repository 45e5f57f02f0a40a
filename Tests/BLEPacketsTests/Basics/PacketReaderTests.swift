import Testing

@testable import BLEPackets

@Suite("Packet reader and writer")
struct PacketReaderTests {
    @Test("integers come back as they were written, least significant octet first")
    func inverse() throws {
        var packet = PacketWriter()
        packet.write(UInt8(0x01))
        packet.write(UInt16(0x0302))
        packet.writeUInt24(0x06_0504)
        packet.write(UInt32(0x0A09_0807))
        packet.write(Int8(-2))
        packet.write(UInt64(0x1211_100F_0E0D_0C0B))
        #expect(packet.bytes == Array(1...10) + [0xFE] + Array(11...18))

        var reader = PacketReader(packet.bytes.span.bytes)
        #expect(try reader.read(UInt8.self) == 0x01)
        #expect(try reader.read(UInt16.self) == 0x0302)
        #expect(try reader.readUInt24() == 0x06_0504)
        #expect(try reader.read(UInt32.self) == 0x0A09_0807)
        #expect(try reader.read(Int8.self) == -2)
        #expect(try reader.read(UInt64.self) == 0x1211_100F_0E0D_0C0B)
        try reader.expectEnd()
    }

    @Test("a truncated field is an error and consumes nothing")
    func truncated() throws {
        let bytes: [UInt8] = [1, 2, 3]
        var reader = PacketReader(bytes.span.bytes)
        do throws(DecodingError) {
            _ = try reader.read(UInt32.self)
            Issue.record("decoded")
        } catch {
            #expect(error == .truncated(needed: 4, remaining: 3))
        }
        #expect(reader.remainingCount == 3)
        #expect(try reader.readUInt24() == 0x03_0201)
    }

    @Test("a count from the air that is negative or too large consumes nothing", arguments: [-1, 4, Int.max, Int.min])
    func counts(count: Int) {
        let bytes: [UInt8] = [1, 2, 3]
        var reader = PacketReader(bytes.span.bytes)
        do throws(DecodingError) {
            _ = try reader.readBytes(count)
            Issue.record("decoded")
        } catch {
            #expect(error == .truncated(needed: count, remaining: 3))
        }
        #expect(reader.remainingCount == 3)
    }

    @Test("a packet that continues after its last field is an error")
    func trailing() throws {
        let bytes: [UInt8] = [1, 2, 3]
        var reader = PacketReader(bytes.span.bytes)
        _ = try reader.read(UInt8.self)
        do throws(DecodingError) {
            try reader.expectEnd()
            Issue.record("accepted")
        } catch {
            #expect(error == .trailingBytes(2))
        }
        #expect(reader.readRest().copied() == [2, 3])
        try reader.expectEnd()
    }

    @Test("a byte past the end is nil")
    func byteAt() {
        let bytes: [UInt8] = [1, 2]
        let span = bytes.span.bytes
        #expect(span.byte(at: 1) == 2)
        #expect(span.byte(at: 2) == nil)
        #expect(span.byte(at: -1) == nil)
    }
}
