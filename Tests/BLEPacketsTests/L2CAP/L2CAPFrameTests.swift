import Testing

@testable import BLEPackets

@Suite("L2CAP frames")
struct L2CAPFrameTests {
    @Test("a frame shows its channel and its payload")
    func frame() throws {
        let bytes = octets("03 00 04 00 0A 03 00")
        let frame = try L2CAPBasicFrame(decoding: bytes.span.bytes)
        #expect(frame.channelIdentifier == .attributeProtocol)
        #expect(frame.length == 3)
        #expect(frame.payload.copied() == octets("0A 03 00"))
    }

    @Test(
        "a frame that is shorter or longer than it states is an error",
        arguments: [
            ("", DecodingError.truncated(needed: 4, remaining: 0)),
            ("03 00 04", .truncated(needed: 4, remaining: 3)),
            ("03 00 04 00 0A 03", .lengthMismatch(stated: 3, actual: 2)),
            ("03 00 04 00 0A 03 00 00", .lengthMismatch(stated: 3, actual: 4)),
            ("C7 0F 0B E8 FB FF", .lengthMismatch(stated: 0x0FC7, actual: 2)),
        ])
    func broken(hexadecimal: String, expected: DecodingError) {
        let bytes = octets(hexadecimal)
        do throws(DecodingError) {
            _ = try L2CAPBasicFrame(decoding: bytes.span.bytes)
            Issue.record("decoded")
        } catch {
            #expect(error == expected)
        }
    }

    @Test("the header of a start fragment is read although the frame is not whole")
    func startFragment() throws {
        let bytes = octets("00 02 04 00 1B")
        var reader = PacketReader(bytes.span.bytes)
        let header = try L2CAPBasicFrame.Header(decoding: &reader)
        #expect(header == L2CAPBasicFrame.Header(payloadLength: 512, channelIdentifier: .attributeProtocol))
        #expect(reader.remainingCount == 1)
    }

    @Test("a frame of any payload comes back as it was written")
    func inverse() throws {
        var random = FixedSeedGenerator(seed: 3)
        for count in [0, 1, 22, 23, 247, 4096, 65535] {
            let payload = random.octets(count: count)
            let channel = L2CAPChannelIdentifier(rawValue: UInt16(truncatingIfNeeded: random.next()))
            var packet = PacketWriter()
            packet.write(UInt8(0xAA))  // what stands before the frame stays
            L2CAPBasicFrame.encode(on: channel, into: &packet) { $0.write(bytes: payload) }
            let frame = try L2CAPBasicFrame(decoding: packet.bytes.span.bytes.extracting(droppingFirst: 1))
            #expect(frame.channelIdentifier == channel)
            #expect(frame.payload.copied() == payload)
        }
    }

    @Test("the identifiers for credit-based channels on LE are 0x0040 to 0x007F")
    func dynamicRange() {
        for value in UInt16.min...UInt16.max {
            let identifier = L2CAPChannelIdentifier(rawValue: value)
            #expect(identifier.isLEDynamic == L2CAPChannelIdentifier.leDynamicRange.contains(value))
            #expect(identifier.isDynamic == (value >= L2CAPChannelIdentifier.leDynamicRange.lowerBound))
        }
    }

    @Test("the first K-frame of an SDU shows the SDU's length and its first octets")
    func unitStart() throws {
        let bytes = octets("05 00 01 02 03")
        let start = try L2CAPServiceDataUnitStart(decoding: bytes.span.bytes)
        #expect(start.unitLength == 5)
        #expect(start.isWholeUnit == false)
        #expect(start.firstOctets.copied() == [1, 2, 3])
        let whole = octets("00 00")
        #expect(try L2CAPServiceDataUnitStart(decoding: whole.span.bytes).isWholeUnit == true)
    }

    @Test("a K-frame with more octets than its SDU has is an error")
    func unitOverrun() {
        let bytes = octets("02 00 01 02 03")
        do throws(DecodingError) {
            _ = try L2CAPServiceDataUnitStart(decoding: bytes.span.bytes)
            Issue.record("decoded")
        } catch {
            #expect(error == .lengthMismatch(stated: 2, actual: 3))
        }
    }

    @Test(
        "an SDU takes as many K-frames as its length field and octets fill",
        arguments: [(0, 23, 1), (21, 23, 1), (22, 23, 2), (44, 23, 2), (45, 23, 3), (65535, 65533, 2)])
    func frameCount(unit: UInt16, payloadSize: UInt16, frames: Int) {
        #expect(
            L2CAPServiceDataUnitStart.frameCount(unitLength: unit, maximumPayloadSize: payloadSize) == frames)
    }

    @Test("a payload size without room after the length field gives no count instead of a division by zero (pain 16)")
    func frameCountOfNothing() {
        for size in UInt16(0)...2 {
            #expect(L2CAPServiceDataUnitStart.frameCount(unitLength: 10, maximumPayloadSize: size) == nil)
        }
    }

    @Test(
        "every frame of the shared vectors decodes, and nothing that is broken traps",
        .enabled(if: SharedVectors.has("l2cap_vectors.json"), "needs l2cap_vectors.json, see JELLING_VECTORS"))
    func sharedVectors() throws {
        struct File: Decodable {
            struct Vector: Decodable {
                var name: String
                var hex: String
                var valid: Bool
            }
            var vectors: [Vector]
        }
        let vectors = try SharedVectors.load("l2cap_vectors.json", as: File.self).vectors
        #expect(!vectors.isEmpty)
        for vector in vectors {
            let bytes = octets(vector.hex)
            let isFrame = decodesAsFrame(bytes)
            let isSignalling = decodesAsSignalling(bytes)
            if vector.valid { #expect(isFrame || isSignalling, "\(vector.name)") }
        }
    }

    private func decodesAsFrame(_ bytes: [UInt8]) -> Bool {
        do throws(DecodingError) {
            let frame = try L2CAPBasicFrame(decoding: bytes.span.bytes)
            var packet = PacketWriter()
            L2CAPBasicFrame.encode(on: frame.channelIdentifier, into: &packet) {
                $0.write(bytes: frame.payload.copied())
            }
            #expect(packet.bytes == bytes)
            return true
        } catch {
            return false
        }
    }

    private func decodesAsSignalling(_ bytes: [UInt8]) -> Bool {
        do throws(DecodingError) {
            let signalling = try L2CAPSignallingPacket(decoding: bytes.span.bytes)
            var packet = PacketWriter()
            try LESignallingCommand(decoding: signalling).encodePacket(
                identifier: signalling.identifier, into: &packet)
            #expect(packet.bytes == bytes)
            return true
        } catch {
            return false
        }
    }
}
