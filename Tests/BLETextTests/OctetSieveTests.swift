import BLEText
import Testing

/// What others send, as it stands on a terminal.
@Suite struct OctetSieveTests {
    private func shown(_ pieces: [[UInt8]]) -> String {
        var sieve = OctetSieve()
        return pieces.map { sieve.text(of: $0) }.joined() + sieve.end()
    }

    @Test(
        "Octets of a peer are text; what a terminal would obey, and what is not UTF-8, are numbers",
        arguments: [
            (Array("line\tone\r\nline two\n".utf8), "line\tone\nline two\n"), (Array("体温 ü ❤️".utf8), "体温 ü ❤️"),
            (Array("\u{1B}[2J\u{1B}]0;owned\u{7}".utf8), "\\u{1b}[2J\\u{1b}]0;owned\\u{7}"),
            (Array("a\rb\u{8}\u{0}\u{9B}31m".utf8), "a\\u{d}b\\u{8}\\u{0}\\u{9b}31m"),
            (Array("a\u{202E}b\u{200B}".utf8), "a\\u{202e}b\\u{200b}"),
            ([0xFF, 0x41, 0x9B, 0x32, 0x4A], "\\xffA\\x9b2J"), ([0xED, 0xA0, 0x80], "\\xed\\xa0\\x80"),
            ([0xC0, 0xAF, 0xF4, 0x90, 0x80, 0x80], "\\xc0\\xaf\\xf4\\x90\\x80\\x80"), ([0xE4, 0xBD], "\\xe4\\xbd"),
            ([0x0D], "\\u{d}"), ([0x0D, 0x0D, 0x0A], "\\u{d}\n"), ([], ""),
        ])
    func text(octets: [UInt8], text: String) {
        #expect(shown([octets]) == text)
        // However they are cut, an octet at a time included.
        for size in 1...3 {
            let pieces = stride(from: 0, to: octets.count, by: size).map {
                Array(octets[$0..<min(octets.count, $0 + size)])
            }
            #expect(shown(pieces) == text, "in pieces of \(size)")
        }
    }

    @Test("Any octets become text without anything that a terminal obeys but line feeds and tabs, however they are cut")
    func anyOctets() {
        var state: UInt64 = 1
        func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 33
        }
        for _ in 0..<2000 {
            let octets = (0..<Int(next() % 40)).map { _ in UInt8(truncatingIfNeeded: next()) }
            let cut = Int(next() % UInt64(octets.count + 1))
            let text = shown([Array(octets[..<cut]), Array(octets[cut...])])
            #expect(text == shown([octets]))
            let isSafe = text.unicodeScalars.allSatisfy {
                !TextSieve.isHidden($0) || $0 == "\n" || $0 == "\t" || $0 == "\u{FE0F}"
            }
            #expect(isSafe, "\(octets)")
        }
    }

    @Test(
        "A line for a terminal keeps its lines, columns and letters, and loses what the terminal would obey",
        arguments: [
            ("service  180D\n  characteristic\t2A37 – 87 %", "service  180D\n  characteristic\t2A37 – 87 %"),
            ("a\u{A0}b ❤️ 体温 e\u{301}", "a\u{A0}b ❤️ 体温 e\u{301}"), ("\u{1B}[2Jx\r", "\\u{1b}[2Jx\\u{d}"),
            ("x\u{202E}cod\u{9B}2J", "x\\u{202e}cod\\u{9b}2J"),
        ])
    func lines(text: String, shown: String) {
        #expect(text.safeForTerminal == shown)
        #expect(shown.safeForTerminal == shown)
    }
}
