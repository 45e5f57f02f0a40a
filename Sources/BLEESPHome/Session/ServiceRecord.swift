/// How the proxy is found by DNS-based service discovery.
public struct ServiceRecord: Equatable, Sendable {
    public static let type = "_esphomelib._tcp"

    /// The name of the instance.
    public let name: String
    public let port: UInt16
    /// The records `KEY=VALUE`.
    public let texts: [String]

    public init(_ description: ProxyDescription, port: UInt16) {
        name = description.name
        self.port = port
        // Clients that know a proxy find it again by its address.
        let encryption = description.key == nil ? nil : "api_encryption=Noise_NNpsk0_25519_ChaChaPoly_SHA256"
        texts =
            [
                "friendly_name=\(description.name)", "version=\(ProxyDescription.esphomeVersion)",
                "mac=\(description.addressDigits)", "network=ethernet", "project_name=jelling.gateway",
                "project_version=\(description.version)",
            ] + (encryption.map { [$0] } ?? [])
    }

    /// The content of a file for the Avahi daemon.
    public var file: String {
        let records = texts.map { "    <txt-record>\(Self.escaped($0))</txt-record>\n" }.joined()
        return """
            <?xml version="1.0" standalone="no"?>
            <!DOCTYPE service-group SYSTEM "avahi-service.dtd">
            <service-group>
              <name>\(Self.escaped(name))</name>
              <service>
                <type>\(Self.type)</type>
                <port>\(port)</port>
            \(records)  </service>
            </service-group>

            """
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.append(character)
            }
        }
    }
}
