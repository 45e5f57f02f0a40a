import Testing

@testable import BLEPackets

/// A value and the bytes that stand for it, whichever kind of thing it is.
struct CodecSample: Sendable, CustomTestStringConvertible {
    enum Outcome: Equatable, Sendable {
        /// What the value encodes to again, whether it equals the sample's, and how many bytes it left.
        case decoded(again: [UInt8], isSame: Bool, left: Int)
        case failed(DecodingError)
    }

    let testDescription: String
    let bytes: [UInt8]
    let encoded: [UInt8]
    let decode: @Sendable ([UInt8]) -> Outcome
    /// Whether all prefixes must fail: not so for return parameters of a failure, which may end behind the status, and
    /// for what takes all the rest.
    var prefixesFail = true

    static func command<Value: HCICommand>(_ value: Value, _ hex: String) -> CodecSample {
        CodecSample(
            testDescription: "\(Value.self)", bytes: bytes(hex), encoded: encodedCommand(value),
            decode: { decodeCommand($0, as: value) })
    }

    static func answer<Value: HCIReturnParameters>(_ value: Value, _ hex: String) -> CodecSample {
        var packet = PacketWriter()
        value.encode(into: &packet)
        return CodecSample(
            testDescription: "\(String(reflecting: Value.self))", bytes: bytes(hex), encoded: packet.bytes,
            decode: { decodeAnswer($0, as: value) }, prefixesFail: value.status.isSuccess)
    }

    static func event<Value: HCIEvent>(_ value: Value, _ hex: String, prefixesFail: Bool = true) -> CodecSample {
        var packet = PacketWriter()
        value.encode(into: &packet)
        return CodecSample(
            testDescription: "\(Value.self)", bytes: bytes(hex), encoded: packet.bytes,
            decode: { decodeEvent($0, as: value) }, prefixesFail: prefixesFail)
    }

    static func bytes(_ hex: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var high: UInt8?
        for character in hex.utf8 where character != UInt8(ascii: " ") {
            guard let digit = hexadecimalDigit(character) else { preconditionFailure("no hexadecimal digit in \(hex)") }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        precondition(high == nil, "odd number of digits in \(hex)")
        return bytes
    }

    private static func encodedCommand<Value: HCICommand>(_ value: Value) -> [UInt8] {
        var packet = PacketWriter()
        value.encode(into: &packet)
        return packet.bytes
    }

    private static func decodeCommand<Value: HCICommand>(_ bytes: [UInt8], as expected: Value) -> Outcome {
        var reader = PacketReader(bytes.span.bytes)
        do throws(DecodingError) {
            let value = try Value(decoding: &reader)
            return .decoded(again: encodedCommand(value), isSame: value == expected, left: reader.remainingCount)
        } catch {
            return .failed(error)
        }
    }

    private static func decodeAnswer<Value: HCIReturnParameters>(_ bytes: [UInt8], as expected: Value) -> Outcome {
        var reader = PacketReader(bytes.span.bytes)
        do throws(DecodingError) {
            let value = try Value(decoding: &reader)
            var packet = PacketWriter()
            value.encode(into: &packet)
            return .decoded(again: packet.bytes, isSame: value == expected, left: reader.remainingCount)
        } catch {
            return .failed(error)
        }
    }

    private static func decodeEvent<Value: HCIEvent>(_ bytes: [UInt8], as expected: Value) -> Outcome {
        var reader = PacketReader(bytes.span.bytes)
        do throws(DecodingError) {
            let value = try Value(decoding: &reader)
            var packet = PacketWriter()
            value.encode(into: &packet)
            return .decoded(again: packet.bytes, isSame: value == expected, left: reader.remainingCount)
        } catch {
            return .failed(error)
        }
    }
}

extension DeviceAddress {
    /// Public, `66:55:44:33:22:11`; on the wire 112233445566.
    static let samplePublic = DeviceAddress(value: 0x6655_4433_2211, kind: .public)
    /// Random static, `C6:55:44:33:22:11`; on the wire 1122334455c6.
    static let sampleRandom = DeviceAddress(value: 0xC655_4433_2211, kind: .random)
}

extension ConnectionHandle {
    /// On the wire 4100.
    static let sample = ConnectionHandle(rawValue: 0x0041)
}

extension SynchronizationHandle {
    /// On the wire 0700.
    static let sample = SynchronizationHandle(rawValue: 0x0007)
}

extension LEConnectionParameters {
    /// On the wire 1800 2800 0100 f401 0200 0300.
    static let sample = LEConnectionParameters(
        minimumInterval: .milliseconds(30), maximumInterval: .milliseconds(50), latency: 1,
        supervisionTimeout: .milliseconds(5000), minimumEventLength: 2, maximumEventLength: 3)
}

extension Key128 {
    /// On the wire 00 to 0f.
    static let sample = Key128(rawValue: 0x0F0E_0D0C_0B0A_0908_0706_0504_0302_0100)
    static let sampleHex = "000102030405060708090a0b0c0d0e0f"
}

/// 64 octets, 00 to 3f.
let sampleOctets64: [UInt8] = (0..<64).map { UInt8($0) }

func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }
    return String(decoding: text, as: UTF8.self)
}
