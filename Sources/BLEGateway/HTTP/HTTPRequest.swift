/// A complete request, without its body, which no page takes.
public struct HTTPRequest: Equatable, Sendable {
    public enum Method: Equatable, Sendable {
        case get, head, other
    }

    public var method: Method
    /// The path, without a query; `nil` if the target has another form, such as that of CONNECT.
    public var path: String?
    /// The host with its port, as the target or the field `Host` has it; `nil` only with HTTP/1.0.
    public var authority: String?
    /// The value of the field `Authorization`.
    public var authorization: [UInt8]?
    /// Whether a body follows.
    public var hasBody = false
}

/// The first line of a request (RFC 9112, section 3).
struct HTTPRequestLine: Equatable {
    var method: HTTPRequest.Method
    var path: String?
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
        method = parts[0].elementsEqual("GET".utf8) ? .get : parts[0].elementsEqual("HEAD".utf8) ? .head : .other
        let target = String(decoding: parts[1], as: UTF8.self)
        guard !target.contains("#") else { throw HTTPRefusal(.badRequest) }
        if target.hasPrefix("/") {
            path = Self.withoutQuery(target[...])
        } else if target.lowercased().hasPrefix("http://") {
            let rest = target.dropFirst(7)
            let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
            authority = String(rest[..<end])
            path = rest[end...].hasPrefix("/") ? Self.withoutQuery(rest[end...]) : "/"
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

    private static func withoutQuery(_ target: Substring) -> String { String(target.prefix { $0 != "?" }) }
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
