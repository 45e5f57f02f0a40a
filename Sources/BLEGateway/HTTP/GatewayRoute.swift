/// What a request is for.
public enum GatewayRoute: Equatable, Sendable {
    case health
    case metrics
    /// The description of the interface.
    case description
    /// The devices behind the one with this place.
    case devices(after: Int, limit: Int)
    case device(String)
    case adapters
    case queue
    case sessions
    case settings
    case events(EventFilter, lastEventID: String?)
    /// - Parameter key: that of the client, which the answer proves to have read.
    case webSocket(EventFilter, lastEventID: String?, key: String)
    /// The live page.
    case live
    /// A request for GATT, as JSON.
    case gatt([UInt8])
    case refused(HTTPStatus, fields: [String] = [])

    /// The token that requests need.
    public enum Token: Equatable, Sendable {
        case notNeeded
        /// It cannot be read, so no request has it.
        case unknown
        case octets([UInt8])
    }

    /// The tokens of the settings.
    public struct Tokens: Sendable {
        public var reading: Token
        /// For requests for GATT; `nil`: there are none.
        public var gatt: Token?

        public init(reading: Token, gatt: Token? = nil) {
            self.reading = reading
            self.gatt = gatt
        }
    }

    /// The most devices in one answer.
    public static let pageLimit = 1000

    public init(_ request: HTTPRequest, hosts: HTTPHosts, tokens: Tokens) {
        if let authority = request.authority, !hosts.accept(authority) {
            self = .refused(.misdirectedRequest)
        } else if !Self.isOfThisSite(request) {
            self = .refused(.forbidden)
        } else {
            self = Self.route(request, tokens)
        }
    }

    /// Whether a page of this server, or no page at all, asks. Other pages could otherwise ask in the name of a person
    /// who looks at them on this machine.
    static func isOfThisSite(_ request: HTTPRequest) -> Bool {
        if let site = request.fetchSite, site != "same-origin", site != "none" { return false }
        guard let origin = request.origin else { return true }
        guard let authority = request.authority?.lowercased() else { return false }
        return ["http://" + authority, "https://" + authority].contains(origin.lowercased())
    }

    private enum Page {
        case get(GatewayRoute)
        case gatt
        case problem(HTTPStatus)
    }

    private static func route(_ request: HTTPRequest, _ tokens: Tokens) -> GatewayRoute {
        // The page has no secrets; it asks for the token, which a browser could not send with its first request.
        let isOpen = request.path == "/live"
        let isGATT = request.path == "/api/gatt" && tokens.gatt != nil
        let isStream = request.path == "/events" || request.path == "/ws"
        let permitted = isStream ? permittedEvents(request.authorization ?? [], tokens) : []
        let token = isOpen ? .notNeeded : isGATT ? tokens.gatt ?? .unknown : tokens.reading
        // A client has one token: that of GATT shows the events of GATT, also where reading needs another one.
        if !permitted.contains(.gatt), let status = refusal(of: request.authorization ?? [], token) {
            return .refused(status)
        }
        switch page(request, hasGATT: tokens.gatt != nil) {
        case nil: return .refused(.notFound)
        case .problem(let status)?: return .refused(status)
        case .get(let route)?:
            // The head of a stream alone would never end.
            guard request.method == .get || request.method == .head && !isStream else {
                return .refused(.methodNotAllowed, fields: [isStream ? "Allow: GET" : "Allow: GET, HEAD"])
            }
            return request.hasBody ? .refused(.contentTooLarge) : route.restricted(to: permitted)
        case .gatt?:
            guard request.method == .post else { return .refused(.methodNotAllowed, fields: ["Allow: POST"]) }
            return gatt(request)
        }
    }

    /// What a client may see of what happens.
    private static func permittedEvents(_ authorization: [UInt8], _ tokens: Tokens) -> Set<GatewayEvent.Kind> {
        var permitted: Set<GatewayEvent.Kind> = []
        if refusal(of: authorization, tokens.reading) == nil {
            permitted = Set(GatewayEvent.Kind.allCases).subtracting([.gatt])
        }
        if let gatt = tokens.gatt, refusal(of: authorization, gatt) == nil { permitted.insert(.gatt) }
        return permitted
    }

    private func restricted(to permitted: Set<GatewayEvent.Kind>) -> GatewayRoute {
        switch self {
        case .events(var filter, let last):
            filter.permitted = permitted
            return filter.isPermitted ? .events(filter, lastEventID: last) : .refused(.unauthorized)
        case .webSocket(var filter, let last, let key):
            filter.permitted = permitted
            return filter.isPermitted ? .webSocket(filter, lastEventID: last, key: key) : .refused(.unauthorized)
        default: return self
        }
    }

    private static func gatt(_ request: HTTPRequest) -> GatewayRoute {
        // A form of another page has other types (and needs no permission to be sent).
        let type = request.contentType?.lowercased().prefix { $0 != ";" && $0 != " " }
        guard type == "application/json" else { return .refused(.unsupportedMediaType) }
        switch request.body {
        case .octets(let octets): return .gatt(octets)
        case .none: return .refused(.lengthRequired)
        case .unread: return .refused(.contentTooLarge)
        }
    }

    private static func page(_ request: HTTPRequest, hasGATT: Bool) -> Page? {
        switch request.path {
        case "/health": return .get(.health)
        case "/metrics": return .get(.metrics)
        case "/live": return .get(.live)
        case "/api": return .get(.description)
        case "/api/devices": return devices(request)
        case "/api/adapters": return .get(.adapters)
        case "/api/queue": return .get(.queue)
        case "/api/sessions": return .get(.sessions)
        case "/api/settings": return .get(.settings)
        case "/api/gatt": return hasGATT ? .gatt : nil
        case "/events":
            guard let filter = EventFilter(request) else { return .problem(.badRequest) }
            return .get(.events(filter, lastEventID: request.lastEventID ?? request.values("lastEventID").first))
        case "/ws": return webSocket(request)
        case let path? where path.hasPrefix("/api/devices/"):
            let address = HTTPRequestLine.percentDecoded(path.dropFirst("/api/devices/".count))
            return address.isEmpty || address.contains("/") ? nil : .get(.device(address))
        default: return nil
        }
    }

    private static func devices(_ request: HTTPRequest) -> Page {
        let after = request.values("after").first.map { Int($0) } ?? -1
        let limit = request.values("limit").first.map { Int($0) } ?? pageLimit
        guard let after, let limit, after >= -1, (1...pageLimit).contains(limit) else { return .problem(.badRequest) }
        return .get(.devices(after: after, limit: limit))
    }

    private static func webSocket(_ request: HTTPRequest) -> Page {
        guard let filter = EventFilter(request) else { return .problem(.badRequest) }
        switch request.webSocket {
        case .none, .otherVersion: return .problem(.upgradeRequired)
        case .malformed: return .problem(.badRequest)
        case .key(let key):
            let last = request.lastEventID ?? request.values("lastEventID").first
            return .get(.webSocket(filter, lastEventID: last, key: key))
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
