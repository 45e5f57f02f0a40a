import Crypto

/// How a client turns an HTTP connection into one of WebSocket: its request, and the answer (RFC 6455, section 4).
public struct WebSocketUpgrade: Sendable {
    public enum Progress: Equatable, Sendable {
        /// More octets are needed.
        case incomplete
        /// The connection is one of WebSocket; these octets are its first.
        case upgraded([UInt8])
        /// The server answers with another status of HTTP.
        case refused(status: Int)
        /// The answer is none to this request.
        case failed(String)
    }

    /// The octets of the request.
    public let request: [UInt8]
    private let proof: String
    private var head: [UInt8] = []

    /// The longest head of an answer, in octets.
    private static let limit = 8192
    private static let end: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]

    /// - Parameters:
    ///   - host: the host and the port of the URL.
    ///   - nonce: 16 octets that nobody can predict.
    ///   - fields: more lines of the request's head.
    public init(host: String, path: String, nonce: [UInt8], fields: [String] = []) {
        let key = Base64.text(of: nonce)
        proof = Self.proof(ofKey: key)
        let lines =
            [
                "GET \(path) HTTP/1.1", "Host: \(host)", "Upgrade: websocket", "Connection: Upgrade",
                "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13",
            ] + fields + ["", ""]
        request = Array(lines.joined(separator: "\r\n").utf8)
    }

    /// What a server answers to show that it has read a client's key (RFC 6455, section 4.2.2).
    public static func proof(ofKey key: String) -> String {
        Base64.text(
            of: Array(Insecure.SHA1.hash(data: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))))
    }

    /// Takes the next octets.
    public mutating func read(_ octets: some Collection<UInt8>) -> Progress {
        let checked = max(0, head.count - Self.end.count + 1)
        head += octets
        guard head.count >= Self.end.count else { return .incomplete }
        for start in checked...(head.count - Self.end.count) where head[start...].starts(with: Self.end) {
            guard start <= Self.limit else { break }
            return answer(String(decoding: head[..<start], as: UTF8.self), rest: Array(head[(start + 4)...]))
        }
        return head.count > Self.limit ? .failed("the head of the answer is too long") : .incomplete
    }

    private func answer(_ text: String, rest: [UInt8]) -> Progress {
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
        guard words.count >= 2, words[0] == "HTTP/1.1", words[1].utf8.count == 3, let status = Int(words[1]) else {
            return .failed("the answer is not HTTP")
        }
        guard status == 101 else { return .refused(status: status) }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return .failed("the answer is not HTTP") }
            let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
            fields[line[..<colon].lowercased()] = String(value.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
        }
        let options = fields["connection"]?.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" } ?? []
        guard fields["upgrade"]?.lowercased() == "websocket", options.contains("upgrade"),
            fields["sec-websocket-accept"] == proof, fields["sec-websocket-extensions"] == nil,
            fields["sec-websocket-protocol"] == nil
        else { return .failed("the answer is not that of a WebSocket server") }
        return .upgraded(rest)
    }
}
