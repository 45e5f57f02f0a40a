import BLEGateway
import Testing

/// Frames of WebSocket: whatever comes, in whatever pieces, is a message, a sign or an end, with bounded memory.
@Suite struct WebSocketTests {
    private static let limit = 1000

    private func frame(_ opcode: UInt8, _ text: String, isLast: Bool = true, masked: Bool = true) -> [UInt8] {
        let payload = Array(text.utf8)
        let mask: [UInt8] = [1, 2, 3, 4]
        let bit: UInt8 = masked ? 0x80 : 0
        var head = [opcode | (isLast ? 0x80 : 0)]
        if payload.count < 126 {
            head.append(bit | UInt8(payload.count))
        } else {
            head += [bit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
        }
        guard masked else { return head + payload }
        return head + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    private func read(_ octets: [UInt8]) -> [WebSocketReader.Event] {
        var reader = WebSocketReader(limit: Self.limit)
        return reader.read(octets)
    }

    @Test func `messages, in one frame and in several, with signs between them`() {
        #expect(read(frame(1, "hallo")) == [.message(Array("hallo".utf8))])
        #expect(read(frame(1, "")) == [.message([])])
        let long = String(repeating: "x", count: 700)
        #expect(read(frame(1, long)) == [.message(Array(long.utf8))])
        let parts =
            frame(1, "hé", isLast: false) + frame(9, "p") + frame(0, "l", isLast: false) + frame(10, "") + frame(0, "o")
        #expect(read(parts) == [.ping(Array("p".utf8)), .pong, .message(Array("hélo".utf8))])
        #expect(read(frame(8, "") + frame(1, "later")) == [.closed])
    }

    @Test func `what breaks a rule ends the connection with the code that says so`() {
        #expect(read(frame(1, "a", masked: false)) == [.failed(.protocolError)])
        #expect(read(frame(3, "a")) == [.failed(.protocolError)])
        #expect(read(frame(0x41, "a")) == [.failed(.protocolError)])
        #expect(read(frame(0, "a")) == [.failed(.protocolError)])
        #expect(read(frame(1, "a", isLast: false) + frame(1, "b")) == [.failed(.protocolError)])
        #expect(read(frame(9, "a", isLast: false)) == [.failed(.protocolError)])
        #expect(read(frame(9, String(repeating: "a", count: 126))) == [.failed(.protocolError)])
        #expect(read(frame(2, "a")) == [.failed(.notText)])
        #expect(read(frame(1, String(repeating: "a", count: 1001))) == [.failed(.tooLong)])
        #expect(read([0x81, 0xFF] + [UInt8](repeating: 0xFF, count: 8)) == [.failed(.tooLong)])
        let parts = (0..<4).flatMap { frame($0 == 0 ? 1 : 0, String(repeating: "a", count: 300), isLast: $0 == 3) }
        #expect(read(parts) == [.failed(.tooLong)])
        #expect(read([0x81, 0x81, 0, 0, 0, 0, 0xFF]) == [.failed(.invalidText)])
    }

    @Test func `pieces of any size mean the same`() {
        let octets = frame(1, "one") + frame(9, "two") + frame(1, String(repeating: "3", count: 300)) + frame(8, "")
        let whole = read(octets)
        #expect(whole.count == 4)
        for size in [1, 2, 3, 7, 50] {
            var reader = WebSocketReader(limit: Self.limit)
            var events: [WebSocketReader.Event] = []
            var rest = octets[...]
            while !rest.isEmpty {
                events += reader.read(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            #expect(events == whole, "\(size)")
        }
    }

    @Test func `random octets end, or wait for more`() {
        var generator = SplitMix(state: 5)
        for _ in 0..<5000 {
            var reader = WebSocketReader(limit: Self.limit)
            var octets = frame(1, "hello") + frame(9, "x") + frame(0, "y")
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                octets[Int.random(in: octets.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            for event in reader.read(octets) {
                if case .message(let text) = event { #expect(text.count <= Self.limit) }
            }
        }
    }

    @Test func `a message of the server has its length`() {
        #expect(WebSocketFrame.text(Array("ab".utf8)) == [0x81, 2, 0x61, 0x62])
        #expect(Array(WebSocketFrame.text([UInt8](repeating: 0x61, count: 300)).prefix(4)) == [0x81, 126, 1, 44])
        #expect(
            Array(WebSocketFrame.text([UInt8](repeating: 0x61, count: 70_000)).prefix(10)) == [
                0x81, 127, 0, 0, 0, 0, 0, 1, 0x11, 0x70,
            ])
    }
}
