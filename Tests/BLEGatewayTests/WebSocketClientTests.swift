import BLEGateway
import Testing

/// The client's side of WebSocket, and Base64, by the examples of their RFCs.
@Suite struct WebSocketClientTests {
    @Test func `the examples of RFC 6455`() {
        let hello = Array("Hello".utf8)
        let masked: [UInt8] = [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        #expect(WebSocketFrame.text(hello, mask: [0x37, 0xFA, 0x21, 0x3D]) == masked)
        #expect(WebSocketUpgrade.proof(ofKey: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        var server = WebSocketReader(limit: 100, from: .client)
        #expect(server.read(masked) == [.message(hello)])
        var client = WebSocketReader(limit: 100, from: .server)
        #expect(client.read([0x01, 3, 0x48, 0x65, 0x6C, 0x80, 2, 0x6C, 0x6F]) == [.message(hello)])
        #expect(client.read(masked) == [.failed(.protocolError)])
    }

    @Test func `octets are taken where they are wanted`() {
        var client = WebSocketReader(limit: 300, from: .server, takesData: true)
        let long = [UInt8](repeating: 0xFF, count: 256)
        #expect(client.read(WebSocketFrame.binary(long)) == [.data(long)])
        #expect(client.read([0x02, 1, 1, 0x89, 0, 0x80, 1, 2]) == [.ping([]), .data([1, 2])])
        #expect(client.read([0x82, 0x7E, 1, 45]) == [.failed(.tooLong)])
        var text = WebSocketReader(limit: 300, from: .server)
        #expect(text.read([0x82, 0]) == [.failed(.notText)])
    }

    @Test(arguments: ["", "f", "fo", "foo", "foob", "fooba", "foobar"])
    func `Base64 of RFC 4648`(_ text: String) {
        let known = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"][text.utf8.count]
        #expect(Base64.text(of: Array(text.utf8)) == known)
        #expect(Base64.octets(of: known.utf8) == Array(text.utf8))
    }

    @Test(arguments: ["Zg", "Zg=", "Zg===", "Zh==", "Z===", "====", "Zm9=", "Zm 9", "Zm9v\n", "Zm9v=", "=m9v", "Z=9v"])
    func `what is no Base64`(_ text: String) { #expect(Base64.octets(of: text.utf8) == nil) }
}
