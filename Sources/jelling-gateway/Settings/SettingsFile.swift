import BLE
import BLEGateway
import BLEText
import Yams

/// Reads the settings file: YAML, which includes JSON.
enum SettingsFile {
    static let keys = SettingsRule.fileKeys

    /// - Parameters:
    ///   - settings: what the file sets is changed in them.
    ///   - review: gets the problems, and the lines of all keys.
    static func read(_ text: String, into settings: inout GatewaySettings, _ review: SettingsReview) {
        guard let root = parse(text, review) else { return }
        let object = SettingsObject(root, review, path: "", keys: keys)
        if let name = object.text("name") {
            if isName(name) { settings.gateway.name = name } else { object.report("name", problem(ofName: name)) }
        }
        if object.has("adapters") { settings.adapters = adapters(object) }
        if let part = object.object("mqtt", keys: brokerKeys) { settings.broker = broker(part) }
        if let part = object.object("topics", keys: ["device", "status", "presence"]) {
            topics(part, into: &settings.gateway.topics)
        }
        if let part = object.object("queue", keys: ["path", "memory", "messages", "megabytes", "drop"]) {
            settings.queue.path = part.text("path") ?? settings.queue.path
            settings.queue.isInMemory = part.boolean("memory") ?? false
            settings.queue.limit =
                part.integer("messages", in: 100...10_000_000, "messages") ?? settings.queue.limit
            if let size = part.integer("megabytes", in: 1...1_000_000, "megabytes") {
                settings.queue.sizeLimit = size << 20
            }
            settings.queue.overflow = part.choice("drop", QueueSettings.Overflow.self) ?? .oldest
        }
        let paceKeys = ["interval", "refresh", "rssi", "changes", "valueLifetime", "retain"]
        if let part = object.object("publish", keys: paceKeys) {
            pace(part, into: &settings.gateway.pace)
            settings.gateway.retainsDocuments = part.boolean("retain") ?? false
        }
        if let part = object.object("filters", keys: ["allow", "deny", "rssi", "privateAddresses"]) {
            filter(part, into: &settings.gateway.filter)
        }
        if object.has("presence") {
            var presence = PresenceRule()
            if let part = object.object("presence", keys: ["timeout", "enter", "leave"]) {
                presence.timeout = part.span("timeout", in: 1...86400) ?? presence.timeout
                presence.enter = part.number("enter", in: -127...20, "dBm") ?? presence.enter
                presence.leave = part.number("leave", in: -127...20, "dBm") ?? presence.enter
                if presence.leave > presence.enter { part.report("leave", "has to be at most ‘enter’") }
            }
            settings.gateway.presence = presence
        }
        if let part = object.object("smoothing", keys: ["time", "adapterTimeout"]) {
            settings.gateway.smoothing.timeConstant = part.span("time", in: 0...3600) ?? .seconds(5)
            settings.gateway.smoothing.adapterTimeout = part.span("adapterTimeout", in: 1...3600) ?? .seconds(10)
        }
        if object.has("devices") { settings.gateway.devices = devices(object) }
        if object.has("identities") { settings.gateway.identities = identities(object) }
        settings.bonds = object.text("bonds") ?? settings.bonds
        if object.has("homeAssistant") {
            var part = HomeAssistantSettings()
            if let object = object.object("homeAssistant", keys: ["prefix", "expireAfter", "devices"]) {
                if let prefix = object.text("prefix") {
                    if let problem = problem(ofPrefix: prefix) { object.report("prefix", problem) }
                    part.prefix = prefix
                }
                part.expireAfter = object.integer("expireAfter", in: 0...86400, "seconds") ?? part.expireAfter
                part.deviceLimit = object.integer("devices", in: 0...16384, "devices") ?? part.deviceLimit
            }
            settings.gateway.homeAssistant = part
        }
        if let part = object.object("http", keys: httpKeys) { settings.http = http(part) }
        if object.has("esphome") { settings.esphome = proxy(object) }
        if object.has("matter") { settings.matter = matter(object) }
        if object.has("gatt") { requests(object, into: &settings) }
        if let part = object.object("watchdog", keys: ["silence", "attempts"]) {
            settings.watchdog.silence =
                part.number("silence", in: 0...86400, "seconds") ?? settings.watchdog.silence
            settings.watchdog.attempts = part.integer("attempts", in: 0...1000, "reopenings") ?? 0
        }
        settings.state = object.text("state") ?? settings.state
    }

    private static func parse(_ text: String, _ review: SettingsReview) -> Node? {
        func problem(_ line: Int?, _ message: String, key: String = "") {
            review.add(SettingsProblem(file: review.file, line: line, key: key, message: message))
        }
        do {
            return try Yams.compose(yaml: text)
        } catch let error as YamlError {
            switch error {
            case .scanner(_, let text, let mark, _), .parser(_, let text, let mark, _),
                .composer(_, let text, let mark, _):
                problem(mark.line, "this is not YAML: \(text)")
            case .duplicatedKeysInMapping(let duplicates, let context):
                problem(context.mark.line, "the key appears twice", key: duplicates.first ?? "")
            case .reader(let text, _, _, _): problem(nil, "this is not YAML: \(text)")
            default: problem(nil, "this is not YAML: \(error)")
            }
        } catch {
            problem(nil, "this is not YAML: \(error)")
        }
        return nil
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

    private static func adapters(_ object: SettingsObject) -> [AdapterSettings] {
        var adapters: [AdapterSettings] = []
        for (path, node) in object.list("adapters") {
            func report(_ message: String) { object.report(path, node.mark?.line, message) }
            object.review.note(path, line: node.mark?.line)
            var adapter: AdapterSettings
            if case .scalar(let scalar) = node {
                adapter = AdapterSettings(transport: scalar.string)
            } else {
                let part = SettingsObject(node, object.review, path: path, keys: ["transport", "passive"])
                guard let transport = part.text("transport") else {
                    if case .mapping = node, !part.has("transport") { report("‘transport’ is missing") }
                    continue
                }
                adapter = AdapterSettings(transport: transport, isPassive: part.boolean("passive") ?? false)
            }
            do throws(TransportError) { _ = try TransportAddress(adapter.transport) } catch {
                report(error.description)
                continue
            }
            if adapters.contains(where: { $0.transport == adapter.transport }) {
                report("the transport appears twice")
            } else {
                adapters.append(adapter)
            }
        }
        return adapters
    }

    private static func topics(_ object: SettingsObject, into topics: inout GatewayTopics) {
        func template(_ key: String, _ use: TopicTemplate.Use) -> TopicTemplate? {
            guard let text = object.text(key) else { return nil }
            do throws(TopicTemplate.Problem) { return try TopicTemplate(text, for: use) } catch {
                object.report(key, "\(error)")
                return nil
            }
        }
        topics.device = template("device", .device) ?? topics.device
        topics.status = template("status", .gateway) ?? topics.status
        topics.presence = template("presence", .presence) ?? topics.presence
        guard topics.presence == topics.device else { return }
        object.report(
            object.has("presence") ? "presence" : "device", "‘device’ and ‘presence’ need different topics")
    }

    /// Why a text cannot be the first levels of discovery topics; `nil` if it can.
    private static func problem(ofPrefix text: String) -> String? {
        do throws(TopicTemplate.Problem) { _ = try TopicTemplate(text, for: .gateway) } catch { return "\(error)" }
        if text.contains("{") { return "nothing in braces is replaced here" }
        return text.hasPrefix("/") || text.hasSuffix("/") ? "it begins or ends with ‘/’" : nil
    }

    private static func pace(_ object: SettingsObject, into pace: inout ReportPace) {
        pace.interval = object.span("interval", in: 0...86400) ?? pace.interval
        pace.refresh = object.span("refresh", in: 0.1...86400) ?? pace.refresh
        pace.rssiChange = object.number("rssi", in: 0.1...100, "dB") ?? pace.rssiChange
        pace.thresholds = object.numbers("changes", in: 0...1e9) ?? pace.thresholds
        pace.valueLifetime = object.span("valueLifetime", in: 1...86400) ?? pace.valueLifetime
    }

    private static func devices(_ object: SettingsObject) -> [KnownDevice] {
        var devices: [KnownDevice] = []
        for part in object.objects("devices", keys: ["address", "name", "location", "key", "interval", "changes"]) {
            let address = part.required("address", part.address("address"))
            var device = KnownDevice(address: address ?? 0)
            device.name = part.text("name")
            device.location = part.text("location")
            device.key = part.octets("key", counts: [16, 12])
            device.interval = part.span("interval", in: 0...86400)
            device.thresholds = part.numbers("changes", in: 0...1e9) ?? [:]
            guard let address else { continue }
            if devices.contains(where: { $0.address == address }) {
                part.report("address", "the device appears twice")
            } else {
                devices.append(device)
            }
        }
        return devices
    }

    private static func identities(_ object: SettingsObject) -> [KnownIdentity] {
        var identities: [KnownIdentity] = []
        for part in object.objects("identities", keys: ["name", "irk", "address"]) {
            let name = part.required("name", part.text("name"))
            let key = part.required("irk", part.octets("irk", counts: [16]))
            var identity = KnownIdentity(name: name, irk: key)
            identity.address = part.address("address")
            guard let name, key != nil else { continue }
            if identities.contains(where: { $0.name == name }) {
                part.report("name", "the identity appears twice")
            } else {
                identities.append(identity)
            }
        }
        return identities
    }
}
