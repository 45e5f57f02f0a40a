import BLE
import BLEGateway
import BLEText
import Yams

/// Reads the settings file: YAML, which includes JSON.
enum SettingsFile {
    static let keys = [
        "name", "adapters", "mqtt", "topics", "queue", "publish", "filters", "presence", "smoothing", "devices",
        "identities", "bonds", "homeAssistant", "http", "watchdog", "state",
    ]

    /// - Parameter base: the settings for everything that the file does not set.
    static func read(
        _ text: String, named file: String, over base: GatewaySettings = GatewaySettings()
    ) throws(SettingsProblem) -> GatewaySettings {
        var settings = base
        guard let root = try parse(text, file) else { return settings }
        let object = try SettingsObject(root, file: file, path: "", keys: keys)
        if let name = try object.text("name") {
            guard isName(name) else { throw object.problem("name", problem(ofName: name)) }
            settings.gateway.name = name
        }
        if object.has("adapters") { settings.adapters = try adapters(object) }
        if let part = try object.object("mqtt", keys: brokerKeys) { settings.broker = try broker(part) }
        if let part = try object.object("topics", keys: ["device", "status", "presence"]) {
            try topics(part, into: &settings.gateway.topics)
        }
        if let part = try object.object("queue", keys: ["path", "memory", "messages", "megabytes", "drop"]) {
            settings.queue.path = try part.text("path") ?? settings.queue.path
            settings.queue.isInMemory = try part.boolean("memory") ?? false
            settings.queue.limit =
                try part.integer("messages", in: 100...10_000_000, "messages") ?? settings.queue.limit
            if let size = try part.integer("megabytes", in: 1...1_000_000, "megabytes") {
                settings.queue.sizeLimit = size << 20
            }
            settings.queue.overflow = try part.choice("drop", QueueSettings.Overflow.self) ?? .oldest
        }
        let paceKeys = ["interval", "refresh", "rssi", "changes", "valueLifetime", "retain"]
        if let part = try object.object("publish", keys: paceKeys) {
            try pace(part, into: &settings.gateway.pace)
            settings.gateway.retainsDocuments = try part.boolean("retain") ?? false
        }
        if let part = try object.object("filters", keys: ["allow", "deny", "rssi", "privateAddresses"]) {
            try filter(part, into: &settings.gateway.filter)
        }
        if object.has("presence") {
            var presence = PresenceRule()
            if let part = try object.object("presence", keys: ["timeout", "enter", "leave"]) {
                presence.timeout = try part.span("timeout", in: 1...86400) ?? presence.timeout
                presence.enter = try part.number("enter", in: -127...20, "dBm") ?? presence.enter
                presence.leave = try part.number("leave", in: -127...20, "dBm") ?? presence.enter
                guard presence.leave <= presence.enter else {
                    throw part.problem("leave", "has to be at most ‘enter’")
                }
            }
            settings.gateway.presence = presence
        }
        if let part = try object.object("smoothing", keys: ["time", "adapterTimeout"]) {
            settings.gateway.smoothing.timeConstant = try part.span("time", in: 0...3600) ?? .seconds(5)
            settings.gateway.smoothing.adapterTimeout = try part.span("adapterTimeout", in: 1...3600) ?? .seconds(10)
        }
        if object.has("devices") { settings.gateway.devices = try devices(object) }
        if object.has("identities") { settings.gateway.identities = try identities(object) }
        settings.bonds = try object.text("bonds") ?? settings.bonds
        if object.has("homeAssistant") {
            var part = HomeAssistantSettings()
            if let object = try object.object("homeAssistant", keys: ["prefix", "expireAfter", "devices"]) {
                part.prefix = try object.text("prefix") ?? part.prefix
                do throws(TopicTemplate.Problem) { _ = try TopicTemplate(part.prefix, for: .gateway) } catch {
                    throw object.problem("prefix", "\(error)")
                }
                part.expireAfter = try object.integer("expireAfter", in: 0...86400, "seconds") ?? part.expireAfter
                part.deviceLimit = try object.integer("devices", in: 0...16384, "devices") ?? part.deviceLimit
            }
            settings.gateway.homeAssistant = part
        }
        if let part = try object.object("http", keys: ["listen", "tokenFile"]) { settings.http = try http(part) }
        if let part = try object.object("watchdog", keys: ["silence", "attempts"]) {
            settings.watchdog.silence =
                try part.number("silence", in: 0...86400, "seconds") ?? settings.watchdog.silence
            settings.watchdog.attempts = try part.integer("attempts", in: 0...1000, "reopenings") ?? 0
        }
        settings.state = try object.text("state") ?? settings.state
        return settings
    }

    private static func parse(_ text: String, _ file: String) throws(SettingsProblem) -> Node? {
        do {
            return try Yams.compose(yaml: text)
        } catch let error as YamlError {
            switch error {
            case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
                .composer(_, let problem, let mark, _):
                throw SettingsProblem(file: file, line: mark.line, message: "this is not YAML: \(problem)")
            case .duplicatedKeysInMapping(let duplicates, let context):
                throw SettingsProblem(
                    file: file, line: context.mark.line, key: duplicates.first ?? "", message: "the key appears twice")
            case .reader(let problem, _, _, _):
                throw SettingsProblem(file: file, message: "this is not YAML: \(problem)")
            default: throw SettingsProblem(file: file, message: "this is not YAML: \(error)")
            }
        } catch {
            throw SettingsProblem(file: file, message: "this is not YAML: \(error)")
        }
    }

    /// Whether a text can be a name: it becomes a part of topics and file names.
    static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) } && text.first != "."
    }

    /// Why a text is no name, and what one is.
    static func problem(ofName text: String) -> String {
        let wrong = text.first { !($0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0))) }
        let cause =
            if text.isEmpty {
                "it is empty"
            } else if let wrong {
                "‘\(String(wrong).printable)’ cannot stand in it"
            } else if text.first == "." {
                "it begins with a dot"
            } else {
                "it is too long"
            }
        return "\(cause): a name has 1 to 64 letters, digits, ‘-’, ‘_’ and ‘.’"
    }

    private static func adapters(_ object: SettingsObject) throws(SettingsProblem) -> [AdapterSettings] {
        var adapters: [AdapterSettings] = []
        for (path, node) in try object.list("adapters") {
            var adapter: AdapterSettings
            if case .scalar(let scalar) = node {
                adapter = AdapterSettings(transport: scalar.string)
            } else {
                let part = try SettingsObject(
                    node, file: object.file, path: path, keys: ["transport", "passive"])
                guard let transport = try part.text("transport") else {
                    throw SettingsProblem(
                        file: object.file, line: node.mark?.line, key: path, message: "‘transport’ is missing")
                }
                adapter = AdapterSettings(transport: transport, isPassive: try part.boolean("passive") ?? false)
            }
            do throws(TransportError) { _ = try TransportAddress(adapter.transport) } catch {
                throw SettingsProblem(
                    file: object.file, line: node.mark?.line, key: path, message: error.description)
            }
            if adapters.contains(where: { $0.transport == adapter.transport }) {
                throw SettingsProblem(
                    file: object.file, line: node.mark?.line, key: path, message: "the transport appears twice")
            }
            adapters.append(adapter)
        }
        return adapters
    }

    private static func topics(
        _ object: SettingsObject, into topics: inout GatewayTopics
    ) throws(SettingsProblem) {
        func template(_ key: String, _ use: TopicTemplate.Use) throws(SettingsProblem) -> TopicTemplate? {
            guard let text = try object.text(key) else { return nil }
            do throws(TopicTemplate.Problem) { return try TopicTemplate(text, for: use) } catch {
                throw object.problem(key, "\(error)")
            }
        }
        topics.device = try template("device", .device) ?? topics.device
        topics.status = try template("status", .gateway) ?? topics.status
        topics.presence = try template("presence", .presence) ?? topics.presence
    }

    private static func pace(_ object: SettingsObject, into pace: inout ReportPace) throws(SettingsProblem) {
        pace.interval = try object.span("interval", in: 0...86400) ?? pace.interval
        pace.refresh = try object.span("refresh", in: 0.1...86400) ?? pace.refresh
        pace.rssiChange = try object.number("rssi", in: 0.1...100, "dB") ?? pace.rssiChange
        pace.thresholds = try object.numbers("changes", in: 0...1e9) ?? pace.thresholds
        pace.valueLifetime = try object.span("valueLifetime", in: 1...86400) ?? pace.valueLifetime
    }

    private static func devices(_ object: SettingsObject) throws(SettingsProblem) -> [KnownDevice] {
        var devices: [KnownDevice] = []
        for part in try object.objects("devices", keys: ["address", "name", "key", "interval", "changes"]) {
            guard let address = try part.address("address") else { throw part.problem("address", "is missing") }
            var device = KnownDevice(address: address)
            device.name = try part.text("name")
            device.key = try part.octets("key", counts: [16, 12])
            device.interval = try part.span("interval", in: 0...86400)
            device.thresholds = try part.numbers("changes", in: 0...1e9) ?? [:]
            guard !devices.contains(where: { $0.address == address }) else {
                throw part.problem("address", "the device appears twice")
            }
            devices.append(device)
        }
        return devices
    }

    private static func identities(_ object: SettingsObject) throws(SettingsProblem) -> [KnownIdentity] {
        var identities: [KnownIdentity] = []
        for part in try object.objects("identities", keys: ["name", "irk", "address"]) {
            guard let name = try part.text("name"), !name.isEmpty else { throw part.problem("name", "is missing") }
            guard let key = try part.octets("irk", counts: [16]) else { throw part.problem("irk", "is missing") }
            var identity = KnownIdentity(name: name, irk: key)
            identity.address = try part.address("address")
            guard !identities.contains(where: { $0.name == name }) else {
                throw part.problem("name", "the identity appears twice")
            }
            identities.append(identity)
        }
        return identities
    }
}
