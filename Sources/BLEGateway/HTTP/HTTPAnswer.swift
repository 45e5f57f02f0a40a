/// What a request is answered with; the connection ends after it, unless the answer is a stream.
public struct HTTPAnswer: Equatable, Sendable {
    public var status: HTTPStatus
    public var contentType: String
    public var body: [UInt8]
    /// Further header fields, `Name: value`.
    public var fields: [String]

    public init(_ status: HTTPStatus, contentType: String, body: String, fields: [String] = []) {
        self.init(status, contentType: contentType, octets: Array(body.utf8), fields: fields)
    }

    public init(_ status: HTTPStatus, contentType: String, octets: [UInt8], fields: [String] = []) {
        self.status = status
        self.contentType = contentType
        body = octets
        self.fields = fields
    }

    /// An answer that only says its status.
    public init(_ status: HTTPStatus) {
        self.init(status, contentType: "text/plain; charset=utf-8", body: status.phrase + "\n")
    }

    /// The octets on the connection.
    /// - Parameter isHead: whether the method is HEAD, whose answers have no body.
    public func octets(isHead: Bool) -> [UInt8] {
        head(["Content-Length: \(body.count)"]) + (isHead ? [] : body)
    }

    /// The octets before a stream, which goes on until the connection ends.
    public var streamHead: [UInt8] { head([]) + body }

    private func head(_ length: [String]) -> [UInt8] {
        let lines =
            ["HTTP/1.1 \(status.rawValue) \(status.phrase)"] + status.fields + fields + ["Content-Type: \(contentType)"]
            + length
            + [
                "Cache-Control: no-store", "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer",
                "Cross-Origin-Resource-Policy: same-origin", "Connection: close", "", "",
            ]
        return Array(lines.joined(separator: "\r\n").utf8)
    }

    /// The octets with which a connection becomes one of WebSocket.
    /// - Parameter accept: the value that belongs to the client's key (RFC 6455, section 4.2.2).
    public static func webSocketHead(accept: String) -> [UInt8] {
        let lines = [
            "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Accept: \(accept)", "", "",
        ]
        return Array(lines.joined(separator: "\r\n").utf8)
    }
}
