import BLEText
import Testing

/// What others say, as it stands before a person.
@Suite struct PrintableTests {
    @Test(
        "Control and invisible characters are shown by number",
        arguments: [
            ("\u{1B}[2J", "\\u{1b}[2J"), ("a\u{9B}31m", "a\\u{9b}31m"), ("a\r\nb", "a\\u{d}\\u{a}b"),
            ("a\u{7F}", "a\\u{7f}"), ("x\u{202E}cod", "x\\u{202e}cod"), ("x\u{2066}y", "x\\u{2066}y"),
            ("x\u{61C}y", "x\\u{61c}y"), ("Lock\u{200B}", "Lock\\u{200b}"), ("a\u{200F}b", "a\\u{200f}b"),
            ("\u{FEFF}Lock", "\\u{feff}Lock"), ("a\u{E0041}b", "a\\u{e0041}b"), ("a\u{2028}b", "a\\u{2028}b"),
            ("a\u{AD}b", "a\\u{ad}b"), ("a\u{34F}b", "a\\u{34f}b"), ("\u{3164}", "\\u{3164}"),
            ("\u{2800}", "\\u{2800}"), ("Lock\u{FE0F}", "Lock\\u{fe0f}"), ("a\u{A0}b", "a\\u{a0}b"),
            ("a\u{3000}b", "a\\u{3000}b"), ("\u{E000}", "\\u{e000}"), ("a\u{FFF9}b", "a\\u{fff9}b"),
            ("\u{301}a", "\\u{301}a"), ("e\u{301}\u{302}\u{303}\u{304}", "e\u{301}\u{302}\\u{303}\\u{304}"),
        ])
    func hidden(text: String, shown: String) {
        #expect(text.printable == shown)
        // What is shown holds nothing more to be hidden.
        #expect(text.printable.printable == shown)
    }

    @Test(
        "Spaces that would make columns are shown by their number",
        arguments: [
            ("Heart  -40 dBm", "Heart\\u{20}\\u{20}-40 dBm"), (" x", "\\u{20}x"), ("x ", "x\\u{20}"), ("a b", "a b"),
            (" ", "\\u{20}"),
        ])
    func spaces(text: String, shown: String) { #expect(text.printable == shown) }

    @Test(
        "What people write stays as it is",
        arguments: [
            "Thermometer", "Großmutters Waage", "心拍計", "심박 센서", "Пульс", "ساعة", "שעון", "हृदय गति", "Tiếng Việt",
            "Tie\u{302}\u{301}ng", "❤️ Sensor", "🔒", "a\"b\\c", "", "It's", "Anna’s iPhone",
        ])
    func kept(text: String) { #expect(text.printable == text) }

    @Test("Text that is too long is truncated, and shows it")
    func cut() {
        #expect(String(repeating: "x", count: 200).printable(limit: 10) == "xxxxxxxxx…")
        #expect("0123456789".printable(limit: 10) == "0123456789")
        #expect("心拍計測定器".printable(limit: 4) == "心拍計…")
        #expect(String(repeating: "\u{200B}", count: 200).printable(limit: 20).count <= 20)
        #expect("".printable(limit: 3).isEmpty)
    }

    @Test(
        "Nothing closes the quotation marks around it",
        arguments: [
            ("Lock", "‘Lock’"), ("Anna’s iPhone", "‘Anna’s iPhone’"),
            ("x’ (public) is bonded. ‘y", "‘x\\u{2019} (public) is bonded. \\u{2018}y’"), ("a\nb", "‘a\\u{a}b’"),
        ])
    func quoted(text: String, shown: String) { #expect(text.quoted() == shown) }

    @Test("No character of the lower half of the first plane, or of the tags, can be hidden and shown")
    func everyHidden() {
        for value in Array(0..<0x3100 as Range<UInt32>) + Array(0xE0000..<0xE1000) + Array(0xFE00..<0x10000) {
            guard let scalar = Unicode.Scalar(value), scalar.value != 0x20 else { continue }
            let properties = scalar.properties
            let mustHide =
                properties.isDefaultIgnorableCodePoint || properties.isBidiControl || properties.isWhitespace
                || properties.generalCategory == .control || properties.generalCategory == .format
            if mustHide { #expect(!"a\(scalar)b".printable.unicodeScalars.contains(scalar)) }
        }
    }
}
