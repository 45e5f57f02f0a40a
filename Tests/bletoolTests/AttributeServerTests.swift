import BLE
import BLEJSON
import BLEScripts
import Testing

@testable import bletool

@Suite("att-server")
struct AttributeServerTests {
    private static let file = Array(
        """
        {"about":"two tables","databases":{"small":[
          {"handle":4,"type":"2902","permissions":["READ","WRITE"],"value":"0000"},
          {"handle":1,"type":"2800","permissions":["READ"],"value":"0d18"},
          {"handle":2,"type":"2803","permissions":["READ"],"value":"320300372a"},
          {"handle":3,"type":"2a37","permissions":["READ","WRITE"],"value":"01"},
          {"handle":5,"type":"6E400001-B5A3-F393-E0A9-E50E24DCCA9E","permissions":["READ_ENCRYPT"]},
          {"handle":6,"type":"2a00","value":"41"}],"empty":[]}}
        """.utf8)

    /// The answers to lines.
    private func answers(_ lines: String...) throws -> [String] {
        let database = try AttributeFile.database(named: "small", in: Self.file)
        var session = AttributeServerSession(database: database, receiveMTU: 100)
        return try lines.map { try AttributeServerLine($0).answer(of: &session) }
    }

    @Test("a PDU is answered with PDUs, silence is a dash")
    func answers() throws {
        #expect(try answers("100100ffff0028", "52030002", "0a0300") == ["1106010006000d18", "-", "0b02"])
    }

    @Test("a repeated MTU exchange gets the same answer, and the smaller of both applies (pain 9)")
    func mtu() throws {
        #expect(try answers("020002", "021700", "02") == ["036400", "036400", "0102000004"])
    }

    @Test("a value without permissions, and one that wants encryption, are refused")
    func permissions() throws {
        #expect(try answers("0a0600", "0a0500", "12060000") == ["010a060002", "010a050005", "0112060003"])
    }

    @Test("a subscriber is notified or indicated; reset undoes subscriptions and writes")
    func updates() throws {
        #expect(
            try answers(
                "notify 3 0a0b", "12 0400 0300", "notify 0x0003 0a0b", "indicate 3 0c", "indicate 3 0d", "1e",
                "12030077",
                "reset", "notify 3 0a", "0a0300")
                == ["-", "13", "1b03000a0b", "1d03000c", "-", "1d03000d", "13", "-", "-", "0b01"])
    }

    @Test("an invalid line is an error", arguments: ["frob", "0", "notify", "notify x 00", "reset 1"])
    func wrongLines(_ line: String) {
        #expect(throws: Failure.self) { try AttributeServerLine(line) }
    }

    @Test("a missing database is wrong usage")
    func missing() {
        #expect(throws: Failure("there is no database ‘large’", status: .usage)) {
            try AttributeFile.database(named: "large", in: Self.file)
        }
    }
}

@Suite("JSON as it is read")
struct JSONReaderTests {
    @Test("what is written can be read")
    func roundTrip() throws {
        let value: JSONValue = ["a": [1, -2, .number(0.5), true, .null, []], "b": ["c\"\\\n": "é😀\u{1}"], "d": [:]]
        #expect(try JSONReader.value(in: Array(value.text.utf8)) == value)
        #expect(try JSONReader.value(in: Array(#""\ud83d\ude00\u00e9\/""#.utf8)) == "😀é/")
    }

    @Test(
        "text that is not JSON is refused, deep nesting too",
        arguments: [
            "", "{", "[1,]", "{\"a\":1,}", "{\"a\":1,\"a\":2}", "tru", "1 2", "\"a", "\"\\x\"", "\"\\ud83d\\u0041\"",
            "-",
            "1e999", String(repeating: "[", count: 1000),
        ])
    func refused(_ text: String) {
        #expect(throws: JSONProblem.self) { try JSONReader.value(in: Array(text.utf8)) }
    }
}
