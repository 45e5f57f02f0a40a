import BLEHost
import BLEJSON
import BLEPackets
import BLESensors

/// The topics that Home Assistant knows of a device.
struct AnnouncedTopics {
    var document: String
    var presence: String
    var since: Instant
}

extension Gateway {
    /// How long the topics of a device stay as they were announced. A sender that changes its name with each packet
    /// would otherwise have up to 64 announcements with each document.
    private static let topicPause = Microseconds.seconds(10)

    /// Announces the entities of a device that Home Assistant does not know yet, or knows with other topics.
    /// - Parameter topic: the topic of the document that follows.
    /// - Returns: the topic that Home Assistant knows; if it does not know the device, the same.
    mutating func announce(_ slot: Int, topic: String, at now: Instant) -> String {
        guard let settings = configuration.homeAssistant else { return topic }
        if devices[slot].identity == nil, devices[slot].address.isPrivate, devices[slot].settings == nil {
            return topic
        }
        let known = updateTopics(slot, topic: topic, at: now)
        let device = devices[slot]
        let news = device.values.filter { !device.announced.contains($0.field.name) }
        guard news.isEmpty || mayBeAnnounced(device, limit: settings.deviceLimit, at: now) else {
            counters.unannouncedDocuments += 1
            return topic
        }
        for value in news where mayBeAnnounced(value.field.name, device) {
            // What the value is will be seen when the device knows it.
            if value.field.unit.isEmpty, !value.field.value.isKnown { continue }
            devices[slot].announced.insert(value.field.name)
            guard let entity = HomeAssistantEntity(value.field, expireAfter: settings.expireAfter) else { continue }
            send(discoveryMessage(entity, device, topic: known.document, settings), .entity, device, at: now)
        }
        guard configuration.presence != nil, device.isNamed, !device.isPresenceAnnounced else {
            return known.document
        }
        devices[slot].isPresenceAnnounced = true
        let entity = HomeAssistantEntity(presenceTopic: known.presence)
        send(discoveryMessage(entity, device, topic: known.document, settings), .tracker, device, at: now)
        return known.document
    }

    /// Lets everything be announced again whose topic has changed, because of another adapter or another name.
    private mutating func updateTopics(_ slot: Int, topic: String, at now: Instant) -> AnnouncedTopics {
        let presence = self.topic(configuration.topics.presence, devices[slot])
        let new = AnnouncedTopics(document: topic, presence: presence, since: now)
        guard let known = devices[slot].announcedTopics else {
            devices[slot].announcedTopics = new
            return new
        }
        if known.document == topic, known.presence == presence { return known }
        // Home Assistant would miss an event that follows the announcement at once: it has to subscribe first.
        let hasEvent = devices[slot].values.contains { isEvent($0.field.name) }
        if hasEvent || now < known.since.advanced(by: Self.topicPause) { return known }
        devices[slot].announcedTopics = new
        if known.document != topic { devices[slot].announced.removeAll() }
        if known.presence != presence {
            devices[slot].isPresenceAnnounced = false
            // Nothing else would be published there until the presence changes.
            if let isPresent = presences[addressText(of: devices[slot])]?.isPresent {
                send(presenceMessage(devices[slot], isPresent: isPresent), .presence, devices[slot], at: now)
            }
        }
        return new
    }

    private func discoveryMessage(
        _ entity: HomeAssistantEntity, _ device: HeardDevice, topic: String, _ settings: HomeAssistantSettings
    ) -> GatewayMessage {
        let identifier = identifier(of: device)
        // Several gateways may receive the same device; each has separate entities.
        let node = "jelling_\(plain(configuration.name))_\(identifier)"
        let object = plain(entity.key)
        let words = String(entity.key.map { $0 == "_" ? " " : $0 })
        var members: [JSONValue.Member] = []
        func add(_ key: String, _ value: JSONValue) { members.append(.init(key: key, value: value)) }
        add("name", .string(words.prefix(1).uppercased() + words.dropFirst()))
        add("unique_id", .string("\(node)_\(object)"))
        if entity.component != .deviceTracker {
            add("state_topic", .string(topic))
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
    func plain(_ text: String) -> String {
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
