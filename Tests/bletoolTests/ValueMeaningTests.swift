import BLE
import BLEJSON
import BLEScripts
import Testing

@testable import bletool

/// What `gatt` says of values: their meaning beside their bytes.
@Suite("Values with their meaning")
struct ValueMeaningTests {
    private func meaning(_ hex: String, _ uuid: UInt16?, _ form: ValueForm? = nil) throws -> ValueMeaning {
        ValueMeaning(try #require(Hexadecimal.bytes(hex)), uuid: uuid.map { BluetoothUUID($0) }, form: form)
    }

    @Test("assigned characteristics have a meaning, others bytes and text")
    func text() throws {
        #expect(try meaning("57", 0x2A19).text == "57 = 87 %")
        #expect(try meaning("57", 0xFFF4).text == "57  “W”")
        // A member of the Bluetooth SIG owns this UUID for its service: a characteristic has no name by it.
        #expect(BluetoothUUID(0xFFF4 as UInt16).attributeText == "FFF4")
        #expect(BluetoothUUID(0xFFF4 as UInt16).textWithName == "FFF4 FiRa Consortium")
        #expect(BluetoothUUID(0x2A19 as UInt16).attributeText == "2A19 Battery Level")
        #expect(try meaning("0657", nil).text == "0657")
        #expect(try meaning("", 0x2A29).text == "(empty)")
        #expect(try meaning("4a1b5b", 0x2A29).text == "4a1b5b = J\\u{1b}[")
        #expect(try meaning("0640", 0x2A37).text == "0640 = Sensor Contact yes, Heart Rate 64 bpm")
        #expect(try meaning("5758", 0x2A19).text == "5758  (1 byte more than its characteristic has)")
    }

    @Test("the format that the user names goes before that of the characteristic")
    func forms() throws {
        #expect(try meaning("5701", 0x2A19, .uint16).text == "343")
        #expect(try meaning("ffff0100", 0x2A19, .int16).text == "-1, 1")
        #expect(try meaning("48c3b8", nil, .text).text == "Hø")
        #expect(try meaning("570102", nil, .uint16).text == "570102  (3 bytes are not of uint16)")
        #expect(try meaning("57", nil, .uint16).text == "57  (1 byte is not of uint16)")
        #expect(ValueForm.uint16.octets(of: "600,0x10") == [0x58, 0x02, 0x10, 0x00])
        #expect(ValueForm.int8.octets(of: "-128 127") == [0x80, 0x7F])
        #expect(ValueForm.text.octets(of: "Hø") == [0x48, 0xC3, 0xB8])
        for wrong in ["", "x", "65536", "-1", "1.5"] { #expect(ValueForm.uint16.octets(of: wrong) == nil) }
    }

    @Test("JSON gets additional keys: the bytes stay under value")
    func json() throws {
        let event: JSONValue = ["event": "value", "value": "57"]
        #expect(
            try meaning("57", 0x2A19).adding(to: event).text
                == #"{"event":"value","value":"57","text":"87 %","values":[{"name":"Battery Level","value":87,"unit":"%"}]}"#
        )
        #expect(
            try meaning("0080", 0x2A6E).adding(to: event)["values"]?.text
                == #"[{"name":"Temperature","value":null,"unit":"°C"}]"#)
        #expect(try meaning("5908", 0x2A6E).adding(to: event)["values"]?.text.contains(#""value":21.37,"#) == true)
        #expect(try meaning("57", 0xFFF4).adding(to: event) == event)
        #expect(try meaning("", 0x2A19).adding(to: event)["fault"] == "cut off: a field of 1 bytes has 0")
    }

    @Test("targets have names, with the service or without")
    func names() {
        let level = BluetoothUUID(UInt16(0x2A19))
        #expect(AttributeTarget(argument: "battery level") == .uuid(level, service: nil))
        #expect(
            AttributeTarget(argument: "Battery/Battery Level") == .uuid(level, service: BluetoothUUID(UInt16(0x180F))))
        #expect(AttributeTarget(argument: "Current Time") == .uuid(BluetoothUUID(UInt16(0x2A2B)), service: nil))
        #expect(BluetoothUUID(argument: "Heart Rate") == BluetoothUUID(UInt16(0x180D)))
        #expect(BluetoothUUID(argument: "Nothing Rate") == nil)
        #expect(AttributeTarget.mistake(in: "Batery Level").hasSuffix("; did you mean ‘Battery Level’?"))
        #expect(AttributeTarget.mistake(in: "180F/batery level").hasSuffix("; did you mean ‘Battery Level’?"))
        #expect(AttributeTarget.mistake(in: "something else entirely").hasSuffix("or 0xHANDLE"))
    }

    @Test("several targets are read over one connection, each with its name")
    func severalTargets() async throws {
        let run = try await ToolRun("-t", "sim", "gatt", "Jelling Heart", "read", "Battery Level", "2A38")
        #expect(run.status == 0)
        #expect(run.output == "2A19 Battery Level  57 = 87 %\n2A38 Body Sensor Location  01 = Chest\n")
        let json = try await ToolRun("-t", "sim", "--json", "gatt", "Jelling Heart", "read", "2A19", "--uint8")
        let event = try #require(try json.events("value").first)
        #expect(event["value"] as? String == "57" && event["text"] as? String == "87")
        #expect(event["name"] as? String == "Battery Level")
    }
}
