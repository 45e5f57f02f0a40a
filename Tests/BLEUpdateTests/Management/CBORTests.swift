import BLEManagement
import Testing

@Suite("CBOR and frames of device management")
struct CBORTests {
    private func octets(_ text: String) -> [UInt8] {
        let digits = Array(text.filter { $0 != " " })
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0..<$0 + 2]), radix: 16) }
    }

    @Test(
        "values are those of the samples in the specification (RFC 8949, appendix A), and are written back as they came"
    )
    func samples() throws {
        let samples: [(String, CBORValue)] = [
            ("00", .unsigned(0)), ("17", .unsigned(23)), ("1818", .unsigned(24)), ("1903e8", .unsigned(1000)),
            ("1a000f4240", .unsigned(1_000_000)), ("1bffffffffffffffff", .unsigned(.max)), ("20", .integer(-1)),
            ("3903e7", .integer(-1000)), ("3bffffffffffffffff", .negative(.max)), ("f4", .boolean(false)),
            ("f5", .boolean(true)), ("f6", .null), ("4401020304", .octets([1, 2, 3, 4])), ("6449455446", .text("IETF")),
            ("83010203", .array([1, 2, 3].map { .unsigned($0) })),
            (
                "a26161016162820203",
                .object([
                    "a": .unsigned(1), "b": .array([.unsigned(2), .unsigned(3)]),
                ])
            ), ("fb3ff199999999999a", .float(1.1)),
        ]
        for (text, value) in samples {
            #expect(try CBORReader.value(in: octets(text)) == value)
            #expect(value.encoded == octets(text), "\(value)")
        }
        #expect(try CBORReader.value(in: octets("f93c00")) == .float(1))
        #expect(try CBORReader.value(in: octets("fa47c35000")) == .float(100_000))
        #expect(try CBORReader.value(in: octets("c11a514b67b0")) == .unsigned(1_363_896_240))
        #expect(try CBORReader.value(in: octets("bf61610161629f0203ffff")) == samples[15].1)
        #expect(try CBORReader.value(in: octets("5f42010243030405ff")) == .octets([1, 2, 3, 4, 5]))
    }

    @Test("keys of a map are written with shorter ones first")
    func order() {
        let map: CBORValue = .object(["off": .integer(0), "data": .octets([]), "len": .integer(1)])
        #expect(map.encoded == octets("a3 636c656e01 636f666600 646461746140"))
    }

    @Test("lengths that lie, depth, numbers of values and cut octets are errors that cost little")
    func hostile() {
        let deep = [UInt8](repeating: 0x81, count: 100_000)
        #expect(throws: CBORProblem.tooDeep) { try CBORReader.value(in: deep) }
        let tags = [UInt8](repeating: 0xC1, count: 100_000)
        #expect(throws: CBORProblem.tooDeep) { try CBORReader.value(in: tags) }
        #expect(throws: CBORProblem.truncated) { try CBORReader.value(in: octets("5bffffffffffffffff00")) }
        #expect(throws: CBORProblem.truncated) { try CBORReader.value(in: octets("9bffffffffffffffff00")) }
        #expect(throws: CBORProblem.truncated) { try CBORReader.value(in: octets("bb7fffffffffffffff00")) }
        #expect(throws: CBORProblem.truncated) { try CBORReader.value(in: octets("9f00")) }
        #expect(throws: CBORProblem.trailingOctets) { try CBORReader.value(in: octets("0000")) }
        #expect(throws: CBORProblem.invalidHead(0x1C)) { try CBORReader.value(in: octets("1c")) }
        #expect(throws: CBORProblem.invalidPiece) { try CBORReader.value(in: octets("5f6100ff")) }
        let many = [0x9F] + [UInt8](repeating: 0, count: 5000) + [0xFF]
        #expect(throws: CBORProblem.tooManyValues) { try CBORReader.value(in: many) }
        let pieces = [0x5F] + [UInt8](repeating: 0x40, count: 5000) + [0xFF]
        #expect(throws: CBORProblem.tooManyValues) { try CBORReader.value(in: pieces) }
    }

    @Test("a frame is that of the protocol, in both of its versions")
    func frames() throws {
        let echo = ManagementFrame(.write, group: 0, command: 0, sequence: 7, content: .object(["d": .text("hi")]))
        #expect(echo.encoded == octets("0a 00 0006 0000 07 00 a1 6164 626869"))
        #expect(try ManagementFrame(echo.encoded) == echo)
        var old = echo
        old.version = 0
        #expect(old.encoded.first == 2)
        #expect(try ManagementFrame(old.encoded) == old)
        #expect(try ManagementFrame(octets("0b 00 0000 0001 09 01")).content == .map([]))
        #expect(throws: ManagementFrame.Problem.truncated) { try ManagementFrame(octets("0a00000600000700a1")) }
        #expect(throws: ManagementFrame.Problem.notAMap) { try ManagementFrame(octets("0a00000100000700 00")) }
        #expect(throws: ManagementFrame.Problem.unknownOperation(7)) { try ManagementFrame(octets("0f00000000000700")) }
    }

    @Test("pieces become frames; one that claims too much is an error, and the next one is read")
    func pieces() throws {
        let frame = ManagementFrame(.write, group: 1, command: 1, content: .object(["data": .octets(Array(0..<200))]))
        var assembler = ManagementAssembler(limit: 1024)
        var whole: [UInt8]?
        for start in stride(from: 0, to: frame.encoded.count, by: 20) {
            #expect(whole == nil)
            whole = try assembler.add(Array(frame.encoded[start...].prefix(20)))
        }
        #expect(whole == frame.encoded)
        #expect(throws: ManagementAssembler.Problem.tooLong(65543)) {
            try assembler.add(octets("0b00ffff00000700"))
        }
        #expect(try assembler.add(frame.encoded) == frame.encoded)
    }
}
