import BLEGateway

extension SettingsFile {
    static let brokerKeys = [
        "url", "version", "username", "password", "passwordFile", "caFile", "certFile", "keyFile", "clientID",
        "keepAlive", "qos", "longestBackoff", "inFlight",
    ]

    static func broker(_ object: SettingsObject) throws(SettingsProblem) -> BrokerSettings {
        guard let url = try object.text("url") else {
            throw object.problem("url", "is missing; write mqtt://HOST:PORT")
        }
        var broker: BrokerSettings
        do throws(BrokerURL.Problem) { broker = try BrokerURL.settings(url) } catch {
            throw object.problem("url", error.description)
        }
        broker.version = try object.choice("version", BrokerSettings.Version.self) ?? broker.version
        broker.username = try object.text("username") ?? broker.username
        broker.password = try object.text("password") ?? broker.password
        broker.passwordFile = try object.text("passwordFile")
        if let authorities = try object.text("caFile") { broker.security = .init(authorities: authorities) }
        let isSecure = broker.security != nil
        broker.security?.certificate = try object.text("certFile")
        broker.security?.key = try object.text("keyFile")
        if object.has("certFile") != object.has("keyFile") {
            throw object.problem(
                object.has("certFile") ? "certFile" : "keyFile", "‘certFile’ and ‘keyFile’ need each other")
        }
        if object.has("certFile"), !isSecure {
            throw object.problem("certFile", "certificates need TLS; write mqtts:// in ‘url’")
        }
        broker.clientID = try object.text("clientID")
        broker.keepAlive = try object.integer("keepAlive", in: 5...3600, "seconds") ?? broker.keepAlive
        broker.qualityOfService = try object.integer("qos", in: 0...2, "quality of service") ?? 1
        broker.longestBackoff = try object.number("longestBackoff", in: 1...3600, "seconds") ?? broker.longestBackoff
        broker.inFlightLimit = try object.integer("inFlight", in: 1...10_000, "messages") ?? broker.inFlightLimit
        return broker
    }

    static func http(_ object: SettingsObject) throws(SettingsProblem) -> HTTPSettings {
        guard let listen = try object.text("listen") else {
            throw object.problem("listen", "is missing; write 127.0.0.1:9464")
        }
        guard let (host, port) = BrokerURL.hostAndPort(listen), let port else {
            let isPort = BrokerURL.hostAndPort(listen) == nil
            let cause = isPort ? BrokerURL.problem(ofHostAndPort: listen) : "the port is missing"
            throw object.problem("listen", "\(cause); expected ADDRESS:PORT, such as 127.0.0.1:9464")
        }
        var http = HTTPSettings(host: host, port: port)
        http.tokenFile = try object.text("tokenFile")
        let isLoopback = host.hasPrefix("127.") || host == "::1"
        guard isLoopback || http.tokenFile != nil else {
            throw object.problem("listen", "an address that others reach needs ‘tokenFile’")
        }
        return http
    }
}
