import BLE
import BLEDaemonClient
import BLEGateway
import BLEStateFiles
import BLEText
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

    /// Nothing would be done with what the radio hears.
    func reportNoUse(_ review: SettingsReview) {
        review.add(
            SettingsProblem(
                file: path ?? "settings",
                message: "no broker; add ‘mqtt’ or ‘matter’ with ‘url’, or ‘esphome’ or ‘http’ with ‘listen’, "
                    + "or use --print"))
    }

    /// - Throws: `WrongSettings` with every problem.
    func read() throws(WrongSettings) -> GatewaySettings {
        let (settings, review) = readAll()
        guard review.problems.isEmpty else { throw WrongSettings(problems: review.problems) }
        return settings
    }

    /// Reads everything, also if some of it is wrong.
    func readAll() -> (GatewaySettings, SettingsReview) {
        let review = SettingsReview(file: path ?? "")
        for (option, value) in [
            ("config", given.config), ("state", given.state), ("mqtt-password-file", given.mqttPasswordFile),
        ] where value?.isEmpty == true {
            review.add(
                SettingsProblem(file: "--" + option, message: "it is empty; write a path, or leave the option out"))
        }
        var settings = GatewaySettings()
        settings.gateway.name = Self.machineName
        if let path, !path.isEmpty {
            do throws(SettingsProblem) { SettingsFile.read(try Self.text(of: path), into: &settings, review) } catch {
                review.add(error)
            }
        }
        if let name {
            review.note("name", option: place("name", isArgument: given.name != nil))
            if !SettingsFile.isName(name) { review.add("name", SettingsFile.problem(ofName: name)) }
            settings.gateway.name = name
        }
        addTransports(to: &settings, review)
        addBroker(to: &settings, review)
        addPasswordFile(to: &settings, review)
        addServer(to: &settings, review)
        if homeAssistant, settings.gateway.homeAssistant == nil { settings.gateway.homeAssistant = .init() }
        if let state {
            review.note("state", option: given.state == nil ? "STATE_DIRECTORY" : "--state")
            settings.state = state
        }
        return (settings, review)
    }

    private func addTransports(to settings: inout GatewaySettings, _ review: SettingsReview) {
        if !transports.isEmpty {
            settings.adapters = []
            let option = place("transport", isArgument: !given.transport.isEmpty)
            for transport in transports {
                review.note("adapters[\(settings.adapters.count)]", option: option)
                do throws(TransportError) { _ = try TransportAddress(transport) } catch {
                    review.add(SettingsProblem(file: option, message: error.description))
                }
                if settings.adapters.contains(where: { $0.transport == transport }) {
                    review.add(SettingsProblem(file: option, message: "‘\(transport.printable)’ is given twice"))
                }
                settings.adapters.append(AdapterSettings(transport: transport))
            }
        }
        if settings.adapters.isEmpty {
            settings.adapters = [AdapterSettings(transport: Self.usualTransport)]
        }
    }

    private func addBroker(to settings: inout GatewaySettings, _ review: SettingsReview) {
        guard let broker else { return }
        let option = place("mqtt", isArgument: self.given.mqtt != nil)
        review.note("mqtt.url", option: option)
        let given: BrokerSettings
        do throws(BrokerURL.Problem) { given = try BrokerURL.settings(broker) } catch {
            return review.add("mqtt.url", error.description)
        }
        guard var known = settings.broker else {
            settings.broker = given
            return
        }
        known.host = given.host
        known.port = given.port
        known.username = given.username ?? known.username
        if let password = given.password {
            known.password = password
            known.passwordFile = nil
        }
        known.security = given.security == nil ? nil : known.security ?? given.security
        settings.broker = known
    }

    private func addServer(to settings: inout GatewaySettings, _ review: SettingsReview) {
        guard let http else { return }
        review.note("http.listen", option: "--http")
        guard let (host, port) = BrokerURL.hostAndPort(http), let port, NumericAddress(host)?.isLoopback == true
        else {
            let cause =
                switch BrokerURL.hostAndPort(http) {
                case nil: BrokerURL.problem(ofHostAndPort: http)
                case (_, nil)?: "the port is missing"
                case (let host, _?)? where NumericAddress(host) == nil: "the host is no address"
                case (_, _?)?: "others reach this address, and need a token, in the file of settings"
                }
            return review.add(
                "http.listen", "\(cause); expected a loopback address and a port, such as 127.0.0.1:9464")
        }
        settings.http = HTTPSettings(host: host, port: port)
    }

    private func addPasswordFile(to settings: inout GatewaySettings, _ review: SettingsReview) {
        guard var broker = settings.broker else { return }
        if let passwordFile {
            review.note(
                "mqtt.passwordFile",
                option: place("mqtt-password-file", isArgument: given.mqttPasswordFile != nil))
            broker.passwordFile = passwordFile
        } else if let credential, broker.username != nil, broker.password == nil, broker.passwordFile == nil,
            unsafe access(credential, F_OK) == 0
        {
            review.note("mqtt.passwordFile", option: "the credential mqtt-password")
            broker.passwordFile = credential
        }
        if broker.username == nil, broker.password != nil || broker.passwordFile != nil {
            review.add(
                broker.passwordFile == nil ? "mqtt.password" : "mqtt.passwordFile",
                "a password needs a user; write mqtt://USER@HOST, or ‘username’ in the settings")
        }
        settings.broker = broker
    }

    private static let sizeLimit = 4 << 20

    private static func text(of path: String) throws(SettingsProblem) -> String {
        let octets: [UInt8]
        do throws(StateFileError) { octets = try InputPlace.read(path, limit: sizeLimit) } catch {
            throw SettingsProblem(file: path, message: error.inputCause)
        }
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
