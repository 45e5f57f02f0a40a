import BLEHost
import BLEPackets

/// What is retained at the broker, and whether it is still true.
extension Gateway {
    /// The wall clock was set if it goes on from here, in microseconds; less is how it is kept right.
    private static let clockStep: UInt64 = 60_000_000
    /// How often devices that are silent are looked for.
    static let reviewPause = Microseconds.seconds(60)
    /// A device that was received no longer than this did not come again.
    private static let onceSpan = Microseconds.seconds(60)
    /// A device that was received over this time is known for long.
    private static let longSpan = Microseconds.seconds(86_400)
    /// How long a device is silent at least before it makes room for another one.
    private static let shortSilence = Microseconds.seconds(300)
    /// How long the announcements of a device stay that is known for long and silent.
    private static let longSilence = Microseconds(rawValue: 30 * 86_400_000_000)

    // MARK: The session and the disk

    /// Takes over what an earlier run of the program stated, before the first packet; what is no longer true is
    /// withdrawn.
    /// - Parameter unix: the time in microseconds since 1970.
    public mutating func restore(_ record: RetainedRecord, at now: Instant, unix: Int64) {
        unixOffset = unix - now.microseconds
        retained.restore(record, at: now, toInstant: instant)
        latest = max(latest, now)
        filterReviews = Set(retained.owners.keys)
        restorePresence()
        reconcile()
        nextSweep = now
    }

    /// Follows the wall clock, which may be set while the gateway runs. Only what is on disk needs it: everything else
    /// goes by the engine's clock.
    /// - Parameter unix: the time in microseconds since 1970.
    mutating func follow(clock unix: Int64, at now: Instant) {
        let offset = unix - now.microseconds
        let step = offset.subtractingReportingOverflow(unixOffset)
        unixOffset = offset
        guard step.overflow || step.partialValue.magnitude >= Self.clockStep, !retained.owners.isEmpty else { return }
        retained.clockWasSet(at: now, toInstant: instant)
    }

    /// The devices and identities of the configuration.
    mutating func prepareNames() {
        named = [:]
        namedOrder = []
        func add(_ owner: String, _ name: String?) {
            guard named[owner] == nil else { return }
            named[owner] = .some(name)
            namedOrder.append(owner)
        }
        func text(_ address: UInt64) -> String { DeviceAddress(value: address, kind: .public).addressText }
        for identity in configuration.identities {
            let settings = identity.address.flatMap { settingsOfAddress[$0] }
            let name = settings.flatMap { configuration.devices[$0].name } ?? identity.name
            if let owner = identity.address.map(text) ?? identity.name { add(owner, name) }
        }
        for device in configuration.devices { add(text(device.address), device.name) }
        preparePresence()
    }

    /// A session with the broker has begun, and the broker may have lost everything: everything is stated again.
    public mutating func sessionBegan(at now: Instant) {
        latest = max(latest, now)
        // In this order: devices of the settings, those known for long, strangers.
        let ranks = retained.owners.mapValues { owner in
            owner.firstHeard.distance(to: owner.lastHeard) >= Self.longSpan ? 1 : 2
        }
        let known = named
        retained.sessionBegan(at: now) { known[$0] != nil || $0.isEmpty ? 0 : ranks[$0] ?? 2 }
    }

    /// Messages that make true what the broker retains, when no other message waits.
    /// - Parameter mayBeSent: whether a message for the topic may be sent now.
    public mutating func nextStatements(limit: Int, mayBeSent: (String) -> Bool) -> [GatewayMessage] {
        retained.next(limit: limit, mayBeSent: mayBeSent).map { statement in
            let kind: GatewayMessage.Kind =
                switch statement.kind {
                case .document: .document
                case .entity, .tracker: .discovery
                case .presence, .status: .presence
                }
            if statement.isWithdrawn { counters.withdrawals += 1 }
            return GatewayMessage(
                kind: kind, topic: statement.topic, payload: statement.payload ?? [], isRetained: true)
        }
    }

    /// Whether `nextStatements` may have something.
    public var hasStatements: Bool { retained.hasPending }
    /// The number of topics for which the broker retains something.
    public var retainedCount: Int { retained.count }
    /// The number of topics whose message the broker still has to remove.
    public var withdrawnCount: Int { retained.withdrawnCount }

    /// Notes what became of a retained message.
    public mutating func settled(topic: String, payload: [UInt8], _ outcome: RetainedOutcome) {
        retained.settled(topic, payload, outcome, at: latest)
    }

    /// Whether changes are collected for `drainRetainedChanges`.
    public mutating func collectsRetainedChanges(_ isCollecting: Bool) { retained.collectsChanges(isCollecting) }

    /// What has changed since the last call, for the disk.
    public mutating func drainRetainedChanges() -> RetainedRecord { retained.drainChanges(toUnix: unixSeconds) }

    /// Everything that is retained, for the disk.
    public var retainedRecord: RetainedRecord { retained.everything(toUnix: unixSeconds) }

    private func unixSeconds(_ instant: Instant) -> Int64 { (instant.microseconds &+ unixOffset) / 1_000_000 }

    private func instant(unixSeconds seconds: Int64) -> Instant {
        Instant(microseconds: max(0, min(seconds, 1 << 40)) * 1_000_000 - unixOffset)
    }

    // MARK: Stating

    /// Sends a message, and notes what it states if it is retained. Without room it is not retained.
    mutating func send(
        _ message: GatewayMessage, _ kind: RetainedStatement.Kind, _ device: HeardDevice, at now: Instant
    ) {
        guard message.isRetained else { return messages.append(message) }
        let owner = addressText(of: device)
        // A repetition would be another press of the button.
        let isRepeatable = kind != .document || !device.saysEvent
        let statement = RetainedStatement(
            topic: message.topic, kind: kind, owner: owner, basis: basis(of: kind, owner: owner),
            payload: isRepeatable ? message.payload : nil)
        var message = message
        message.isRetained = retained.state(
            statement, isNamed: device.isNamed, isResolved: device.address.isResolved, at: now)
        // An announcement that is not retained would be unknown after the next start of Home Assistant.
        if !message.isRetained, message.kind == .discovery { return }
        messages.append(message)
        if nextReview == nil { nextReview = now.advanced(by: Self.reviewPause) }
    }

    /// What the settings make of the topics in a statement.
    func basis(of kind: RetainedStatement.Kind, owner: String) -> String {
        func topic(_ template: TopicTemplate) -> String {
            template.topic { placeholder in
                switch placeholder {
                case .gateway: configuration.name
                case .address: owner
                case .id: Self.identifier(owner)
                // What the device calls itself, and which adapter receives it, changes without the settings.
                case .name: named[owner].flatMap(\.self) ?? ""
                case .adapter: ""
                }
            }
        }
        func announced(_ template: TopicTemplate) -> String {
            "\(topic(template))\n\(statusTopic)\n\(configuration.homeAssistant?.prefix ?? "")\n\(configuration.name)"
        }
        return switch kind {
        case .status: statusTopic
        case .presence: topic(configuration.topics.presence)
        case .document: topic(configuration.topics.device)
        case .entity: announced(configuration.topics.device)
        case .tracker: announced(configuration.topics.presence)
        }
    }

    // MARK: Truth

    /// Withdraws what the configuration makes untrue.
    mutating func reconcile() {
        let now = latest
        for statement in retained.statements where !isTrue(statement) { retained.withdraw(statement.topic) }
        // The session itself publishes it.
        let status = RetainedStatement(topic: statusTopic, kind: .status, owner: "", basis: statusTopic, payload: nil)
        _ = retained.state(status, isNamed: true, isResolved: false, at: now)
        announcedStrangers = Set(
            retained.statements.filter { $0.kind == .entity && !isNamed($0.owner) }.map(\.owner))
        withdrawAnnouncements(of: strangersByMerit.dropFirst(configuration.homeAssistant?.deviceLimit ?? 0))
        statePresences(at: now)
        nextReview = earliest(nextReview, now.advanced(by: Self.reviewPause))
    }

    private func isTrue(_ statement: RetainedStatement) -> Bool {
        switch statement.kind {
        case .status: break
        case .presence: if configuration.presence == nil || !isNamed(statement.owner) { return false }
        case .document: if !configuration.retainsDocuments { return false }
        case .entity: if configuration.homeAssistant == nil { return false }
        case .tracker:
            let isWanted = configuration.homeAssistant != nil && configuration.presence != nil
            if !isWanted || !isNamed(statement.owner) { return false }
        }
        return statement.basis == basis(of: statement.kind, owner: statement.owner)
    }

    /// Whether the settings name the device, or a bond does.
    func isNamed(_ owner: String) -> Bool {
        named[owner] != nil || !owner.isEmpty && retained.owners[owner]?.isResolved == true
    }

    /// The devices without settings that are announced, those that have to go first last.
    private var strangersByMerit: [String] {
        announcedStrangers.compactMap { name in retained.owners[name].map { (name, $0) } }.sorted { one, other in
            let (first, second) = (merit(one.1), merit(other.1))
            return (first, one.1.lastHeard.microseconds, other.0) > (second, other.1.lastHeard.microseconds, one.0)
        }.map(\.0)
    }

    private func merit(_ owner: RetainedTable.Owner) -> Int {
        let span = owner.firstHeard.distance(to: owner.lastHeard)
        return span >= Self.longSpan ? 2 : span >= Self.onceSpan ? 1 : 0
    }

    /// How long a device without settings is silent before it makes room, and before its announcements are withdrawn.
    private func patience(_ owner: RetainedTable.Owner) -> (room: Microseconds, end: Microseconds) {
        switch merit(owner) {
        case 0: (Self.shortSilence, .seconds(3600))
        case 1: (.seconds(3600), Self.longSpan)
        default: (Self.longSilence, Self.longSilence)
        }
    }

    /// Whether Home Assistant may know a device: announcements are retained, and a sender that invents addresses could
    /// fill it. A device that was silent for long, or did not come again, makes room.
    mutating func mayBeAnnounced(_ device: HeardDevice, limit: Int, at now: Instant) -> Bool {
        if device.isNamed { return true }
        let owner = addressText(of: device)
        if announcedStrangers.contains(owner) { return true }
        if announcedStrangers.count >= limit { makeRoom(limit: limit, at: now) }
        guard announcedStrangers.count < limit else { return false }
        announcedStrangers.insert(owner)
        return true
    }

    private mutating func makeRoom(limit: Int, at now: Instant) {
        // The search looks at all of them, and a sender of ever new addresses would cause one with each packet.
        if let last = lastSearch, now < last.advanced(by: .seconds(1)) { return }
        lastSearch = now
        refreshOwners()
        let silent = announcedStrangers.filter { name in
            guard let owner = retained.owners[name] else { return true }
            return owner.lastHeard.advanced(by: patience(owner).room) <= now
        }
        // Several, so that the next ones need no search.
        withdrawAnnouncements(
            of: strangersByMerit.reversed().filter(silent.contains).prefix(max(1, limit / 16)))
        // Those had nothing to announce.
        for name in silent where retained.owners[name] == nil { announcedStrangers.remove(name) }
    }

    /// Whether Home Assistant may know a value of the device: nothing would remove those of a sender that invents them.
    func mayBeAnnounced(_ name: String, _ device: HeardDevice) -> Bool {
        let known = retained.statements(of: addressText(of: device)).filter { $0.kind == .entity }
        return known.count < HeardDevice.valueLimit || known.contains { $0.topic.hasSuffix("/\(plain(name))/config") }
    }

    private mutating func withdrawAnnouncements(of owners: some Collection<String>) {
        guard !owners.isEmpty else { return }
        for owner in owners {
            for statement in retained.statements(of: owner)
            where statement.kind == .entity || statement.kind == .tracker {
                retained.withdraw(statement.topic)
            }
            announcedStrangers.remove(owner)
        }
        // If they come again, they are announced again.
        let gone = Set(owners)
        for slot in devices.indices where !devices[slot].announced.isEmpty {
            if gone.contains(addressText(of: devices[slot])) { devices[slot].announced.removeAll() }
        }
    }

    /// The device was forgotten: its document is no longer true, unless the settings name it.
    mutating func withdrawDocument(of device: HeardDevice) {
        guard !device.isNamed, !retained.owners.isEmpty else { return }
        for statement in retained.statements(of: addressText(of: device)) where statement.kind == .document {
            retained.withdraw(statement.topic)
        }
    }

    /// The filter lets a device pass, or not, for the first time since it may have changed.
    mutating func review(_ device: HeardDevice, isAllowed: Bool) {
        guard !filterReviews.isEmpty else { return }
        let owner = addressText(of: device)
        guard filterReviews.remove(owner) != nil, !isAllowed else { return }
        withdrawAnnouncements(of: [owner])
        for statement in retained.statements(of: owner) where statement.kind == .document {
            retained.withdraw(statement.topic)
        }
    }

    /// Withdraws what belongs to devices that are silent for too long.
    mutating func reviewRetained(at now: Instant) {
        guard retained.count > 0 else {
            nextReview = nil
            return
        }
        nextReview = now.advanced(by: Self.reviewPause)
        refreshOwners()
        for name in retained.owners.keys.sorted() where !name.isEmpty && named[name] == nil {
            guard let owner = retained.owners[name] else { continue }
            let silence = owner.lastHeard.distance(to: now)
            let end = owner.isResolved ? Self.longSilence : patience(owner).end
            guard silence >= min(configuration.memory, end) else { continue }
            for statement in retained.statements(of: name) {
                if silence >= (statement.kind == .document ? configuration.memory : end) {
                    retained.withdraw(statement.topic)
                }
            }
            if silence >= end { announcedStrangers.remove(name) }
        }
    }

    /// Notes when the devices of which something is retained were received.
    private mutating func refreshOwners() {
        for device in devices where device.isInUse && device.lastPublished != nil {
            retained.received(addressText(of: device), at: device.lastHeard)
        }
    }
}
