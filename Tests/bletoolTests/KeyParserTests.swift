import Testing

@testable import bletool

@Suite("Keys of a terminal")
struct KeyParserTests {
    @Test("sequences become keys wherever they are split")
    func split() {
        let bytes: [UInt8] =
            Array("a\u{1B}[A\u{1B}OB\u{1B}[5~\u{1B}[3~é😀\r\u{7F}\t".utf8) + [0x03, 0x1B, 0x5B, 0x31, 0x3B, 0x35, 0x43]
        let keys: [Key] = [
            .character("a"), .up, .down, .pageUp, .delete, .character("é"), .character("😀"), .enter, .backspace, .tab,
            .control("c"), .right,
        ]
        for place in 0...bytes.count {
            var parser = KeyParser()
            let first = parser.parse(bytes[..<place])
            let second = parser.parse(bytes[place...])
            #expect(first + second == keys)
            #expect(!parser.isWaiting)
        }
    }

    @Test("an escape alone is a key after a moment; unknown sequences are ignored")
    func alone() {
        var parser = KeyParser()
        var keys = parser.parse([0x1B])
        #expect(keys == [] && parser.isWaiting)
        keys = parser.settle()
        #expect(keys == [.escape])
        keys = parser.parse([0x1B, 0x5B, 0x39, 0x39, 0x7E, 0x62])
        #expect(keys == [.character("b")])
        keys = parser.parse([0xFF, 0xC3])
        #expect(keys == [])
        keys = parser.settle()
        #expect(keys == [])
        _ = parser.parse([0x1B, 0x5B] + [UInt8](repeating: 0x30, count: 4000))
        keys = parser.parse([0x41])
        #expect(keys.count <= 4000)
    }
}
