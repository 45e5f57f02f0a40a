import BLECapture
import Testing

@testable import BLEDecoder

/// A key stands wherever a capture may have one, and no output shows four octets of it.
@Suite("Keys in captures")
struct KeySecrecyTests {
    static let key: [UInt8] = [
        0x5A, 0x3C, 0x9E, 0x71, 0xB8, 0x4D, 0xF2, 0x67, 0xC9, 0x1B, 0xE4, 0x86, 0x2F, 0xD3, 0xA5, 0x78,
    ]
    private static let zeros = [UInt8](repeating: 0, count: 16)

    private struct Packet {
        var octets: [UInt8]
        var isReceived = false
        /// How many of the octets the capture holds; `nil`: all.
        var held: Int?
    }

    private static func acl(_ field: UInt16, _ data: [UInt8]) -> [UInt8] {
        [2, UInt8(field & 0xFF), UInt8(field >> 8), UInt8(data.count & 0xFF), UInt8(data.count >> 8)] + data
    }

    private static func frame(_ channel: UInt16, _ payload: [UInt8]) -> [UInt8] {
        [UInt8(payload.count & 0xFF), UInt8(payload.count >> 8), UInt8(channel & 0xFF), UInt8(channel >> 8)] + payload
    }

    private static func command(_ opcode: UInt16, _ parameters: [UInt8]) -> [UInt8] {
        [1, UInt8(opcode & 0xFF), UInt8(opcode >> 8), UInt8(parameters.count)] + parameters
    }

    private static func event(_ code: UInt8, _ parameters: [UInt8]) -> [UInt8] {
        [4, code, UInt8(parameters.count)] + parameters
    }

    /// Fragments whose beginning was not seen, belongs to no frame, or to one of SMP.
    private static var fragments: [Packet] {
        let beginning = frame(6, [0x06] + key)
        return [
            // Of a handle that nobody has heard of, at the beginning of the capture, in both directions.
            Packet(octets: acl(0x1040, key)), Packet(octets: acl(0x1040, key), isReceived: true),
            Packet(octets: acl(0x1041, Array(key.dropFirst(3)))), Packet(octets: acl(0x1041, Array(key.suffix(5)))),
            // Behind a whole frame.
            Packet(octets: acl(0x2042, frame(4, [0x0A, 3, 0]))), Packet(octets: acl(0x1042, key)),
            // One that began in the other direction, or on another link.
            Packet(octets: acl(0x2043, Array(beginning.prefix(9)))),
            Packet(octets: acl(0x1043, Array(beginning.dropFirst(9))), isReceived: true),
            Packet(octets: acl(0x1044, Array(beginning.dropFirst(9)))),
            Packet(octets: acl(0x1043, Array(beginning.dropFirst(9)))),
            // One more than the frame has, and then one more.
            Packet(octets: acl(0x2045, Array(beginning.prefix(9)))),
            Packet(octets: acl(0x1045, Array(beginning.dropFirst(9)) + key)), Packet(octets: acl(0x1045, key)),
            // A beginning in the middle of another, and the rest of the first.
            Packet(octets: acl(0x2046, Array(beginning.prefix(12)))),
            Packet(octets: acl(0x2046, frame(4, [0x0A, 3, 0]))),
            Packet(octets: acl(0x1046, Array(beginning.dropFirst(12)))),
            // A beginning of less than a header, and one that the capture cut.
            Packet(octets: acl(0x2047, Array(beginning.prefix(3)))),
            Packet(octets: acl(0x1047, Array(beginning.dropFirst(3)))),
            Packet(octets: acl(0x2048, beginning), held: 16), Packet(octets: acl(0x1048, key)),
            Packet(octets: acl(0x2049, Array(beginning.prefix(15))), held: 12), Packet(octets: acl(0x1049, key)),
            // Lengths that do not fit.
            Packet(octets: [2, 0x4A, 0x20, 9, 0] + beginning), Packet(octets: [2, 0x4A, 0x20, 99, 0] + beginning),
            Packet(octets: [2, 0x4A, 0x10, 99, 0] + key),
            // A controller's own traces, and fixed channels that are not known.
            Packet(octets: acl(0x2EDC, key)), Packet(octets: acl(0x2EDC, key), held: 15),
            Packet(octets: acl(0x2EDC, key), isReceived: true), Packet(octets: acl(0x2EDD, Array(key.prefix(9)))),
            Packet(octets: acl(0x05FF, Array(key.prefix(9))), isReceived: true),
            Packet(octets: acl(0xFC6F, frame(4, [0x1B, 3, 0] + key)), isReceived: true),
            Packet(octets: acl(0x2F00, Array(key.prefix(9))), isReceived: true),
            Packet(octets: acl(0x204B, frame(0x003E, key))),
            Packet(octets: acl(0x204B, frame(0x0009, Array(key.prefix(9))))),
            Packet(octets: acl(0x204B, frame(0x0008, key)), held: 19),
        ]
    }

    /// PDUs of the Security Manager: each code with a key behind it, of the right length, a shorter and a longer one.
    private static var pairing: [Packet] {
        var packets: [Packet] = []
        for channel: UInt16 in [6, 7] {
            for code in (UInt8(0)...0x0F).filter({ ![0x03, 0x0C, 0x0D].contains($0) }) + [0x80, 0xFF] {
                for payload in [[code] + key, [code] + key.prefix(11), [code] + key + key, [code, 0] + key] {
                    packets.append(Packet(octets: acl(0x2040, frame(channel, payload))))
                    packets.append(Packet(octets: acl(0x2040, frame(channel, payload)), held: 19))
                }
            }
        }
        return packets
    }

    private static var hci: [Packet] {
        let address: [UInt8] = [1, 2, 3, 4, 5, 6]
        var packets = [
            // LE Encrypt, Enable Encryption, LTK Request Reply, Add Device to Resolving List, BIG with their codes.
            command(0x2017, key + key), command(0x2019, [0x40, 0] + zeros.prefix(10) + key),
            command(0x201A, [0x40, 0] + key),
            command(0x2027, [0] + address + key + key), command(0x206B, [1, 2, 0, 1] + key + [0, 100, 0, 1, 1]),
            command(0x2068, [1, 2, 1, 0, 1, 0, 2, 0, 10, 0, 1, 1, 0, 0, 1] + key), command(0x2069, zeros + key),
            // Link keys, PIN codes and data out of band of BR/EDR.
            command(0x040B, address + key), command(0x040D, address + [16] + key), command(0x0430, address + key + key),
            command(0x0445, address + key + key + key + key), command(0x0C11, [1] + address + key),
            event(0x18, address + key + [4]), event(0x15, [1] + address + key),
            event(0x0E, [1, 0x57, 0x0C, 0] + key + key), event(0x0E, [1, 0x7D, 0x0C, 0] + key + key + key + key),
            event(0x0E, [1, 0x17, 0x20, 0] + key), event(0x0E, [1, 0x18, 0x20, 0] + key.prefix(8)),
            event(0x3E, [0x09, 0] + key + key),
            // What nobody knows: vendors, unknown opcodes, events and subevents, a command in a loop.
            command(0xFC01, key), command(0xFFFF, [0] + key), command(0x1801, key), command(0x0BFF, key),
            event(0xFF, key), event(0xFF, [0x31] + key), event(0x77, key), event(0x3E, [0xEE] + key),
            event(0x3E, [0x36] + key), event(0x19, command(0x201A, [0x40, 0] + key)),
            event(0x0E, [1, 0x01, 0xFC, 0] + key), event(0x0E, [1, 0x34, 0x12, 0] + key),
            // Behind everything that is known, and in streams that went out of step.
            command(0x0C03, key), event(0x05, [0, 0x40, 0, 0x13] + key), event(0x0E, [1, 0x03, 0x0C, 0] + key),
            [9] + key, [0x5A] + key.dropFirst(), key,
        ]
        // Each of them with a length that is not its own.
        for packet in packets where packet[0] == 1 || packet[0] == 4 {
            for change in [UInt8(1), 3, 250] {
                var wrong = packet
                wrong[packet[0] == 1 ? 3 : 2] &+= change
                packets.append(wrong)
            }
            packets.append(packet + key)
        }
        return packets.map { Packet(octets: $0) } + packets.map { Packet(octets: $0, held: $0.count - 6) }
    }

    private static func btsnoop(_ packets: [Packet]) -> [UInt8] {
        file(
            type: 1002,
            packets.map { packet in
                let direction: UInt32 = packet.octets[0] == 4 || packet.isReceived ? 1 : 0
                let isHCI: UInt32 = packet.octets[0] == 1 || packet.octets[0] == 4 ? 2 : 0
                return (packet.octets, packet.held ?? packet.octets.count, direction | isHCI)
            })
    }

    /// Notes of the Linux monitor.
    private static var notes: [UInt8] {
        func digits(_ separator: String) -> [UInt8] { Array(hexadecimal(key, separator).utf8) }
        let texts = [
            digits(""), Array("LTK ".utf8) + digits("") + Array(" kept".utf8), digits(" "), digits(":"),
            Array("x".utf8) + digits("") + digits(""), Array(hexadecimal(key, "").uppercased().utf8),
        ]
        var records = texts.flatMap { text -> [([UInt8], Int, UInt32)] in
            [(text, text.count, 12), ([3, 2] + Array("b\0".utf8) + text, text.count + 4, 13)]
        }
        // Vendor diagnostics, and messages of the management socket with and without their headers.
        for opcode: UInt32 in [11, 14, 15, 16, 17, 99] { records.append((zeros + key, 32, opcode)) }
        return file(type: 2001, records.map { ($0.0, $0.1, $0.2 & 0xFFFF) })
    }

    private static func file(type: UInt32, _ records: [([UInt8], held: Int, flags: UInt32)]) -> [UInt8] {
        func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> UInt32(24 - 8 * $0) & 0xFF) } }
        var file = Array("btsnoop\0".utf8) + word(1) + word(type)
        for (octets, held, flags) in records {
            file += word(UInt32(octets.count)) + word(UInt32(held)) + word(flags) + word(0)
            file += word(0x00E1_5E3A) + word(0x0000_0001) + octets.prefix(held)
        }
        return file
    }

    private static func hexadecimal(_ octets: some Sequence<UInt8>, _ separator: String) -> String {
        octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: separator)
    }

    /// Where the output of a file shows the key, as hexadecimal digits in either order, or as numbers.
    private func shown(_ file: [UInt8]) throws -> [String] {
        var outputs: [String] = []
        for style in [DecodingStyle.text(isColoured: false), .json] {
            var reader = try CaptureReader(bytes: file)
            var decoder = CaptureDecoder(style: style)
            while let record = try reader.next() { decoder.decode(record) }
            unsafe outputs.append(decoder.output.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) })
        }
        var reader = try CaptureReader(bytes: file)
        var page = HTMLReport()
        page.begin(title: "keys")
        while let record = try reader.next() { page.add(record) }
        page.end()
        unsafe outputs.append(page.output.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) })
        var found: [String] = []
        for output in outputs {
            #expect(output.utf8.count > 100)
            for line in output.split(separator: "\n") {
                let plain = line.lowercased().filter { !":- ".contains($0) }
                for start in 0...12 {
                    let run = Self.key[start..<start + 4]
                    let number = run.reversed().reduce(0) { $0 << 8 | UInt64($1) }
                    let forms = [
                        Self.hexadecimal(run, ""), Self.hexadecimal(run.reversed(), ""), String(number),
                    ]
                    if forms.contains(where: plain.contains) { found.append(String(line)) }
                }
            }
        }
        return found
    }

    @Test("no fragment whose beginning was not seen shows a key")
    func orphans() throws { #expect(try shown(Self.btsnoop(Self.fragments)) == []) }

    @Test("no PDU of pairing shows a key, whatever its code and length")
    func securityManager() throws { #expect(try shown(Self.btsnoop(Self.pairing)) == []) }

    @Test("no command and no event shows a key, known or not, intact, truncated or malformed")
    func commandsAndEvents() throws { #expect(try shown(Self.btsnoop(Self.hci)) == []) }

    @Test("no note of the monitor shows a key, not even in what programs have logged")
    func monitor() throws { #expect(try shown(Self.notes) == []) }

    @Test("the key of encrypted advertising data is not shown where its type is known")
    func advertisingKeys() throws {
        let file = Self.btsnoop([
            Packet(octets: Self.acl(0x2040, Self.frame(4, [0x08, 1, 0, 0xFF, 0xFF, 0x03, 0x28]))),
            Packet(
                octets: Self.acl(0x2040, Self.frame(4, [0x09, 7, 0x11, 0, 0x22, 0x12, 0, 0x88, 0x2B])), isReceived: true
            ),
            Packet(octets: Self.acl(0x2040, Self.frame(4, [0x0A, 0x12, 0]))),
            Packet(octets: Self.acl(0x2040, Self.frame(4, [0x0B] + Self.key + Self.zeros.prefix(8))), isReceived: true),
            Packet(octets: Self.acl(0x2040, Self.frame(4, [0x1D, 0x12, 0] + Self.key)), isReceived: true),
        ])
        #expect(try shown(file) == [])
    }

    @Test("data other than keys is still shown: short octets of vendors, logs with UUIDs, data of channels")
    func useful() throws {
        let file = Self.btsnoop([
            Packet(octets: Self.event(0xFF, [0xAB, 0xCD, 0xEF])),
            Packet(octets: Self.command(0xFC02, [0xAB, 0xCD, 0xEF])),
            Packet(octets: Self.acl(0x2040, Self.frame(0x0045, Self.zeros + [0xAB, 0xCD, 0xEF]))),
        ])
        var reader = try CaptureReader(bytes: file)
        var decoder = CaptureDecoder(style: .text(isColoured: false))
        while let record = try reader.next() { decoder.decode(record) }
        let text = unsafe decoder.output.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        #expect(text.split(separator: "abcdef").count == 4, "\(text)")
        let log = Array("GATT 0000180d-0000-1000-8000-00805f9b34fb at 12:34:56".utf8)
        #expect(NoteText.withoutKeys(log.span.bytes) == log)
    }
}
