/// A status code of HTTP (RFC 9110, section 15), as far as the gateway answers with it.
public enum HTTPStatus: Int, CaseIterable, Sendable {
    case ok = 200
    case badRequest = 400
    case unauthorized = 401
    case notFound = 404
    case methodNotAllowed = 405
    case requestTimeout = 408
    case contentTooLarge = 413
    case uriTooLong = 414
    case misdirectedRequest = 421
    case requestHeaderFieldsTooLarge = 431
    case serviceUnavailable = 503
    case versionNotSupported = 505

    /// What follows the number in the status line.
    public var phrase: String {
        switch self {
        case .ok: "OK"
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .requestTimeout: "Request Timeout"
        case .contentTooLarge: "Content Too Large"
        case .uriTooLong: "URI Too Long"
        case .misdirectedRequest: "Misdirected Request"
        case .requestHeaderFieldsTooLarge: "Request Header Fields Too Large"
        case .serviceUnavailable: "Service Unavailable"
        case .versionNotSupported: "HTTP Version Not Supported"
        }
    }

    /// The fields that an answer with this status has to have, or that help its client.
    var fields: [String] {
        switch self {
        case .unauthorized: ["WWW-Authenticate: Bearer"]
        case .methodNotAllowed: ["Allow: GET, HEAD"]
        default: []
        }
    }
}
