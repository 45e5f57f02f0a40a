/// Reads one request, whose octets come in any pieces; looks at each octet once, and keeps no more than the limits.
///
///     request line ──line──▶ fields ──empty line──▶ body ──length──▶ complete
///          └───────── error, limit ────┴──────────▶ refused
public struct HTTPRequestReader: Sendable {
    public enum Progress: Equatable, Sendable {
        /// More octets are needed.
        case incomplete
        case complete(HTTPRequest)
        case refused(HTTPStatus)
    }

    private let limits: HTTPLimits
    private var head: HTTPRequestLine?
    /// The line that has not ended yet, without a line feed.
    private var line: [UInt8] = []
    private var emptyLines = 0
    private var fieldCount = 0
    private var fieldOctets = 0
    /// The values of the fields that mean something here, by their names.
    private var fields: [String: [UInt8]] = [:]
    /// The request that only lacks its body, and how many octets that has.
    private var unfinished: (request: HTTPRequest, length: Int)?
    private var body: [UInt8] = []
    private var result: Progress?

    private static let carriageReturn: UInt8 = 0x0D
    private static let lineFeed: UInt8 = 0x0A
    /// Some clients end the request before with a line too many (RFC 9112, section 2.2).
    private static let emptyLineLimit = 2
    private static let known: Set<String> = [
        "host", "authorization", "content-length", "transfer-encoding", "content-type", "origin", "sec-fetch-site",
        "last-event-id", "connection", "upgrade", "sec-websocket-key", "sec-websocket-version",
    ]

    public init(_ limits: HTTPLimits) { self.limits = limits }

    /// Whether nothing has come yet.
    public var isUntouched: Bool { head == nil && line.isEmpty && emptyLines == 0 }

    /// Takes the next octets; those after the end of the request are ignored.
    public mutating func read(_ octets: some Sequence<UInt8>) -> Progress {
        if let result { return result }
        do throws(HTTPRefusal) {
            for octet in octets {
                guard let request = try read(octet) else { continue }
                result = .complete(request)
                break
            }
        } catch {
            result = .refused(error.status)
        }
        return result ?? .incomplete
    }

    private mutating func read(_ octet: UInt8) throws(HTTPRefusal) -> HTTPRequest? {
        if unfinished != nil {
            body.append(octet)
            return wholeRequest()
        }
        if octet == Self.lineFeed {
            if line.last == Self.carriageReturn { line.removeLast() }
            defer { line.removeAll(keepingCapacity: true) }
            return try endLine()
        }
        guard line.last != Self.carriageReturn, octet == Self.carriageReturn || isAllowed(octet) else {
            throw HTTPRefusal(.badRequest)
        }
        if head == nil {
            guard line.count < limits.requestLine || octet == Self.carriageReturn else {
                throw HTTPRefusal(.uriTooLong)
            }
        } else {
            fieldOctets += 1
            guard fieldOctets <= limits.fieldOctets, fieldCount < limits.fields || octet == Self.carriageReturn else {
                throw HTTPRefusal(.requestHeaderFieldsTooLarge)
            }
        }
        line.append(octet)
        return nil
    }

    private func isAllowed(_ octet: UInt8) -> Bool {
        head == nil ? (0x20...0x7E).contains(octet) : octet == 0x09 || octet >= 0x20 && octet != 0x7F
    }

    /// The request, when its body has come.
    private func wholeRequest() -> HTTPRequest? {
        guard let (unfinished, length) = unfinished, body.count == length else { return nil }
        var request = unfinished
        request.body = .octets(body)
        return request
    }

    /// - Returns: the request, if the line was its last one.
    private mutating func endLine() throws(HTTPRefusal) -> HTTPRequest? {
        guard let head else {
            if line.isEmpty {
                emptyLines += 1
                guard emptyLines <= Self.emptyLineLimit else { throw HTTPRefusal(.badRequest) }
            } else {
                head = try HTTPRequestLine(line)
            }
            return nil
        }
        if line.isEmpty { return try endHead(head) }
        fieldCount += 1
        let field = try HTTPField(line)
        guard Self.known.contains(field.name) else { return nil }
        if let before = fields[field.name] {
            // What has two hosts, two tokens or two ends of a body means different things to different readers.
            guard field.name == "connection" else { throw HTTPRefusal(.badRequest) }
            fields[field.name] = before + [UInt8(ascii: ",")] + field.value
        } else {
            fields[field.name] = field.value
        }
        return nil
    }

    private func text(_ name: String) -> String? { fields[name].map { String(decoding: $0, as: UTF8.self) } }

    /// - Returns: the request, unless its body is still to come.
    private mutating func endHead(_ head: HTTPRequestLine) throws(HTTPRefusal) -> HTTPRequest? {
        let isEncoded = fields["transfer-encoding"] != nil
        let length = fields["content-length"]
        guard length.map({ !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }) ?? true,
            !isEncoded || length == nil && head.minorVersion > 0, head.minorVersion == 0 || fields["host"] != nil
        else { throw HTTPRefusal(.badRequest) }
        var request = HTTPRequest(method: head.method, path: head.path)
        request.query = head.query
        request.authority = head.authority ?? text("host")
        request.authorization = fields["authorization"]
        request.origin = text("origin")
        request.fetchSite = text("sec-fetch-site")
        request.contentType = text("content-type")
        request.lastEventID = text("last-event-id")
        request.webSocket = webSocketOffer(head)
        guard isEncoded || length?.contains(where: { $0 != 0x30 }) ?? false else { return request }
        request.body = .unread
        let count = length.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        guard head.method == .post, let count, count <= limits.bodyOctets else { return request }
        unfinished = (request, count)
        return nil
    }

    private func webSocketOffer(_ head: HTTPRequestLine) -> HTTPRequest.WebSocketOffer {
        guard text("upgrade")?.lowercased() == "websocket" else { return .none }
        let options = text("connection")?.lowercased().split { $0 == "," || $0 == " " || $0 == "\t" } ?? []
        guard head.method == .get, head.minorVersion > 0, options.contains("upgrade"),
            let key = text("sec-websocket-key"),
            key.utf8.count == 24, key.hasSuffix("=="),
            key.utf8.dropLast(2).allSatisfy({
                let character = Character(Unicode.Scalar($0))
                return character.isASCII && (character.isLetter || character.isNumber) || character == "+"
                    || character == "/"
            })
        else { return .malformed }
        return text("sec-websocket-version") == "13" ? .key(key) : .otherVersion
    }
}
