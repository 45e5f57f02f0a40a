/// A complete request.
public struct HTTPRequest: Equatable, Sendable {
    public enum Method: Equatable, Sendable {
        case get, head, post, other
    }

    public enum Body: Equatable, Sendable {
        case none
        case octets([UInt8])
        /// One follows that is not read: its method has none, it is too long, or it comes in chunks.
        case unread
    }

    /// What a request says about a change to WebSocket (RFC 6455, section 4.2.1).
    public enum WebSocketOffer: Equatable, Sendable {
        case none
        case key(String)
        case otherVersion
        case malformed
    }

    /// A part of a query, decoded.
    public struct QueryItem: Equatable, Sendable {
        public var name: String
        public var value: String

        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    public var method: Method
    /// The path, without a query; `nil` if the target has another form, such as that of CONNECT.
    public var path: String?
    public var query: [QueryItem] = []
    /// The host with its port, as the target or the field `Host` has it; `nil` only with HTTP/1.0.
    public var authority: String?
    /// The value of the field `Authorization`.
    public var authorization: [UInt8]?
    /// Where the page comes from that asks; `nil` for programs that show no pages.
    public var origin: String?
    /// How that page and this server are related, as the browser says (Fetch Metadata).
    public var fetchSite: String?
    public var contentType: String?
    /// The last event that a client has had before its connection was lost.
    public var lastEventID: String?
    public var webSocket = WebSocketOffer.none
    public var body = Body.none

    public init(method: Method, path: String?) {
        self.method = method
        self.path = path
    }

    /// Whether a body follows.
    public var hasBody: Bool { body != .none }

    /// The values of the parts of the query with this name; several in one part are separated by commas.
    public func values(_ name: String) -> [String] {
        query.filter { $0.name == name }.flatMap { $0.value.split(separator: ",").map(String.init) }
    }
}

/// The first line of a request (RFC 9112, section 3).
struct HTTPRequestLine: Equatable {
    var method: HTTPRequest.Method
    var path: String?
    var query: [HTTPRequest.QueryItem] = []
    /// The authority of a target in absolute form, which counts instead of the field `Host`.
    var authority: String?
    /// The minor version of HTTP/1.
    var minorVersion: UInt8

    /// - Throws: the status that refuses the request.
    init(_ line: [UInt8]) throws(HTTPRefusal) {
        let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(HTTPField.isTokenOctet), !parts[1].isEmpty else {
            throw HTTPRefusal(.badRequest)
        }
        minorVersion = try Self.minorVersion(parts[2])
        method =
            switch String(decoding: parts[0], as: UTF8.self) {
            case "GET": .get
            case "HEAD": .head
            case "POST": .post
            default: .other
            }
        let target = String(decoding: parts[1], as: UTF8.self)
        guard !target.contains("#") else { throw HTTPRefusal(.badRequest) }
        if target.hasPrefix("/") {
            (path, query) = Self.split(target[...])
        } else if target.lowercased().hasPrefix("http://") {
            let rest = target.dropFirst(7)
            let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
            authority = String(rest[..<end])
            (path, query) = Self.split(rest[end...].hasPrefix("/") ? rest[end...] : "/" + rest[end...])
        }
    }

    private static func minorVersion(_ text: ArraySlice<UInt8>) throws(HTTPRefusal) -> UInt8 {
        let octets = Array(text)
        func digit(_ index: Int) -> UInt8? { octets[index] >= 0x30 && octets[index] <= 0x39 ? octets[index] & 15 : nil }
        guard octets.count == 8, octets.starts(with: Array("HTTP/".utf8)), octets[6] == UInt8(ascii: "."),
            let major = digit(5), let minor = digit(7)
        else { throw HTTPRefusal(.badRequest) }
        guard major == 1 else { throw HTTPRefusal(.versionNotSupported) }
        return minor
    }

    private static func split(_ target: Substring) -> (String, [HTTPRequest.QueryItem]) {
        let path = target.prefix { $0 != "?" }
        let items = target[path.endIndex...].dropFirst().split(separator: "&").map { item in
            let name = item.prefix { $0 != "=" }
            let value = item[name.endIndex...].dropFirst()
            return HTTPRequest.QueryItem(name: percentDecoded(name), value: percentDecoded(value))
        }
        return (String(path), items)
    }

    /// A part of a target with its octets in place of `%XX`; what is no such sequence stays as it is.
    static func percentDecoded(_ text: Substring) -> String {
        var octets: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let octet = rest.popFirst() {
            let digits = rest.prefix(2)
            if octet == UInt8(ascii: "%"), digits.count == 2,
                digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                octets.append(value)
                rest = rest.dropFirst(2)
            } else {
                octets.append(octet)
            }
        }
        return String(decoding: octets, as: UTF8.self)
    }
}

/// A header field (RFC 9112, section 5).
struct HTTPField: Equatable {
    /// In lower case.
    var name: String
    /// Without the white space around it.
    var value: [UInt8]

    /// - Throws: the status that refuses the request.
    init(_ line: [UInt8]) throws(HTTPRefusal) {
        // A line that begins with white space would continue the one before it, which no sender may do any more.
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
            line[..<colon].allSatisfy(Self.isTokenOctet)
        else { throw HTTPRefusal(.badRequest) }
        name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
        let isSpace = { (octet: UInt8) in octet == 0x20 || octet == 0x09 }
        let rest = line[(colon + 1)...].drop(while: isSpace)
        value = Array(rest.prefix(rest.count - rest.reversed().prefix(while: isSpace).count))
    }

    /// Whether an octet can stand in a method or in the name of a field (RFC 9110, section 5.6.2).
    static func isTokenOctet(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(octet)
        }
    }
}

/// Why a request is not carried out.
public struct HTTPRefusal: Error, Equatable, Sendable {
    public let status: HTTPStatus
    public init(_ status: HTTPStatus) { self.status = status }
}
