import BLEJSON
import BLESensors

extension Gateway {
    /// Announces the entities of a device that Home Assistant does not know yet.
    mutating func announce(_ slot: Int) {
        guard let settings = configuration.homeAssistant else { return }
        let device = devices[slot]
        if device.identity == nil, device.address.isPrivate, device.settings == nil { return }
        let news = device.values.filter { !device.announced.contains($0.field.name) }
        guard news.isEmpty || mayBeAnnounced(device, limit: settings.deviceLimit) else {
            counters.unannouncedDocuments += 1
            return
        }
        for value in news where mayBeAnnounced(value.field.name, device) {
            // What the value is will be seen when the device knows it.
            if value.field.unit.isEmpty, !value.field.value.isKnown { continue }
            devices[slot].announced.insert(value.field.name)
            announcedNames[announcementKey(device), default: []].insert(value.field.name)
            guard let entity = HomeAssistantEntity(value.field, expireAfter: settings.expireAfter) else { continue }
            messages.append(discoveryMessage(entity, device, settings))
        }
        guard configuration.presence != nil, device.isNamed, !device.announced.contains("presence") else { return }
        devices[slot].announced.insert("presence")
        let entity = HomeAssistantEntity(presenceTopic: topic(configuration.topics.presence, device))
        messages.append(discoveryMessage(entity, device, settings))
    }

    /// Whether Home Assistant may know the device: announcements are retained, and nobody would remove those of a
    /// sender that invents addresses.
    private mutating func mayBeAnnounced(_ device: HeardDevice, limit: Int) -> Bool {
        if device.isNamed || announcedDevices.contains(device.address.value) { return true }
        guard announcedDevices.count < limit else { return false }
        announcedDevices.insert(device.address.value)
        return true
    }

    /// Whether Home Assistant may know a value of the device: nobody would remove those of a sender that invents them.
    private func mayBeAnnounced(_ name: String, _ device: HeardDevice) -> Bool {
        guard let names = announcedNames[announcementKey(device)] else { return true }
        return names.contains(name) || names.count < HeardDevice.valueLimit
    }

    private func announcementKey(_ device: HeardDevice) -> UInt64 {
        device.identity.map { 1 << 63 | UInt64($0) } ?? device.address.value
    }

    private func discoveryMessage(
        _ entity: HomeAssistantEntity, _ device: HeardDevice, _ settings: HomeAssistantSettings
    ) -> GatewayMessage {
        let identifier = identifier(of: device)
        // Several gateways may receive the same device; each has entities of its own.
        let node = "jelling_\(plain(configuration.name))_\(identifier)"
        let object = plain(entity.key)
        let words = String(entity.key.map { $0 == "_" ? " " : $0 })
        var members: [JSONValue.Member] = []
        func add(_ key: String, _ value: JSONValue) { members.append(.init(key: key, value: value)) }
        add("name", .string(words.prefix(1).uppercased() + words.dropFirst()))
        add("unique_id", .string("\(node)_\(object)"))
        if entity.component != .deviceTracker {
            add("state_topic", .string(topic(configuration.topics.device, device, adapter: "")))
        }
        members += entity.members
        add("availability_topic", .string(statusTopic))
        var description: JSONValue = [
            "identifiers": .array([.string("jelling_\(identifier)")]),
            "name": .string(name(of: device) ?? addressText(of: device)),
        ]
        if device.identity == nil {
            description = description.adding(
                "connections", .array([.array(["bluetooth", .string(device.address.addressText)])]))
        }
        if let model = device.reports.lazy.compactMap(\.model).first {
            description = description.adding("model", .string(model))
        }
        add("device", description)
        add("origin", ["name": "jelling-gateway", "sw_version": .string(gatewayVersion)])
        var payload: [UInt8] = []
        JSONValue.object(members).write(into: &payload)
        return GatewayMessage(
            kind: .discovery, topic: "\(settings.prefix)/\(entity.component.rawValue)/\(node)/\(object)/config",
            payload: payload, isRetained: true)
    }

    /// The text with only the characters that Home Assistant accepts in discovery topics.
    private func plain(_ text: String) -> String {
        String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    }
}

extension SensorValue {
    fileprivate var isKnown: Bool {
        switch self {
        case .unknown, .invalid: false
        default: true
        }
    }
}
