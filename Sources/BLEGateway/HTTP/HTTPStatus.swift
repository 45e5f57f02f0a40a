/// A status code of HTTP (RFC 9110, section 15), as far as the gateway answers with it.
public enum HTTPStatus: Int, CaseIterable, Sendable {
    case switchingProtocols = 101
    case ok = 200
    case badRequest = 400
    case unauthorized = 401
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case requestTimeout = 408
    case conflict = 409
    case lengthRequired = 411
    case contentTooLarge = 413
    case uriTooLong = 414
    case unsupportedMediaType = 415
    case misdirectedRequest = 421
    case upgradeRequired = 426
    case tooManyRequests = 429
    case requestHeaderFieldsTooLarge = 431
    case serviceUnavailable = 503
    case versionNotSupported = 505

    /// What follows the number in the status line.
    public var phrase: String {
        switch self {
        case .switchingProtocols: "Switching Protocols"
        case .ok: "OK"
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .requestTimeout: "Request Timeout"
        case .conflict: "Conflict"
        case .lengthRequired: "Length Required"
        case .contentTooLarge: "Content Too Large"
        case .uriTooLong: "URI Too Long"
        case .unsupportedMediaType: "Unsupported Media Type"
        case .misdirectedRequest: "Misdirected Request"
        case .upgradeRequired: "Upgrade Required"
        case .tooManyRequests: "Too Many Requests"
        case .requestHeaderFieldsTooLarge: "Request Header Fields Too Large"
        case .serviceUnavailable: "Service Unavailable"
        case .versionNotSupported: "HTTP Version Not Supported"
        }
    }

    /// The fields that an answer with this status has to have, or that help its client.
    var fields: [String] {
        switch self {
        case .unauthorized: ["WWW-Authenticate: Bearer"]
        case .upgradeRequired: ["Upgrade: websocket", "Sec-WebSocket-Version: 13"]
        default: []
        }
    }
}
