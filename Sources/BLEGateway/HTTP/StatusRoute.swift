/// The page that a request gets.
public enum StatusRoute: Equatable, Sendable {
    case health
    case metrics
    case refused(HTTPStatus)

    /// The token that requests need.
    public enum Token: Equatable, Sendable {
        case notNeeded
        /// It cannot be read, so no request has it.
        case unknown
        case octets([UInt8])
    }

    public init(_ request: HTTPRequest, hosts: HTTPHosts, token: Token) {
        if let authority = request.authority, !hosts.accept(authority) {
            self = .refused(.misdirectedRequest)
        } else if let status = Self.refusal(of: request.authorization ?? [], token) {
            self = .refused(status)
        } else if let page = Self.page(of: request.path) {
            self =
                request.method == .other
                ? .refused(.methodNotAllowed) : request.hasBody ? .refused(.contentTooLarge) : page
        } else {
            self = .refused(.notFound)
        }
    }

    private static func page(of path: String?) -> StatusRoute? {
        switch path {
        case "/health": .health
        case "/metrics": .metrics
        default: nil
        }
    }

    private static func refusal(of authorization: [UInt8], _ token: Token) -> HTTPStatus? {
        switch token {
        case .notNeeded: nil
        case .unknown: .serviceUnavailable
        case .octets(let octets): hasToken(authorization, octets) ? nil : .unauthorized
        }
    }

    /// Whether an authorisation is this token. The time depends on the length of what the client sent, and on nothing
    /// of the token.
    static func hasToken(_ authorization: [UInt8], _ token: [UInt8]) -> Bool {
        let scheme = authorization.prefix(7)
        guard String(decoding: scheme, as: UTF8.self).lowercased() == "bearer ", !token.isEmpty else { return false }
        let given = authorization.dropFirst(7).drop { $0 == 0x20 }
        var difference = given.count ^ token.count
        for (place, octet) in given.enumerated() { difference |= Int(octet ^ token[place % token.count]) }
        return difference == 0
    }
}
