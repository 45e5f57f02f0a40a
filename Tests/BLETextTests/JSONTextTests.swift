import BLEJSON
import BLEText
import Testing

/// A line of JSON may come before a person, too.
@Suite struct JSONTextTests {
    @Test("What cannot be seen is escaped, and the text stays the same")
    func escaped() throws {
        let name = "\u{1}\u{7F}\u{85}\u{9B}\u{61C}\u{200B}\u{202E}\u{2028}\u{2066}\u{FEFF}\u{E0041}\u{AD}心拍計 ❤ \"\\\n"
        let text = JSONValue.string(name).text
        #expect(
            text == "\"\\u0001\\u007f\\u0085\\u009b\\u061c\\u200b\\u202e\\u2028\\u2066\\ufeff\\udb40\\udc41\\u00ad"
                + "心拍計 ❤ \\\"\\\\\\n\"")
        #expect(text.unicodeScalars.allSatisfy { !TextSieve.isHidden($0) })
        #expect(try JSONReader.value(in: Array(text.utf8)) == .string(name))
    }

    @Test("ASCII and what people write stay as they are")
    func kept() {
        #expect(JSONValue.string("Thermometer").text == "\"Thermometer\"")
        #expect(JSONValue.object([.init(key: "größe", value: .string("é"))]).text == "{\"größe\":\"é\"}")
    }
}
