import Testing

@testable import BLEESPHome

/// What the Python package noiseprotocol 0.3.1 sends and expects, with the keys that are here.
@Suite struct NoiseTests {
    private static let key = NoiseKey(octets: Array(0..<32))!
    private static let prologue = Array("NoiseAPIInit".utf8) + [0, 0]
    private static let ephemeral = Array(UInt8(200)..<232)

    private static let first = octets(
        "7d9c24316539825c1896e57f28197746793ce60cbee3ad47da9d07b85fa55e2a30823dd7d2d1ffca7c1767c6a1b39de8")
    private static let second = octets(
        "4d5bab89b0733d9d8dcecf04f321c90b761b7765a6bdb2bddbfad3e7abdf1f66e70989e990b0226df6402c97d922641d")
    /// Messages, and how the client and the server encrypt them, one after another.
    private static let messages: [(plain: [UInt8], fromClient: [UInt8], fromServer: [UInt8])] = [
        (
            [0, 1, 0, 0], octets("a57a0f7ad503242221d6843a4d3e3957b83ba6c2"),
            octets("11104532186d9529ecd3af8ce00fd64049efc605")
        ),
        (
            Array("ping".utf8), octets("3183e9d8a2698a0b4a5e2adc608654de37cd8442"),
            octets("62d57940cc638879d55a452069e1aea9204f9afa")
        ),
    ]

    static func octets(_ text: String) -> [UInt8] {
        let digits = Array(text.utf8)
        return stride(from: 0, to: digits.count, by: 2).map {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)!
        }
    }

    private func handshake(key: NoiseKey = Self.key, prologue: [UInt8] = Self.prologue) -> NoiseHandshake {
        NoiseHandshake(key: key, prologue: prologue, ephemeral: Self.ephemeral)
    }

    @Test func `a handshake and messages are those of another implementation`() throws {
        var responder = handshake()
        #expect(try responder.read(Self.first) == [])
        #expect(try responder.write() == Self.second)
        var (receiving, sending) = responder.split()
        for message in Self.messages {
            #expect(try receiving.open(message.fromClient) == message.plain)
            #expect(try sending.seal(message.plain) == message.fromServer)
        }
        // A message that comes again, or out of order, is none.
        #expect(throws: NoiseFailure.wrongKey) { _ = try receiving.open(Self.messages[1].fromClient) }
    }

    @Test func `another key, prologue or octet is noticed`() {
        var others = [handshake(key: NoiseKey(octets: Array(1..<33))!), handshake(prologue: Self.prologue + [1])]
        for index in others.indices {
            #expect(throws: NoiseFailure.wrongKey) { _ = try others[index].read(Self.first) }
        }
        for place in Self.first.indices {
            var (responder, message) = (handshake(), Self.first)
            message[place] ^= 1
            #expect(throws: NoiseFailure.wrongKey) { _ = try responder.read(message) }
        }
        for length in 0..<Self.first.count {
            var responder = handshake()
            #expect(throws: NoiseFailure.self) { _ = try responder.read(Self.first.prefix(length)) }
        }
    }

    @Test func `a public key that agrees on nothing is refused`() throws {
        // A client with the key sends a point of small order.
        let message = Self.octets(
            "00000000000000000000000000000000000000000000000000000000000000003af911b4346d7bad7fc0153cbe9f8b36")
        var responder = handshake()
        #expect(try responder.read(message) == [])
        #expect(throws: NoiseFailure.wrongPublicKey) { _ = try responder.write() }
    }

    @Test func `a key is 32 octets in Base64`() {
        #expect(NoiseKey(base64: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".utf8) == Self.key)
        #expect(NoiseKey(base64: "\n AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8= \r\n".utf8) == Self.key)
        let wrong = [
            "", "=", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==",
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9=", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwd-h8=",
            "AAECAwQFBgcICQoLDA0O DxAREhMUFRYXGBkaGxwdHh8=", String(repeating: "A", count: 10_000),
        ]
        for text in wrong { #expect(NoiseKey(base64: text.utf8) == nil) }
        #expect("\(Self.key)" == "a key" && String(reflecting: Self.key) == "a key")
    }
}
