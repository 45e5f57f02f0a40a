import BLEGateway

extension SettingsFile {
    static let brokerKeys = [
        "url", "version", "username", "password", "passwordFile", "caFile", "certFile", "keyFile", "clientID",
        "keepAlive", "qos", "longestBackoff", "inFlight",
    ]

    static func broker(_ object: SettingsObject) -> BrokerSettings? {
        guard let url = object.required("url", object.text("url"), "; write mqtt://HOST:PORT") else { return nil }
        var broker: BrokerSettings
        do throws(BrokerURL.Problem) { broker = try BrokerURL.settings(url) } catch {
            object.report("url", error.description)
            // The other keys are read, too.
            broker = BrokerSettings(host: "", port: 1)
            broker.security = .init()
        }
        broker.version = object.choice("version", BrokerSettings.Version.self) ?? broker.version
        broker.username = object.text("username") ?? broker.username
        broker.password = object.text("password") ?? broker.password
        broker.passwordFile = object.text("passwordFile")
        if let authorities = object.text("caFile") { broker.security = .init(authorities: authorities) }
        let isSecure = broker.security != nil
        broker.security?.certificate = object.text("certFile")
        broker.security?.key = object.text("keyFile")
        if object.has("certFile") != object.has("keyFile") {
            object.report(
                object.has("certFile") ? "certFile" : "keyFile", "‘certFile’ and ‘keyFile’ need each other")
        }
        if object.has("certFile"), !isSecure {
            object.report("certFile", "certificates need TLS; write mqtts:// in ‘url’")
        }
        broker.clientID = object.text("clientID")
        broker.keepAlive = object.integer("keepAlive", in: 5...3600, "seconds") ?? broker.keepAlive
        broker.qualityOfService = object.integer("qos", in: 0...2, "quality of service") ?? 1
        broker.longestBackoff = object.number("longestBackoff", in: 1...3600, "seconds") ?? broker.longestBackoff
        broker.inFlightLimit = object.integer("inFlight", in: 1...10_000, "messages") ?? broker.inFlightLimit
        return broker
    }

    static let httpKeys = ["listen", "tokenFile", "hosts", "certFile", "keyFile", "clientCAFile"]

    static func http(_ object: SettingsObject) -> HTTPSettings? {
        let tokenFile = object.text("tokenFile")
        let security = security(object)
        let hosts = object.texts("hosts")
        guard let listen = object.required("listen", object.text("listen"), "; write 127.0.0.1:9464") else {
            return nil
        }
        let place: ListenAddress
        do throws(ListenAddress.Problem) { place = try ListenAddress(listen, example: "127.0.0.1:9464") } catch {
            object.report("listen", error.text)
            return nil
        }
        let knowsClients = tokenFile != nil || security?.clientAuthorities != nil
        if !place.isLoopback, !knowsClients || security == nil {
            object.report(
                "listen",
                "an address that others reach needs ‘tokenFile’ or ‘clientCAFile’, and ‘certFile’ with ‘keyFile’")
        }
        var http = HTTPSettings(host: place.host, port: place.port)
        http.tokenFile = tokenFile
        http.hosts = hosts
        http.security = security
        return http
    }

    private static func security(_ object: SettingsObject) -> HTTPSecurity? {
        let authorities = object.text("clientCAFile")
        if object.has("certFile") != object.has("keyFile") {
            object.report(
                object.has("certFile") ? "certFile" : "keyFile", "‘certFile’ and ‘keyFile’ need each other")
        }
        guard let certificate = object.text("certFile"), let key = object.text("keyFile") else {
            if authorities != nil {
                object.report("clientCAFile", "certificates of clients need ‘certFile’ and ‘keyFile’")
            }
            return nil
        }
        return HTTPSecurity(certificate: certificate, key: key, clientAuthorities: authorities)
    }
}
