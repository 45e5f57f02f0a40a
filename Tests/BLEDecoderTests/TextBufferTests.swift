import Testing

@testable import BLEDecoder

@Suite("Numbers as text")
struct TextBufferTests {
    private static func text(_ write: (inout TextBuffer) -> Void) -> String {
        // It grows while it is written into.
        var buffer = TextBuffer(capacity: 1)
        buffer.append("|")
        write(&buffer)
        return String(decoding: (1..<buffer.count).map { buffer.bytes.octet($0) }, as: UTF8.self)
    }

    @Test("decimal numbers around every power of ten")
    func decimal() {
        var numbers: [UInt64] = [0, UInt64.max, UInt64.max - 1, 1 << 63]
        var power: UInt64 = 1
        for _ in 0..<20 {
            numbers += [power - 1, power, power &+ 1, power &* 7 &- 3]
            power = power &* 10
        }
        for number in numbers { #expect(Self.text { $0.append(decimal: number) } == "\(number)") }
        #expect(Self.text { $0.append(signed: .min) } == "\(Int64.min)")
    }

    @Test("decimal numbers with zeros in front: all of four digits, and what is cut off")
    func padded() {
        for number in 0..<10_000 {
            let expected = String("000\(number)".suffix(4))
            let four = Self.text { $0.append(decimal: UInt64(number), digits: 4) }
            if four != expected { Issue.record("\(number) becomes \(four)") }
        }
        #expect(Self.text { $0.append(decimal: 42, digits: 6) } == "000042")
        #expect(Self.text { $0.append(decimal: 1_234_567, digits: 2) } == "67")
        #expect(Self.text { $0.append(decimal: 99_999_999, digits: 8) } == "99999999")
    }

    @Test("hexadecimal numbers of every width")
    func hexadecimal() {
        let number: UInt64 = 0x0123_4567_89AB_CDEF
        for digits in 1...16 {
            #expect(Self.text { $0.append(hexadecimal: number, digits: digits) } == "0123456789abcdef".suffix(digits))
        }
        #expect(Self.text { $0.append(upperHexadecimal: 0x9AF0, digits: 4) } == "9AF0")
        #expect(Self.text { $0.append(address: 0xF0E1_D2C3_B4A5) } == "F0:E1:D2:C3:B4:A5")
    }

    @Test("octets of every length up to a few words")
    func octets() {
        let octets: [UInt8] = (0..<19).map { $0 &* 0x1D &+ 0x8F }
        for count in 0...octets.count {
            let expected = octets[..<count].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            let written = Self.text { buffer in
                let part = Array(octets[..<count])
                buffer.append(hexadecimal: part.span.bytes)
            }
            #expect(written == expected)
        }
    }

    @Test(
        "the second of a time, also before 1970 and at the ends of time",
        arguments: [0, 1, -1, 86_399_999_999, -86_400_000_001])
    func second(time: Int64) {
        let second = ClockSecond(of: time)
        #expect(second.contains(time))
        #expect(!second.contains(time + 1_000_000) && !second.contains(time - 1_000_000))
        #expect(!second.contains(.min) && !second.contains(.max))
        let ofDay = ((time % 86_400_000_000) + 86_400_000_000) % 86_400_000_000 / 1_000_000
        let numbers = [ofDay / 3600, ofDay / 60 % 60, ofDay % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        #expect(Self.text { $0.append(characters: second.text) } == numbers.joined(separator: ":"))
    }
}
