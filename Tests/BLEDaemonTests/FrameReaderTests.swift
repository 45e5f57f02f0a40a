import BLEMessages
import Testing

@Suite("Frames of the daemon's protocol")
struct FrameReaderTests {
    @Test("frames come out whole however the octets are cut")
    func cuts() throws {
        let messages: [[UInt8]] = [[], [1], Array(repeating: 7, count: 300), [2, 3]]
        let stream = messages.flatMap { FrameReader.frame($0) }
        for size in 1...stream.count {
            var reader = FrameReader(limit: 300)
            var found: [[UInt8]] = []
            var rest = stream[...]
            while !rest.isEmpty {
                reader.append(Array(rest.prefix(size)).span.bytes)
                rest = rest.dropFirst(size)
                while let message = try reader.next() { found.append(Array(message)) }
            }
            #expect(found == messages)
            #expect(reader.waitingOctets == 0)
        }
    }

    @Test("a length over the limit is an error before anything is held for it")
    func limit() {
        var reader = FrameReader(limit: 300)
        let octets: [UInt8] = [45, 1, 0, 0]
        reader.append(octets.span.bytes)
        #expect(throws: MessageError.tooLong(octets: 301)) { try reader.next() }
    }

    @Test("what was returned is not held, also if the beginning of the next frame always comes with a frame")
    func returned() throws {
        let frame = FrameReader.frame(Array(repeating: 7, count: 8200))
        for ahead in 1...5 {
            var reader = FrameReader(limit: 65_536)
            reader.append(Array(frame.prefix(ahead)).span.bytes)
            for _ in 0..<1000 {
                reader.append(Array(frame[ahead...] + frame[..<ahead]).span.bytes)
                #expect(reader.hasNext)
                #expect(try reader.next()?.count == 8200)
                #expect(!reader.hasNext)
                #expect(reader.heldOctets <= 2 * frame.count)
            }
        }
    }
}
