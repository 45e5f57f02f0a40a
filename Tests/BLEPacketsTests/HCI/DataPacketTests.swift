import Testing

@testable import BLEPackets

@Suite("HCI data packets")
struct DataPacketTests {
    @Test("an ACL packet has handle, boundary and data")
    func acl() throws {
        let bytes = CodecSample.bytes("41 20 0300 aabbcc")
        let packet = try ACLDataPacket(decoding: bytes.span.bytes)
        #expect(packet.connectionHandle == ConnectionHandle(rawValue: 0x0041))
        #expect(packet.boundary == .first)
        #expect(packet.broadcast == .pointToPoint)
        #expect(packet.data.copied() == [0xAA, 0xBB, 0xCC])
    }

    @Test(
        "all handles and flags survive writing and reading",
        arguments: [0x000, 0x001, 0xEFF, 0xFFF] as [UInt16], [0, 1, 2, 3] as [UInt8])
    func aclHeader(handle: UInt16, flags: UInt8) throws {
        let boundary = try #require(PacketBoundaryFlag(rawValue: flags))
        let broadcast = try #require(BroadcastFlag(rawValue: 3 - flags))
        var writer = PacketWriter()
        ACLDataPacket.encodeHeader(
            into: &writer, handle: ConnectionHandle(rawValue: handle), boundary: boundary, broadcast: broadcast,
            length: 2)
        writer.write(UInt16(0x0102))
        #expect(writer.count == ACLDataPacket.headerLength + 2)
        let packet = try ACLDataPacket(decoding: writer.bytes.span.bytes)
        #expect(packet.connectionHandle.rawValue == handle)
        #expect(packet.boundary == boundary)
        #expect(packet.broadcast == broadcast)
        #expect(packet.data.byteCount == 2)
    }

    @Test("the H4 header of an ACL packet begins with its type")
    func aclPacketHeader() {
        var writer = PacketWriter()
        ACLDataPacket.encodePacketHeader(
            into: &writer, handle: .sample, boundary: .firstNonFlushable, length: 0x0102)
        #expect(hexadecimal(writer.bytes) == "0241000201")
    }

    @Test(
        "data that is longer or shorter than its header says is an error",
        arguments: ["4120 0300 aabb", "4120 0100 aabb", "4120 ffff aabb", "4120 03", "4120", "41", ""])
    func aclLength(hex: String) {
        let bytes = CodecSample.bytes(hex)
        do throws(DecodingError) {
            _ = try ACLDataPacket(decoding: bytes.span.bytes)
            Issue.record("decoded")
        } catch {
            switch error {
            case .lengthMismatch(_, let actual): #expect(actual == 2)
            case .truncated: #expect(bytes.count < 4)
            default: Issue.record("\(error)")
            }
        }
    }

    @Test("a synchronous packet has handle, status and data")
    func synchronous() throws {
        var writer = PacketWriter()
        SynchronousDataPacket.encodeHeader(into: &writer, handle: .sample, packetStatus: 2, length: 1)
        writer.write(7 as UInt8)
        #expect(hexadecimal(writer.bytes) == "41200107")
        let packet = try SynchronousDataPacket(decoding: writer.bytes.span.bytes)
        #expect(packet.connectionHandle == .sample)
        #expect(packet.packetStatus == 2)
        #expect(packet.data.copied() == [7])
        do throws(DecodingError) {
            _ = try SynchronousDataPacket(decoding: writer.bytes.span.bytes.extracting(first: 3))
            Issue.record("decoded")
        } catch {
            #expect(error == .lengthMismatch(stated: 1, actual: 0))
        }
    }

    @Test("an isochronous packet has handle, boundary, time stamp and load")
    func isochronous() throws {
        var writer = PacketWriter()
        IsochronousDataPacket.encodeHeader(
            into: &writer, handle: .sample, boundary: .complete, hasTimestamp: true, length: 1)
        writer.write(7 as UInt8)
        #expect(hexadecimal(writer.bytes) == "4160010007")
        let packet = try IsochronousDataPacket(decoding: writer.bytes.span.bytes)
        #expect(packet.connectionHandle == .sample)
        #expect(packet.boundary == .complete)
        #expect(packet.hasTimestamp == true)
        #expect(packet.load.copied() == [7])
        do throws(DecodingError) {
            _ = try IsochronousDataPacket(decoding: writer.bytes.span.bytes.extracting(first: 4))
            Issue.record("decoded")
        } catch {
            #expect(error == .lengthMismatch(stated: 1, actual: 0))
        }
    }

    @Test("a first octet that names no packet type is an error", arguments: [0x00, 0x06, 0xFF] as [UInt8])
    func packetType(octet: UInt8) {
        do throws(DecodingError) {
            _ = try H4PacketView(decoding: [octet].span.bytes)
            Issue.record("decoded")
        } catch {
            #expect(error == .invalidValue(UInt64(octet), field: .packetType))
        }
    }
}
