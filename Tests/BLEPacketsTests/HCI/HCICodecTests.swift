import Testing

@testable import BLEPackets

@Suite("HCI codec")
struct HCICodecTests {
    static let samples = commandSamples + answerSamples + eventSamples

    @Test("every value encodes to the bytes of the specification and decodes from them", arguments: samples)
    func roundTrip(sample: CodecSample) {
        #expect(hexadecimal(sample.encoded) == hexadecimal(sample.bytes))
        #expect(sample.decode(sample.bytes) == .decoded(again: sample.bytes, isSame: true, left: 0))
    }

    @Test("every packet that ends too early is an error, not a trap (pain 16)", arguments: samples)
    func truncation(sample: CodecSample) {
        for count in sample.bytes.indices {
            let outcome = sample.decode(Array(sample.bytes.prefix(count)))
            guard sample.prefixesFail else { continue }
            guard case .failed(.truncated) = outcome else {
                Issue.record("\(count) of \(sample.bytes.count) bytes: \(outcome)")
                continue
            }
        }
    }

    @Test("octets after the last field are left to the caller", arguments: samples)
    func trailing(sample: CodecSample) {
        guard sample.prefixesFail || sample.testDescription != "CommandComplete" else { return }
        #expect(
            sample.decode(sample.bytes + [0xAA, 0xBB]) == .decoded(again: sample.bytes, isSame: true, left: 2))
    }

    @Test("a failed command may be answered by its status alone; the other fields are zero then")
    func answerCutBehindFailure() throws {
        let event = CommandComplete(opcode: ReadRSSI.opcode, returnParameters: [0x02])
        let answer = try event.decode(ReadRSSI.self)
        #expect(answer.status == .unknownConnectionIdentifier)
        #expect(answer.connectionHandle == ConnectionHandle(rawValue: 0))
        #expect(answer.rssi == 127)
        let whole = try CommandComplete(ReadRSSI.self, returnParameters: answer).decode(ReadRSSI.self)
        #expect(whole == answer)
    }

    @Test("a truncated successful answer is an error")
    func answerCutBehindSuccess() {
        for count in 0..<4 {
            let event = CommandComplete(
                opcode: ReadRSSI.opcode, returnParameters: Array([0x00, 0x41, 0x00, 0xBB].prefix(count)))
            do throws(DecodingError) {
                _ = try event.decode(ReadRSSI.self)
                Issue.record("decoded \(count) bytes")
            } catch {
                guard case .truncated = error else {
                    Issue.record("\(error)")
                    return
                }
            }
        }
    }

    @Test("the answer to another command is not accepted as the one that was asked for")
    func answerToAnotherCommand() {
        do throws(DecodingError) {
            _ = try CommandComplete(opcode: Reset.opcode, returnParameters: [0]).decode(LERand.self)
            Issue.record("decoded")
        } catch {
            #expect(error == .invalidValue(0x0C03, field: .opcode))
        }
    }

    @Test("a whole command is type, opcode, length and parameters")
    func commandPacket() throws {
        var packet = PacketWriter()
        LESetScanEnable(isEnabled: true).encodePacket(into: &packet)
        #expect(hexadecimal(packet.bytes) == "010c20020100")
        let view = try H4PacketView(decoding: packet.bytes.span.bytes)
        #expect(view.type == .command)
        let command = try HCICommandPacketView(decoding: view.contents)
        #expect(command.opcode == LESetScanEnable.opcode)
        #expect(try command.decode(LESetScanEnable.self) == LESetScanEnable(isEnabled: true))
        let owned = try HCICommandPacket(decoding: view.contents)
        #expect(owned == HCICommandPacket(LESetScanEnable(isEnabled: true)))
        var again = PacketWriter()
        owned.encodePacket(into: &again)
        #expect(again.bytes == packet.bytes)
    }

    @Test("a command with a wrong length is an error", arguments: ["0c20 03 0100", "0c20 01 0100", "0c20"])
    func commandLength(hex: String) {
        do throws(DecodingError) {
            _ = try HCICommandPacket(decoding: CodecSample.bytes(hex).span.bytes)
            Issue.record("decoded")
        } catch {
            switch error {
            case .lengthMismatch, .truncated: break
            default: Issue.record("\(error)")
            }
        }
    }

    @Test("a command with more parameters than it has is an error")
    func commandTrailing() {
        do throws(DecodingError) {
            _ = try HCICommandPacket(opcode: Reset.opcode, parameters: [1]).decode(Reset.self)
            Issue.record("decoded")
        } catch {
            #expect(error == .trailingBytes(1))
        }
    }

    @Test("an octet that is neither 0 nor 1 is not a Boolean value")
    func boolean() {
        do throws(DecodingError) {
            _ = try HCICommandPacket(opcode: LESetAdvertisingEnable.opcode, parameters: [2])
                .decode(LESetAdvertisingEnable.self)
            Issue.record("decoded")
        } catch {
            #expect(error == .invalidValue(2, field: .boolean))
        }
    }

    @Test("advertising data that claims more than its field holds is an error")
    func advertisingDataLength() {
        do throws(DecodingError) {
            _ = try HCICommandPacket(
                opcode: LESetAdvertisingData.opcode, parameters: [32] + [UInt8](repeating: 0, count: 31)
            ).decode(LESetAdvertisingData.self)
            Issue.record("decoded")
        } catch {
            #expect(error == .lengthMismatch(stated: 32, actual: 31))
        }
    }

    @Test("values that are too long for their field are truncated, and the packet stays well formed")
    func cutAtEncoding() throws {
        let long = [UInt8](repeating: 7, count: 300)
        var packet = PacketWriter()
        LESetAdvertisingData(data: long).encodePacket(into: &packet)
        #expect(packet.bytes.count == 4 + 32)
        #expect(packet.bytes[4] == 31)
        let command = HCICommandPacket(opcode: Reset.opcode, parameters: long)
        packet.removeAll()
        command.encode(into: &packet)
        #expect(try HCICommandPacket(decoding: packet.bytes.span.bytes).parameters.count == 255)
    }

    @Test("every event as one value keeps its code, its subevent and its bytes")
    func eventPackets() throws {
        var packet = PacketWriter()
        LEScanTimeout().encodePacket(into: &packet)
        #expect(hexadecimal(packet.bytes) == "043e0111")
        let event = try HCIEventPacket(decoding: packet.bytes.span.bytes.extracting(droppingFirst: 1))
        #expect(event == .leScanTimeout(LEScanTimeout()))
        #expect(event.subevent == .scanTimeout)
        var again = PacketWriter()
        event.encodePacket(into: &again)
        #expect(again.bytes == packet.bytes)
    }

    @Test(
        "events that are not known are kept byte for byte",
        arguments: ["f900", "ff03010203", "3e03aa0102", "3e01fe", "0100", "57020100"])
    func unknownEvents(hex: String) throws {
        let bytes = CodecSample.bytes(hex)
        var packet = PacketWriter()
        try HCIEventPacket(decoding: bytes.span.bytes).encode(into: &packet)
        #expect(hexadecimal(packet.bytes) == hex)
    }

    @Test("an LE Meta event without a subevent is an error")
    func emptyMeta() {
        do throws(DecodingError) {
            _ = try HCIEventPacket(decoding: CodecSample.bytes("3e00").span.bytes)
            Issue.record("decoded")
        } catch {
            #expect(error == .truncated(needed: 1, remaining: 0))
        }
    }

    @Test("an event in place gives parameters with and without the subevent")
    func eventView() throws {
        let bytes = CodecSample.bytes("3e 03 14 4100")
        let view = try HCIEventPacketView(decoding: bytes.span.bytes)
        #expect(view.subevent == .channelSelectionAlgorithm)
        #expect(view.parameters.copied() == [0x14, 0x41, 0x00])
        #expect(view.eventParameters.copied() == [0x41, 0x00])
    }

    @Test("an event with a wrong length is an error")
    func eventLength() {
        let bytes = CodecSample.bytes("3e 03 14 41")
        do throws(DecodingError) {
            _ = try HCIEventPacketView(decoding: bytes.span.bytes)
            Issue.record("decoded")
        } catch {
            #expect(error == .lengthMismatch(stated: 3, actual: 2))
        }
    }

    @Test("a failed connection attempt is reported even if its address type is nonsense")
    func failedConnection() throws {
        let bytes = CodecSample.bytes("02 0000 00 a5 000000000000 0000 0000 0000 00")
        var reader = PacketReader(bytes.span.bytes)
        let failed = try LEConnectionComplete(decoding: &reader)
        #expect(failed.status == .unknownConnectionIdentifier)

        let good = CodecSample.bytes("00 0000 00 a5 000000000000 0000 0000 0000 00")
        var other = PacketReader(good.span.bytes)
        do throws(DecodingError) {
            _ = try LEConnectionComplete(decoding: &other)
            Issue.record("decoded")
        } catch {
            #expect(error == .invalidValue(0xA5, field: .addressType))
        }
    }

    @Test("keys do not show in descriptions")
    func secrets() {
        let command = LELongTermKeyRequestReply(connectionHandle: .sample, longTermKey: .sample)
        #expect(!"\(command)".contains("0706"))
        #expect("\(command)".contains("128-bit key"))
        let octets = Array(sampleOctets64.prefix(32))
        #expect("\(LEGenerateDHKeyComplete(key: DHKey(octets: octets) ?? .zero))".contains("256-bit key"))
    }

    @Test("a key reads the same from either end")
    func keys() {
        let forwards: [UInt8] = (0..<16).map { UInt8($0) }
        #expect(Key128(leastSignificantFirst: forwards) == .sample)
        #expect(Key128(mostSignificantFirst: forwards.reversed()) == .sample)
        #expect(Key128.sample.octets == forwards)
        #expect(Key128(leastSignificantFirst: [1, 2]) == nil)
    }
}
