import BLECapture
import Testing

@testable import BLEDecoder

/// Channels that signalling opens: over BR/EDR, and with credits.
@Suite("Dynamic channels of L2CAP")
struct ChannelDecodingTests {
    private static func octets(_ values: [UInt16]) -> [UInt8] { values.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] } }

    private static func command(_ code: UInt8, _ values: [UInt16], channel: UInt8 = 5) -> [UInt8] {
        let parameters = octets(values)
        return CaptureDecoderTests.frame(channel, [code, 7, UInt8(parameters.count), 0] + parameters)
    }

    /// SPSM 0x0027, two channels: 0x40 and 0x41 of the host, 0x50 and none of the peer. The second command comes back.
    private static let enhanced = [
        command(0x17, [0x27, 64, 64, 10, 0x40, 0x41]), command(0x18, [64, 64, 3, 4, 0x50, 0]),
    ]

    private func lines(_ packets: [[UInt8]], received: Set<Int>, style: DecodingStyle) throws -> [String] {
        var reader = try CaptureReader(bytes: CaptureBytes.btsnoop(packets) { received.contains($0) })
        var decoder = CaptureDecoder(style: style)
        while let record = try reader.next() { decoder.decode(record) }
        return unsafe decoder.output.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
            .split(separator: "\n").map(String.init)
    }

    private func summary(_ packets: [[UInt8]], received: Set<Int>) throws -> CaptureSummary.Counts {
        var reader = try CaptureReader(bytes: CaptureBytes.btsnoop(packets) { received.contains($0) })
        var summary = CaptureSummary()
        while let record = try reader.next() { summary.count(record) }
        return .init(
            att: summary.attByOpcode, enhanced: summary.enhancedATTByOpcode, malformed: summary.malformed)
    }

    @Test("an enhanced bearer carries ATT: each bearer pairs its own requests (Core 5.4, Vol 3, Part G, 5.3)")
    func enhancedBearer() throws {
        let packets =
            Self.enhanced + [
                CaptureDecoderTests.frame(0x50, [3, 0, 0x0A, 0x12, 0]), CaptureDecoderTests.frame(4, [0x0A, 0x15, 0]),
                CaptureDecoderTests.frame(0x40, [3, 0, 0x0B, 1, 2]), CaptureDecoderTests.frame(4, [0x0B, 3]),
            ]
        let text = try lines(packets, received: [1, 4, 5], style: .text(isColoured: false))
        #expect(text.contains { $0.hasSuffix("L2CAP Credit Based Connection Request (0x17)") })
        #expect(text.contains("      Source CIDs: 0x0040, 0x0041"))
        #expect(text.contains("      Result: some refused, no resources (0x0004)"))
        #expect(text.count { $0.hasSuffix("ATT Read Request (0x0a) 0x0012") } == 1)
        #expect(text.count { $0.hasSuffix("ATT Read Response (0x0b) 0x0012") } == 1)
        #expect(text.count { $0.hasSuffix("ATT Read Response (0x0b) 0x0015") } == 1)
        #expect(text.count { $0 == "      Bearer: channel 0x0050" } == 1)
        #expect(text.contains("      Credits left: 2"))
        let counts = try summary(packets, received: [1, 4, 5])
        #expect(counts.att == [.init(number: 0x0A, count: 1), .init(number: 0x0B, count: 1)])
        #expect(counts.enhanced == [.init(number: 0x0A, count: 1), .init(number: 0x0B, count: 1)])
        #expect(counts.malformed == 0)
    }

    @Test("the frames of an SDU are reassembled; each shows the credits left (Core 5.4, Vol 3, Part A, 3.4.3)")
    func units() throws {
        let notification: [UInt8] = [0x1B, 0x12, 0] + [UInt8](repeating: 0x61, count: 20)
        let unit = [UInt8(notification.count), 0] + notification
        let packets =
            Self.enhanced + [
                CaptureDecoderTests.frame(0x40, Array(unit[..<10])),
                CaptureDecoderTests.frame(0x40, Array(unit[10..<20])),
                CaptureDecoderTests.frame(0x40, Array(unit[20...])),
            ]
        let text = try lines(packets, received: [1, 2, 3, 4], style: .text(isColoured: false))
        #expect(text.contains("      Credits left: 9"))
        #expect(text.contains("      Piece: Start of a unit"))
        #expect(text.contains("      SDU length: 23"))
        #expect(text.contains("      SDU octets so far: 18"))
        #expect(text.contains { $0.hasSuffix("ATT Handle Value Notification (0x1b) 0x0012") })
        #expect(
            text.contains(
                "      Value: \(String(repeating: "61", count: 20)) = \"\(String(repeating: "a", count: 20))\""))
        let counts = try summary(packets, received: [1, 2, 3, 4])
        #expect(counts.enhanced == [.init(number: 0x1B, count: 1)])
    }

    @Test("another channel with credits shows its service, the unit's length and the credits; a grant raises them")
    func otherService() throws {
        let packets = [
            Self.command(0x14, [0x25, 0x40, 64, 64, 5]), Self.command(0x15, [0x50, 64, 64, 2, 0]),
            CaptureDecoderTests.frame(0x50, [3, 0, 1, 2, 3]), Self.command(0x16, [0x50, 9]),
            CaptureDecoderTests.frame(0x50, [1, 0, 4]), Self.command(0x06, [0x50, 0x40]),
            Self.command(0x07, [0x50, 0x40]),
            CaptureDecoderTests.frame(0x50, [1, 0, 4]),
        ]
        let json = try lines(packets, received: [1, 3, 6], style: .json)
        #expect(json[2].contains(#""psm":37,"creditsLeft":1,"sduLength":3,"data":"010203""#))
        #expect(json[4].contains(#""psm":37,"creditsLeft":9,"sduLength":1"#))
        #expect(json[7].contains(#""name":"Data","fields":{"length":3,"#), "the channel has ended")
    }

    @Test("an indication does not hide the request that its sender has under way (Core 5.4, Vol 3, Part F, 3.3.2)")
    func requestAndIndication() throws {
        let onFixed: [[UInt8]] = [[0x0A, 0x12, 0], [0x1D, 0x15, 0, 7], [0x0B, 1], [0x1E]]
        for (channel, back) in [(UInt8(4), UInt8(4)), (0x50, 0x40)] {
            let packets =
                Self.enhanced
                + onFixed.enumerated().map { index, pdu in
                    let unit = channel == 4 ? pdu : [UInt8(pdu.count), 0] + pdu
                    return CaptureDecoderTests.frame(index < 2 ? channel : back, unit)
                }
            let json = try lines(packets, received: [1, 4, 5], style: .json)
            #expect(json[4].contains(#""handle":18"#) && json[4].contains(#""request":3,"#))
            #expect(json[5].contains(#""handle":21"#) && json[5].contains(#""request":4,"#))
        }
    }

    @Test("a fragmented signalling frame is kept only as far as it can open a channel")
    func boundedSignalling() {
        var counter = FragmentCounter()
        let payload = [UInt8](repeating: 8, count: 4000)
        let whole = [UInt8(payload.count & 0xFF), UInt8(payload.count >> 8), 5, 0] + payload
        var outcomes: [Int] = []
        for (place, start) in stride(from: 0, to: whole.count, by: 500).enumerated() {
            let piece = Array(whole[start..<min(start + 500, whole.count)])
            let outcome = counter.receive(
                adapter: 0, handleField: place == 0 ? 0x0040 : 0x1040, direction: .hostToController,
                data: piece.span.bytes, stated: piece.count)
            if case .frame(let frame) = outcome { outcomes.append(frame.payloadByteCount) }
        }
        #expect(outcomes == [4000])
        #expect(counter.gathered.count == 256)
    }

    @Test("configuration options have names and fields, unknown and truncated ones their octets (Vol 3, Part A, 5)")
    func configurationOptions() throws {
        let mode: [UInt8] = [4, 9, 3, 10, 20, 0xD0, 0x07, 0xE0, 0x2E, 0xF2, 0x03]
        let options: [UInt8] = [1, 2, 0x40, 0x03] + mode + [0x85, 1, 0, 7, 1, 9, 0x70, 0, 2, 4, 0xFF]
        let request: [UInt8] = [4, 7, UInt8(options.count + 4), 0, 0x41, 0, 0, 0] + options
        let packets = [CaptureDecoderTests.frame(1, request)]
        let text = try lines(packets, received: [], style: .text(isColoured: false))
        let expected = [
            "- Option: Maximum Transmission Unit (0x01)", "MTU: 832",
            "- Option: Retransmission and Flow Control (0x04)", "Mode: enhanced retransmission (0x03)",
            "TX Window Size: 10", "Max Transmit: 20", "Retransmission Timeout: 2000 ms", "Monitor Timeout: 12000 ms",
            "MPS: 1010", "- Option: Frame Check Sequence (0x85), hint", "FCS Type: none (0x00)",
            "- Option: Extended Window Size (0x07)", "Value: 09", "- Option: 0x70", "Value: (empty)",
            "- Incomplete option: 0204ff",
        ]
        let told = text.drop { !$0.contains("Option") }.map { $0.drop { $0 == " " } }
        #expect(told == expected.map { Substring($0) })
        let json = try lines(packets, received: [], style: .json)[0]
        let first = #""options":[{"option":1,"optionName":"Maximum Transmission Unit","mtu":832},{"option":4"#
        #expect(json.contains(first))
        #expect(json.contains(#"{"option":112,"value":""},{"incomplete":"0204ff"}]"#))
        #expect(try summary(packets, received: []).malformed == 0)
    }

    @Test("frames that form no SDU are malformed, in the text and in the count")
    func brokenUnits() throws {
        let packets =
            Self.enhanced + [
                CaptureDecoderTests.frame(0x50, [2, 0, 0x0A, 0x12, 0]), CaptureDecoderTests.frame(0x50, [0]),
                CaptureDecoderTests.frame(0x50, [9, 0, 0x0A]),
                CaptureDecoderTests.frame(0x50, [UInt8](repeating: 1, count: 20)),
                CaptureDecoderTests.frame(0x50, []),
            ]
        let text = try lines(packets, received: [1], style: .text(isColoured: false))
        #expect(text.count { $0 == "      Malformed: the frames do not make up a unit" } == 4)
        #expect(try summary(packets, received: [1]).malformed == 4)
    }

    @Test("signalling that comes in fragments opens channels too, in the text and in the count")
    func fragmentedSignalling() throws {
        let pieces = Self.enhanced.flatMap { packet -> [[UInt8]] in
            let data = Array(packet[5...])
            return stride(from: 0, to: data.count, by: 7).map { start in
                let piece = data[start..<min(start + 7, data.count)]
                return [2, 0x40, start == 0 ? 0 : 0x10, UInt8(piece.count), 0] + piece
            }
        }
        let request = pieces.count - 3
        let received = Set(request..<pieces.count)
        let packets = pieces + [CaptureDecoderTests.frame(0x50, [3, 0, 0x0A, 0x12, 0])]
        #expect(try summary(packets, received: received).enhanced == [.init(number: 0x0A, count: 1)])
        let text = try lines(packets, received: received, style: .text(isColoured: false))
        #expect(text.contains { $0.hasSuffix("ATT Read Request (0x0a) 0x0012") })
    }

    @Test("ATT over BR/EDR is counted and shown, as other tools do")
    func classicATT() throws {
        let packets = [
            Self.command(0x02, [0x1F, 0x41], channel: 1), Self.command(0x03, [0x52, 0x41, 0, 0], channel: 1),
            CaptureDecoderTests.frame(0x52, [0x0A, 0x12, 0]), CaptureDecoderTests.frame(0x41, [0x0B, 7]),
        ]
        let counts = try summary(packets, received: [1, 3])
        #expect(counts.att == [.init(number: 0x0A, count: 1), .init(number: 0x0B, count: 1)])
        let text = try lines(packets, received: [1, 3], style: .text(isColoured: false))
        #expect(text.contains { $0.hasSuffix("ATT Read Response (0x0b) 0x0012") })
    }

    @Test("every signalling command has its name and fields (Core 5.4, Vol 3, Part A, 4)", arguments: 1...0x1A)
    func names(_ code: Int) throws {
        let parameters: [UInt16] = [2, 0, 0x40, 0x41, 1]
        let text = try lines(
            [Self.command(UInt8(code), parameters)], received: [], style: .text(isColoured: false))
        #expect(!text[1].contains("Signalling"))
        #expect(!text.contains { $0.contains("Malformed") })
    }
}

extension CaptureSummary {
    /// What these tests look at.
    struct Counts {
        var att: [Count]
        var enhanced: [Count]
        var malformed: Int
    }
}
