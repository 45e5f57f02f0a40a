import Testing

@testable import BLEPackets

@Suite("ATT PDUs")
struct ATTPacketTests {
    /// One PDU of each kind and its name, some kinds in several forms.
    static let samples: [(name: String, pdu: [UInt8])] = [
        ("Error Response", [0x01, 0x0A, 0x03, 0x00, 0x02]),
        ("Exchange MTU Request", [0x02, 0x05, 0x02]),
        ("Exchange MTU Response", [0x03, 0x17, 0x00]),
        ("Find Information Request", [0x04, 0x01, 0x00, 0xFF, 0xFF]),
        ("Find Information Response, 16 bits", [0x05, 0x01, 0x04, 0x00, 0x01, 0x29, 0x05, 0x00, 0x02, 0x29]),
        ("Find Information Response, 128 bits", [0x05, 0x02, 0x04, 0x00] + Array(1...16)),
        ("Find By Type Value Request", [0x06, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28, 0x0D, 0x18]),
        ("Find By Type Value Response", [0x07, 0x10, 0x00, 0x1F, 0x00, 0x30, 0x00, 0xFF, 0xFF]),
        ("Read By Type Request, 16 bits", [0x08, 0x01, 0x00, 0xFF, 0xFF, 0x03, 0x28]),
        ("Read By Type Request, 128 bits", [0x08, 0x01, 0x00, 0xFF, 0xFF] + Array(1...16)),
        ("Read By Type Response", [0x09, 0x07, 0x02, 0x00, 0x02, 0x03, 0x00, 0x00, 0x2A]),
        ("Read By Type Response without a value", [0x09, 0x02, 0x02, 0x00, 0x03, 0x00]),
        ("Read Request", [0x0A, 0x03, 0x00]),
        ("Read Response", [0x0B, 0x01, 0x02, 0x03]),
        ("Read Response, empty", [0x0B]),
        ("Read Blob Request", [0x0C, 0x03, 0x00, 0xFF, 0x01]),
        ("Read Blob Response", [0x0D, 0xFF]),
        ("Read Multiple Request", [0x0E, 0x03, 0x00, 0x07, 0x00]),
        ("Read Multiple Response", [0x0F, 0x01, 0x02]),
        ("Read By Group Type Request", [0x10, 0x01, 0x00, 0xFF, 0xFF, 0x00, 0x28]),
        ("Read By Group Type Response", [0x11, 0x06, 0x10, 0xF0, 0x18, 0xF0, 0x00, 0x18]),
        ("Write Request", [0x12, 0x07, 0x00, 0x01, 0x02, 0x03]),
        ("Write Response", [0x13]),
        ("Prepare Write Request", [0x16, 0x07, 0x00, 0x12, 0x00, 0xAA]),
        ("Prepare Write Response", [0x17, 0x07, 0x00, 0x12, 0x00, 0xAA]),
        ("Execute Write Request", [0x18, 0x01]),
        ("Execute Write Response", [0x19]),
        ("Handle Value Notification", [0x1B, 0x12, 0x00, 0x00, 0x48]),
        ("Handle Value Indication", [0x1D, 0x03, 0x00]),
        ("Handle Value Confirmation", [0x1E]),
        ("Read Multiple Variable Request", [0x20, 0x03, 0x00, 0x07, 0x00, 0x09, 0x00]),
        ("Read Multiple Variable Response", [0x21, 0x02, 0x00, 0xAA, 0xBB, 0x00, 0x00]),
        ("Read Multiple Variable Response, cut", [0x21, 0x00, 0x00, 0x09, 0x00, 0xAA]),
        ("Multiple Handle Value Notification", [0x23, 0x03, 0x00, 0x01, 0x00, 0xAA, 0x04, 0x00, 0x00, 0x00]),
        ("Write Command", [0x52, 0x07, 0x00, 0x01]),
        (
            "Signed Write Command",
            [0xD2, 0x07, 0x00, 0x01, 0x02, 0x03, 0x00, 0x00, 0x00, 0x00]
                + [0x31, 0x1F, 0x0A, 0xCD, 0x1C, 0x3A, 0x5B, 0x0A]
        ),
        ("an opcode that nobody knows", [0x3F, 0x01]),
    ]

    private func roundTrip(_ pdu: [UInt8]) throws(DecodingError) -> [UInt8] {
        var packet = PacketWriter()
        try ATTPacket(pdu.span.bytes).encode(into: &packet)
        return packet.bytes
    }

    private func error(of pdu: [UInt8]) -> DecodingError? {
        do throws(DecodingError) {
            _ = try ATTPacket(pdu.span.bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test("what is decoded is encoded to the same bytes", arguments: samples.indices)
    func inverse(index: Int) throws {
        let sample = Self.samples[index]
        #expect(try roundTrip(sample.pdu) == sample.pdu, "\(sample.name)")
    }

    @Test("every prefix of a PDU is decoded to its own bytes or refused", arguments: samples.indices)
    func prefixes(index: Int) {
        let pdu = Self.samples[index].pdu
        for length in 0..<pdu.count {
            let prefix = Array(pdu[..<length])
            do throws(DecodingError) {
                #expect(try roundTrip(prefix) == prefix)
            } catch {
                #expect(error != .trailingBytes(0))
            }
        }
    }

    @Test("PDUs without a value end with their last field")
    func trailing() {
        for (name, pdu) in Self.samples where [1, 2, 3, 4, 0x0A, 0x0C, 0x13, 0x18, 0x19, 0x1E].contains(pdu[0]) {
            #expect(error(of: pdu + [0]) == .trailingBytes(1), "\(name)")
        }
    }

    @Test("a list whose elements have no length is an error, not a division by zero (pain 16)")
    func zeroLength() {
        #expect(error(of: [0x11, 0x00, 0x01]) == .invalidValue(0, field: .elementLength))
        #expect(error(of: [0x09, 0x00, 0x01]) == .invalidValue(0, field: .elementLength))
    }

    @Test("a list whose elements have no room for their handles is an error (pain 16)")
    func shortElements() {
        #expect(error(of: [0x09, 0x01, 0x01]) == .invalidValue(1, field: .elementLength))
        for length in UInt8(1)...3 {
            #expect(error(of: [0x11, length, 1, 2, 3]) == .invalidValue(UInt64(length), field: .elementLength))
        }
    }

    @Test("an unknown format of types is an error (pain 16)", arguments: [UInt8(0), 3, 0xFF])
    func format(octet: UInt8) {
        #expect(error(of: [0x05, octet, 1, 0, 0, 0x29]) == .invalidValue(UInt64(octet), field: .uuidFormat))
    }

    @Test("a list with an incomplete last element is an error (pain 16)")
    func rest() {
        #expect(error(of: [0x05, 0x01, 4, 0, 1, 0x29, 5]) == .trailingBytes(1))
        #expect(error(of: [0x07, 4, 0, 5, 0, 9, 0]) == .trailingBytes(2))
        #expect(error(of: [0x09, 0x03, 4, 0, 1, 5]) == .trailingBytes(1))
        #expect(error(of: [0x11, 0x06, 1, 0, 2, 0, 0, 0x18, 3, 0, 4]) == .trailingBytes(3))
        #expect(error(of: [0x0E, 1, 0, 2, 0, 3]) == .trailingBytes(1))
    }

    @Test("an empty list is an error (pain 16)")
    func emptyLists() {
        #expect(error(of: [0x05, 0x01]) == .truncated(needed: 4, remaining: 0))
        #expect(error(of: [0x07]) == .truncated(needed: 4, remaining: 0))
        #expect(error(of: [0x09, 0x07]) == .truncated(needed: 7, remaining: 0))
        #expect(error(of: [0x11, 0x06]) == .truncated(needed: 6, remaining: 0))
        #expect(error(of: [0x21]) == .truncated(needed: 2, remaining: 0))
        #expect(error(of: [0x23]) == .truncated(needed: 4, remaining: 0))
        #expect(error(of: [0x0E, 1, 0]) == .truncated(needed: 4, remaining: 2))
    }

    @Test("a type of any width but 16 and 128 bits is an error")
    func widths() {
        for count in 0...20 where count != 2 && count != 16 {
            let pdu = [0x08, 1, 0, 0xFF, 0xFF] + [UInt8](repeating: 0x28, count: count)
            #expect(error(of: pdu) != nil, "\(count)")
            #expect(error(of: [0x10] + pdu.dropFirst()) != nil, "\(count)")
        }
    }

    @Test("a value that is shorter than its length says is an error in a notification")
    func overlongNotification() {
        #expect(error(of: [0x23, 3, 0, 9, 0, 1]) == .truncated(needed: 9, remaining: 1))
        #expect(error(of: [0x23, 3, 0, 0, 0, 1]) == .truncated(needed: 2, remaining: 1))
    }

    @Test("a signed command without room for its signature is an error")
    func shortSignature() {
        let pdu: [UInt8] = [0xD2, 7, 0] + [UInt8](repeating: 1, count: 11)
        #expect(error(of: pdu) == .truncated(needed: 12, remaining: 11))
    }

    @Test("flags of an Execute Write Request that do not exist are an error")
    func executeFlags() {
        #expect(error(of: [0x18, 0x02]) == .invalidValue(2, field: .boolean))
    }

    @Test("a PDU is not taken for one of another kind")
    func otherOpcode() {
        let pdu: [UInt8] = [0x0D, 1]
        do throws(DecodingError) {
            _ = try ATTReadResponse(pdu.span.bytes)
            Issue.record("decoded")
        } catch {
            #expect(error == .invalidValue(0x0D, field: .attOpcode))
        }
    }

    @Test("decoding ends for any bytes, and what it accepts it also encodes")
    func fuzz() {
        var state: UInt64 = 0x5EED_0A77
        func next() -> UInt8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 40)
        }
        var accepted = 0
        for round in 0..<40_000 {
            // Every other PDU is a good one with a few octets changed, removed or added.
            var pdu: [UInt8]
            if round % 2 == 0 {
                pdu = (0..<Int(next() % 40)).map { _ in next() }
                if !pdu.isEmpty { pdu[0] = next() % 0x30 }
            } else {
                pdu = Self.samples[Int(next()) % Self.samples.count].pdu
                for _ in 0..<Int(next() % 3) { pdu[Int(next()) % pdu.count] = next() }
                if next() % 4 == 0 { pdu.append(next()) }
                if next() % 4 == 0 { pdu.removeLast() }
            }
            do throws(DecodingError) {
                #expect(try roundTrip(pdu) == pdu)
                walk(pdu)
                accepted += 1
            } catch {}
        }
        #expect(accepted > 1000)
    }

    /// Takes every element of a list: as many as it says that it has.
    private func walk(_ pdu: [UInt8]) {
        guard let packet = try? ATTPacket(pdu.span.bytes) else { return }
        switch packet {
        case .findInformationResponse(var list):
            for _ in 0..<list.count { #expect(list.next() != nil) }
            #expect(list.next() == nil)
        case .findByTypeValueResponse(var list):
            for _ in 0..<list.count { #expect(list.next() != nil) }
            #expect(list.next() == nil)
        case .readByTypeResponse(var list):
            var count = list.count
            while let element = list.next() {
                #expect(element.value.byteCount == Int(pdu[1]) - 2)
                count -= 1
            }
            #expect(count == 0)
        case .readByGroupTypeResponse(var list):
            var count = list.count
            while let element = list.next() {
                #expect(element.value.byteCount == Int(pdu[1]) - 4)
                count -= 1
            }
            #expect(count == 0)
        case .readMultipleVariableResponse(var list):
            var total = 1
            while let element = list.next() { total += 2 + element.value.byteCount }
            #expect(total == pdu.count)
        case .multipleHandleValueNotification(var list):
            var total = 1
            while let element = list.next() { total += 4 + element.value.byteCount }
            #expect(total == pdu.count)
        case .readMultipleRequest(var request):
            for _ in 0..<request.handles.count { #expect(request.handles.next() != nil) }
            #expect(request.handles.next() == nil)
        default: break
        }
    }
}
