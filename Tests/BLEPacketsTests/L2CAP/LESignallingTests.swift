import Testing

@testable import BLEPackets

@Suite("LE signalling")
struct LESignallingTests {
    /// Each command with the packet it stands for, identifier 0x2A.
    static let samples: [(LESignallingCommand, String)] = [
        (.commandReject(.init(reason: .commandNotUnderstood)), "01 2A 02 00 00 00"),
        (.commandReject(.init(reason: .signallingMTUExceeded(actualMTU: 23))), "01 2A 04 00 01 00 17 00"),
        (
            .commandReject(
                .init(reason: .invalidChannelIdentifier(local: .init(rawValue: 0x40), remote: .init(rawValue: 0x7F)))),
            "01 2A 06 00 02 00 40 00 7F 00"
        ),
        (.commandReject(.init(reason: .other(reason: 3, data: [9]))), "01 2A 03 00 03 00 09"),
        (
            .disconnectionRequest(.init(destination: .init(rawValue: 0x41), source: .init(rawValue: 0x42))),
            "06 2A 04 00 41 00 42 00"
        ),
        (
            .disconnectionResponse(.init(destination: .init(rawValue: 0x41), source: .init(rawValue: 0x42))),
            "07 2A 04 00 41 00 42 00"
        ),
        (
            .connectionParameterUpdateRequest(
                .init(minimumInterval: 24, maximumInterval: 40, latency: 4, supervisionTimeout: 600)),
            "12 2A 08 00 18 00 28 00 04 00 58 02"
        ),
        (.connectionParameterUpdateResponse(.init(result: .accepted)), "13 2A 02 00 00 00"),
        (.connectionParameterUpdateResponse(.init(result: .rejected)), "13 2A 02 00 01 00"),
        (
            .leCreditBasedConnectionRequest(
                .init(
                    spsm: 0x0080, source: .init(rawValue: 0x40), maximumTransmissionUnit: 512, maximumPayloadSize: 247,
                    initialCredits: 10)),
            "14 2A 0A 00 80 00 40 00 00 02 F7 00 0A 00"
        ),
        (
            .leCreditBasedConnectionResponse(
                .init(
                    destination: .init(rawValue: 0x45), maximumTransmissionUnit: 256, maximumPayloadSize: 64,
                    initialCredits: 3)),
            "15 2A 0A 00 45 00 00 01 40 00 03 00 00 00"
        ),
        (
            .leCreditBasedConnectionResponse(.init(refusing: .insufficientEncryption)),
            "15 2A 0A 00 00 00 00 00 00 00 00 00 08 00"
        ),
        (
            .flowControlCreditIndication(.init(channelIdentifier: .init(rawValue: 0x45), credits: 0x0102)),
            "16 2A 04 00 45 00 02 01"
        ),
        (
            .creditBasedConnectionRequest(
                .init(
                    spsm: 0x0027, maximumTransmissionUnit: 64, maximumPayloadSize: 64, initialCredits: 1,
                    sources: (0x40...0x44).map { .init(rawValue: $0) })),
            "17 2A 12 00 27 00 40 00 40 00 01 00 40 00 41 00 42 00 43 00 44 00"
        ),
        (
            .creditBasedConnectionResponse(
                .init(
                    maximumTransmissionUnit: 64, maximumPayloadSize: 64, initialCredits: 1,
                    result: .noResourcesAvailable, destinations: [.init(rawValue: 0x40), .null])),
            "18 2A 0C 00 40 00 40 00 01 00 04 00 40 00 00 00"
        ),
        (
            .creditBasedReconfigureRequest(
                .init(maximumTransmissionUnit: 512, maximumPayloadSize: 128, destinations: [.init(rawValue: 0x40)])),
            "19 2A 06 00 00 02 80 00 40 00"
        ),
        (.creditBasedReconfigureResponse(.init(result: .mtuReductionNotAllowed)), "1A 2A 02 00 01 00"),
        (.other(code: .echoRequest, data: [1, 2, 3]), "08 2A 03 00 01 02 03"),
        (.other(code: .init(rawValue: 0xFF), data: []), "FF 2A 00 00"),
    ]

    @Test("each command is written and read as the specification defines it", arguments: samples)
    func sample(command: LESignallingCommand, hexadecimal: String) throws {
        let bytes = octets(hexadecimal)
        var packet = PacketWriter()
        command.encodePacket(identifier: 0x2A, into: &packet)
        #expect(packet.bytes == bytes)

        let signalling = try L2CAPSignallingPacket(decoding: bytes.span.bytes)
        #expect(signalling.identifier == 0x2A)
        #expect(signalling.code == command.code)
        #expect(try LESignallingCommand(decoding: signalling) == command)

        packet.removeAll()
        command.encodeFrame(identifier: 0x2A, into: &packet)
        let frame = try L2CAPBasicFrame(decoding: packet.bytes.span.bytes)
        #expect(frame.channelIdentifier == .leSignalling)
        #expect(frame.payload.copied() == bytes)
    }

    @Test("every prefix of every command is an error, not a trap", arguments: samples)
    func prefixes(command: LESignallingCommand, hexadecimal: String) {
        let bytes = octets(hexadecimal)
        for count in 0..<bytes.count {
            #expect(decode(Array(bytes.prefix(count))) == nil, "\(count) octets")
        }
    }

    @Test("data that is a field shorter or an octet longer than its command is an error", arguments: samples)
    func wrongLengths(command: LESignallingCommand, hexadecimal: String) {
        var bytes = octets(hexadecimal)
        switch command {
        case .other, .commandReject: return  // these take any length
        default: break
        }
        bytes.append(0)
        bytes[2] += 1
        #expect(decode(bytes) == nil)
        bytes.removeLast(2)
        bytes[2] -= 2
        #expect(decode(bytes) == nil)
    }

    @Test("identifier 0 is invalid")
    func identifierZero() {
        let bytes = octets("13 00 02 00 00 00")
        do throws(DecodingError) {
            _ = try L2CAPSignallingPacket(decoding: bytes.span.bytes)
            Issue.record("decoded")
        } catch {
            #expect(error == .invalidValue(0, field: .identifier))
        }
    }

    @Test("the header of a packet with broken data is still read, so that it can be rejected by its identifier")
    func headerAlone() throws {
        let bytes = octets("14 07 0A 00 80 00")
        var reader = PacketReader(bytes.span.bytes)
        let header = try L2CAPSignallingPacket.Header(decoding: &reader)
        #expect(header.identifier == 7)
        #expect(!header.code.isResponse)
        #expect(decode(bytes) == nil)
    }

    @Test("a reject ends a request whatever its data looks like")
    func oddReject() {
        #expect(
            decode(octets("01 01 04 00 00 00 01 02"))
                == .commandReject(.init(reason: .other(reason: 0, data: [1, 2]))))
        #expect(
            decode(octets("01 01 03 00 01 00 17")) == .commandReject(.init(reason: .other(reason: 1, data: [0x17]))))
    }

    @Test("six channels in one packet, none, or half of one are errors")
    func channelCounts() {
        let six = octets("17 01 14 00 27 00 40 00 40 00 01 00") + [UInt8](repeating: 0x40, count: 12)
        #expect(decode(six) == nil)
        #expect(decode(octets("17 01 08 00 27 00 40 00 40 00 01 00")) == nil)
        #expect(decode(octets("17 01 09 00 27 00 40 00 40 00 01 00 40")) == nil)
        #expect(decode(octets("19 01 04 00 40 00 40 00")) == nil)
        let refusal = octets("18 01 08 00 00 00 00 00 00 00 02 00")
        #expect(decode(refusal) != nil)  // a response may refuse without naming a channel
    }

    @Test("a request for connection parameters is valid in its ranges, and if the time-out outlasts the skipped events")
    func parameterRanges() {
        func isValid(_ minimum: UInt16, _ maximum: UInt16, _ latency: UInt16, _ timeout: UInt16) -> Bool {
            L2CAPConnectionParameterUpdateRequest(
                minimumInterval: minimum, maximumInterval: maximum, latency: latency, supervisionTimeout: timeout
            ).isValid
        }
        #expect(isValid(6, 6, 0, 10))
        #expect(isValid(24, 40, 4, 600))
        #expect(isValid(6, 3200, 0, 3200))
        #expect(!isValid(5, 6, 0, 10))
        #expect(!isValid(6, 3201, 0, 3200))
        #expect(!isValid(40, 24, 0, 600))
        #expect(!isValid(6, 6, 500, 3200))
        #expect(!isValid(6, 6, 0, 9))
        #expect(!isValid(6, 6, 0, 3201))
        #expect(!isValid(40, 40, 0, 10))  // 100 ms is not more than 2 × 50 ms
        #expect(isValid(40, 40, 0, 11))
        #expect(!isValid(0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF))
    }

    @Test("random packets never trap, and what decodes is written back octet for octet")
    func randomPackets() {
        var random = FixedSeedGenerator(seed: 4)
        var decoded = 0
        for _ in 0..<20_000 {
            let data = random.octets(count: Int(random.next() % 24))
            let code = UInt8(random.next() % 0x1C)
            let bytes = [code, UInt8(1 + random.next() % 255), UInt8(data.count), 0] + data
            guard let command = decode(bytes) else { continue }
            decoded += 1
            var packet = PacketWriter()
            command.encodePacket(identifier: bytes[1], into: &packet)
            #expect(packet.bytes == bytes)
        }
        #expect(decoded > 1000)
        for _ in 0..<20_000 { _ = decode(random.octets(count: Int(random.next() % 32))) }
    }

    private func decode(_ bytes: [UInt8]) -> LESignallingCommand? {
        do throws(DecodingError) {
            return try LESignallingCommand(decoding: L2CAPSignallingPacket(decoding: bytes.span.bytes))
        } catch {
            return nil
        }
    }
}
