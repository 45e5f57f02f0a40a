/// What a request is answered with; the connection ends after it.
public struct HTTPAnswer: Equatable, Sendable {
    public var status: HTTPStatus
    public var contentType: String
    public var body: [UInt8]

    public init(_ status: HTTPStatus, contentType: String, body: String) {
        self.status = status
        self.contentType = contentType
        self.body = Array(body.utf8)
    }

    /// An answer that only says its status.
    public init(_ status: HTTPStatus) {
        self.init(status, contentType: "text/plain; charset=utf-8", body: status.phrase + "\n")
    }

    /// The octets on the connection.
    /// - Parameter isHead: whether the method is HEAD, whose answers have no body.
    public func octets(isHead: Bool) -> [UInt8] {
        let lines =
            ["HTTP/1.1 \(status.rawValue) \(status.phrase)"] + status.fields + [
                "Content-Type: \(contentType)", "Content-Length: \(body.count)", "Cache-Control: no-store",
                "X-Content-Type-Options: nosniff", "Connection: close", "", "",
            ]
        return Array(lines.joined(separator: "\r\n").utf8) + (isHead ? [] : body)
    }
}
