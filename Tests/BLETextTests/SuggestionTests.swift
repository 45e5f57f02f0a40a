import Testing

@testable import BLEText

@Suite("What somebody may have meant")
struct SuggestionTests {
    @Test(
        "the nearest word is suggested, and none that is far",
        arguments: [
            ("jeling heart", "Jelling Heart"), ("Jelling", "Jelling Heart"), ("Haert", "Heart"), ("kitchn", "Kitchen"),
            ("Thermometer", nil), ("", nil),
        ] as [(String, String?)])
    func suggests(_ mistake: String, _ word: String?) {
        let words = ["Kitchen", "Jelling Heart", "Heart", "Roof"]
        #expect(Suggestion(for: mistake, among: words).word == word)
    }

    @Test("a flood of names drives the nearest one not out, and fills no memory")
    func flood() {
        var heard = HeardNames(near: "Lock 1")
        for number in 0..<1000 {
            heard.add("Noise \(number)")
            if number == 500 { heard.add("Lock 2") }
            heard.add("Noise \(number)")
        }
        heard.add("")
        heard.add(String(repeating: "x", count: 1600))
        #expect(heard.names.count == 8 && heard.names[0] == "Lock 2" && Set(heard.names).count == 8)
    }
}
