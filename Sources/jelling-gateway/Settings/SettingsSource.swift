import BLE
import BLEDaemonClient
import BLEGateway
import Glibc

/// Combines the settings: arguments override the environment, and both override the file.
struct SettingsSource: Sendable {
    /// The settings file, if there is one.
    let path: String?
    private let transports: [String]
    private let broker: String?
    private let passwordFile: String?
    /// The file of systemd's credential, if the service has it.
    private let credential: String?
    private let name: String?
    private let http: String?
    private let state: String?
    private let homeAssistant: Bool
    /// What is not from the arguments is from the environment.
    private let given: GatewayCommand

    init(arguments: GatewayCommand) {
        func environment(_ name: String) -> String? { GatewayCommand.environment("JELLING_GATEWAY_" + name) }
        path = arguments.config ?? environment("CONFIG")
        transports = arguments.transport.isEmpty ? environment("TRANSPORT").map { [$0] } ?? [] : arguments.transport
        broker = arguments.mqtt ?? environment("MQTT")
        // A password of the arguments overrides the environment, too.
        let isGiven = arguments.mqtt.flatMap { try? BrokerURL.settings($0) }?.password != nil
        passwordFile = arguments.mqttPasswordFile ?? (isGiven ? nil : environment("MQTT_PASSWORD_FILE"))
        credential = GatewayCommand.environment("CREDENTIALS_DIRECTORY").map { $0 + "/mqtt-password" }
        name = arguments.name ?? environment("NAME")
        http = arguments.http
        state = arguments.state ?? GatewayCommand.environment("STATE_DIRECTORY")
        homeAssistant = arguments.homeAssistant
        given = arguments
    }

    /// Where a value stands, for messages.
    private func place(_ option: String, isArgument: Bool) -> String {
        guard !isArgument else { return "--" + option }
        return "JELLING_GATEWAY_" + option.uppercased().replacing("-", with: "_")
    }

    /// - Throws: an error whose description names the place, the cause and the remedy.
    func read() throws -> GatewaySettings {
        for (option, value) in [
            ("config", given.config), ("state", given.state), ("mqtt-password-file", given.mqttPasswordFile),
        ] where value?.isEmpty == true {
            throw SettingsProblem(file: "--" + option, message: "it is empty; write a path, or leave the option out")
        }
        var settings = GatewaySettings()
        settings.gateway.name = Self.machineName
        if let path { settings = try SettingsFile.read(try Self.text(of: path), named: path, over: settings) }
        if let name {
            guard SettingsFile.isName(name) else {
                throw SettingsProblem(
                    file: place("name", isArgument: given.name != nil),
                    message: SettingsFile.problem(ofName: name))
            }
            settings.gateway.name = name
        }
        if !transports.isEmpty {
            for transport in transports {
                do throws(TransportError) { _ = try TransportAddress(transport) } catch {
                    throw SettingsProblem(
                        file: place("transport", isArgument: !given.transport.isEmpty),
                        message: error.description)
                }
            }
            settings.adapters = transports.map { AdapterSettings(transport: $0) }
        }
        if settings.adapters.isEmpty {
            settings.adapters = [AdapterSettings(transport: Self.usualTransport)]
        }
        if let broker {
            do throws(BrokerURL.Problem) {
                let given = try BrokerURL.settings(broker)
                if var known = settings.broker {
                    known.host = given.host
                    known.port = given.port
                    known.username = given.username ?? known.username
                    if let password = given.password {
                        known.password = password
                        known.passwordFile = nil
                    }
                    if given.security == nil {
                        known.security = nil
                    } else {
                        known.security = known.security ?? given.security
                    }
                    settings.broker = known
                } else {
                    settings.broker = given
                }
            } catch {
                throw SettingsProblem(
                    file: place("mqtt", isArgument: given.mqtt != nil), message: error.description)
            }
        }
        try addPasswordFile(to: &settings)
        if let http {
            guard let (host, port) = BrokerURL.hostAndPort(http), let port, host.hasPrefix("127.") || host == "::1"
            else {
                let cause =
                    switch BrokerURL.hostAndPort(http) {
                    case nil: BrokerURL.problem(ofHostAndPort: http)
                    case (_, nil)?: "the port is missing"
                    case (_, _?)?: "others reach this address, and need a token, in the file of settings"
                    }
                throw SettingsProblem(
                    file: "--http",
                    message: "\(cause); expected a loopback address and a port, such as 127.0.0.1:9464")
            }
            settings.http = HTTPSettings(host: host, port: port)
        }
        if homeAssistant, settings.gateway.homeAssistant == nil { settings.gateway.homeAssistant = .init() }
        settings.state = state ?? settings.state
        return settings
    }

    private func addPasswordFile(to settings: inout GatewaySettings) throws(SettingsProblem) {
        guard var broker = settings.broker else { return }
        if let passwordFile {
            broker.passwordFile = passwordFile
        } else if let credential, broker.username != nil, broker.password == nil, broker.passwordFile == nil,
            unsafe access(credential, F_OK) == 0
        {
            broker.passwordFile = credential
        }
        guard broker.passwordFile == nil || broker.username != nil else {
            throw SettingsProblem(
                file: passwordFile == nil
                    ? "passwordFile" : place("mqtt-password-file", isArgument: given.mqttPasswordFile != nil),
                message: "a password needs a user; write mqtt://USER@HOST, or ‘username’ in the settings")
        }
        settings.broker = broker
    }

    private static func text(of path: String) throws -> String {
        guard let file = unsafe fopen(path, "re") else {
            throw SettingsProblem(file: path, message: "cannot be read: \(systemText(errno))")
        }
        defer { unsafe fclose(file) }
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = unsafe fread(&chunk, 1, chunk.count, file)
            if count == 0 { break }
            octets += chunk[..<count]
            guard octets.count <= 4 << 20 else { throw SettingsProblem(file: path, message: "the file is too long") }
        }
        guard unsafe ferror(file) == 0 else { throw SettingsProblem(file: path, message: "cannot be read") }
        guard let text = String(validating: octets, as: UTF8.self) else {
            throw SettingsProblem(file: path, message: "the file is not UTF-8")
        }
        return text
    }

    /// The daemon if one listens, otherwise the first adapter; if there is none yet, the first one that appears.
    private static var usualTransport: String {
        if let path = DaemonClient.sharedSocketPath { return "bled:\(path)" }
        return "user:\((try? AdapterList.first().index) ?? 0)"
    }

    private static var machineName: String {
        var buffer = [CChar](repeating: 0, count: 65)
        guard unsafe gethostname(&buffer, buffer.count - 1) == 0 else { return "jelling" }
        let full = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let name = String(full.prefix { $0 != "." }.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
        return name.isEmpty ? "jelling" : name
    }
}
