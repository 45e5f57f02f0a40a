import BLEHost
import BLEPackets
import BLESensors

/// Turns packets from the radio into messages for the broker: a machine without I/O, clock and threads.
///
///     received ──content changed──▶ decode ──news──▶ wait for the interval ──▶ document
///       │                                                                     ▲
///       └──same content──▶ signal, presence ──refresh, strength moved─────────┘
///
/// Inputs are packets and the time; outputs are messages, in order. `GatewayConfiguration.deviceLimit` bounds the
/// memory.
public struct Gateway: Sendable {
    public private(set) var configuration: GatewayConfiguration
    public internal(set) var counters = GatewayCounters()
    /// The transports of the adapters.
    public private(set) var adapters: [String] = []

    var devices: [HeardDevice] = []
    private var free: [Int] = []
    private var slotOfKey: [UInt64: Int] = [:]
    private(set) var settingsOfAddress: [UInt64: Int] = [:]
    /// The thresholds of each device in the configuration; `nil`: those of all devices.
    private var thresholdsOfSettings: [[String: Double]?] = []
    private var resolver: IdentityResolver
    private var keys: SensorKeys?
    let encrypt: SensorKeys.Encrypt?

    var messages: [GatewayMessage] = []
    var notices: [GatewayNotice] = []
    /// What is known of devices whose keys the configuration has, or had.
    var guards: [GuardKey: ProtectedDevice] = [:]
    /// The keys of the configuration, by the addresses of their devices.
    var guardKeys: [UInt64: GuardKey] = [:]
    /// The keys that the configuration had before and whose packets are remembered, the oldest first.
    var retiredKeys: [GuardKey] = []
    /// The number of encrypted packets that were received: `heardPackets` changes with it.
    public internal(set) var heardPacketCount: UInt64 = 0
    /// Devices that are no longer remembered, for those who watch.
    var forgotten: [String] = []
    /// The slots of devices whose documents wait.
    private var pending: [Int] = []
    private var nextDue: Instant?
    var nextSweep: Instant?
    /// What the broker retains.
    var retained = RetainedTable()
    /// The devices of the settings as statements name them, with their names in the settings.
    var named: [String: String?] = [:]
    /// The same in the order of the settings.
    var namedOrder: [String] = []
    /// Whether devices of the settings, and others that a bond names, are present.
    var presences: [String: PresenceTrack] = [:]
    /// The devices without settings that Home Assistant knows; bounded by `HomeAssistantSettings.deviceLimit`.
    var announcedStrangers: Set<String> = []
    /// Devices of which something is retained, and which the filter may not let pass any more.
    var filterReviews: Set<String> = []
    /// When to look for what is retained of devices that are silent.
    var nextReview: Instant?
    /// When it was last looked for devices that make room in Home Assistant.
    var lastSearch: Instant?
    /// The latest time of an input.
    var latest = Instant.zero
    /// From the engine's clock to microseconds since 1970.
    var unixOffset: Int64 = 0
    private var lastAnnouncement: Instant?

    /// Documents that are due within this time are sent together, in microseconds.
    private static let grain: Int64 = 20_000

    /// - Parameter encrypt: AES-128, to decrypt sensor data and resolve private addresses; `nil`: neither is done.
    public init(configuration: GatewayConfiguration, encrypt: SensorKeys.Encrypt? = nil) {
        self.configuration = configuration
        self.encrypt = encrypt
        resolver = IdentityResolver(identities: configuration.identities, encrypt: encrypt)
        prepare()
        if !presences.isEmpty { nextSweep = .zero }
    }

    private mutating func prepare() {
        resolver = IdentityResolver(identities: configuration.identities, encrypt: encrypt)
        settingsOfAddress.removeAll()
        let common = configuration.pace.thresholds
        thresholdsOfSettings = configuration.devices.map { device in
            device.thresholds.isEmpty ? nil : common.merging(device.thresholds) { _, own in own }
        }
        keys = encrypt.map { SensorKeys(encrypt: $0) }
        for (index, device) in configuration.devices.enumerated() {
            settingsOfAddress[device.address] = index
            guard let key = device.key else { continue }
            keys?.add(key, for: DeviceAddress(value: device.address, kind: .public))
        }
        prepareGuards()
        prepareNames()
    }

    /// The number of remembered devices.
    public var deviceCount: Int { devices.count - free.count }

    /// Replaces the configuration. The gateway keeps its devices unless the identities have changed.
    public mutating func configure(_ configuration: GatewayConfiguration) {
        let old = self.configuration
        let oldKeys = guardKeys
        self.configuration = configuration
        prepare()
        if old.identities != configuration.identities || old.deviceLimit > configuration.deviceLimit {
            devices.removeAll()
            free.removeAll()
            slotOfKey.removeAll()
            pending.removeAll()
            nextDue = nil
            nextSweep = nil
        }
        for slot in devices.indices where devices[slot].isInUse {
            devices[slot].settings = settings(of: devices[slot].address, identity: devices[slot].identity)
            devices[slot].forgetAnnouncements()
            devices[slot].announcedTopics = nil
            // Without its key the device says nothing of what it said before.
            let address = devices[slot].address.value
            if oldKeys[address] != guardKeys[address] {
                devices[slot].values = []
                devices[slot].reports = []
            }
            // Keys, names and filters may have changed: decode the next packet even if it is the same.
            devices[slot].advertisement = []
            devices[slot].publishedValues = [:]
            devices[slot].hasNews = true
            devices[slot].isShown = configuration.filter.allows(subject(devices[slot]))
        }
        if old.filter != configuration.filter { filterReviews = Set(retained.owners.keys) }
        reconcile()
        nextSweep = .zero
    }

    /// Sets the transports of the adapters; sightings refer to their indexes. An index must keep its adapter.
    public mutating func setAdapters(_ names: [String]) { adapters = names }

    /// The shortest time between two announcements of everything.
    private static let announcementPause = Microseconds.seconds(10)

    /// Announces every entity to Home Assistant again with the next document of its device. Anyone who may publish at
    /// the broker can cause this, so it does nothing within 10 s after the last time.
    public mutating func announceAgain(at now: Instant) {
        if let last = lastAnnouncement, now < last.advanced(by: Self.announcementPause) { return }
        lastAnnouncement = now
        for slot in devices.indices { devices[slot].forgetAnnouncements() }
        // Home Assistant has just started and knows nothing: do not wait for the next refresh.
        for slot in devices.indices where devices[slot].isInUse { devices[slot].lastPublished = nil }
    }

    /// The messages since the last call, in order.
    public mutating func drainMessages() -> [GatewayMessage] {
        defer { messages.removeAll(keepingCapacity: true) }
        return messages
    }

    /// The notices since the last call, in order.
    public mutating func drainNotices() -> [GatewayNotice] {
        guard !notices.isEmpty else { return [] }
        defer { notices.removeAll() }
        return notices
    }

    // MARK: Time

    /// When to call `advance`; `nil`: not before the next packet.
    public var nextDeadline: Instant? {
        let due = nextDue.map { Instant(microseconds: ($0.microseconds + Self.grain - 1) / Self.grain * Self.grain) }
        return earliest(earliest(due, nextSweep), nextReview)
    }

    /// Creates the messages that are due.
    public mutating func advance(to now: Instant) {
        latest = max(latest, now)
        if let next = nextDue, next <= now {
            nextDue = nil
            var rest: [Int] = []
            for slot in pending {
                guard devices[slot].isInUse, let due = devices[slot].due else {
                    devices[slot].isPending = false
                    continue
                }
                if due <= now {
                    devices[slot].due = nil
                    devices[slot].isPending = false
                    publish(slot, at: now)
                } else {
                    rest.append(slot)
                    nextDue = earliest(nextDue, due)
                }
            }
            pending = rest
        }
        if let next = nextSweep, next <= now { sweep(at: now) }
        if let next = nextReview, next <= now { reviewRetained(at: now) }
    }

    private mutating func schedule(_ slot: Int, due: Instant, at now: Instant) {
        if due <= now {
            // The waiting document would contain less than this one.
            devices[slot].due = nil
            return publish(slot, at: now)
        }
        counters.heldChanges += 1
        if let earlier = devices[slot].due, earlier <= due { return }
        devices[slot].due = due
        if !devices[slot].isPending {
            devices[slot].isPending = true
            pending.append(slot)
        }
        nextDue = earliest(nextDue, due)
    }

    // MARK: Hearing

    /// Handles a packet of a device.
    /// - Parameters:
    ///   - now: the time on the engine's clock.
    ///   - unix: the same time in microseconds since 1970.
    public mutating func receive(_ sighting: Sighting, at now: Instant, unix: Int64) {
        counters.reports += 1
        latest = max(latest, now)
        follow(clock: unix, at: now)
        let isWeak = configuration.filter.minimumRSSI.map { sighting.rssi < $0 } ?? false
        guard let address = sighting.address, !isWeak, let slot = slot(for: address, at: now) else {
            counters.ignoredReports += 1
            return
        }
        let isFirst = devices[slot].signals.isEmpty
        devices[slot].address = address
        let content = readContent(slot, sighting, at: now)
        guard content != .refused else { return }
        devices[slot].lastHeard = now
        devices[slot].heardUnix = unix
        devices[slot].isConnectable = sighting.isConnectable
        track(slot, sighting, at: now)
        if configuration.presence != nil { checkPresence(slot, at: now) }

        let pace = configuration.pace
        let interval = devices[slot].settings.flatMap { configuration.devices[$0].interval } ?? pace.interval
        guard let last = devices[slot].lastPublished else { return schedule(slot, due: now, at: now) }
        if content == .news {
            var due = last.advanced(by: interval)
            if devices[slot].saysEvent { due = min(due, devices[slot].nextEvent(at: now)) }
            schedule(slot, due: due, at: now)
        } else if last.advanced(by: pace.refresh) <= now || isFirst {
            schedule(slot, due: now, at: now)
        } else if let change = pace.rssiChange, let signal = best(slot),
            (signal.smoothed - devices[slot].publishedRSSI).magnitude >= change
        {
            schedule(slot, due: last.advanced(by: interval), at: now)
        }
    }

    func best(_ slot: Int) -> SignalTrack? { devices[slot].best(timeout: configuration.smoothing.adapterTimeout) }

    private mutating func track(_ slot: Int, _ sighting: Sighting, at now: Instant) {
        guard sighting.rssi != 127 else { return }
        let constant = configuration.smoothing.timeConstant
        for index in devices[slot].signals.indices where devices[slot].signals[index].adapter == sighting.adapter {
            return devices[slot].signals[index].receive(sighting.rssi, timeConstant: constant, at: now)
        }
        devices[slot].signals.append(SignalTrack(adapter: sighting.adapter, rssi: sighting.rssi, at: now))
    }

    /// What a packet means for the device.
    private enum Content {
        case news, known
        /// Somebody may have recorded it: it does not count at all.
        case refused
    }

    /// Decodes the packet unless it is the same as the previous one.
    private mutating func readContent(_ slot: Int, _ sighting: Sighting, at now: Instant) -> Content {
        if devices[slot].advertisement == sighting.advertisement,
            devices[slot].scanResponse == sighting.scanResponse
        {
            return .known
        }
        counters.changedReports += 1
        let oldName = devices[slot].data.localName
        let data = AdvertisingData(
            advertisement: sighting.advertisement.span.bytes,
            scanResponse: sighting.scanResponse.isEmpty ? nil : sighting.scanResponse.span.bytes)
        var reports = SensorReport.reports(in: data, from: devices[slot].address.withoutIdentityMark, keys: keys)
        switch judge(&reports, slot, at: now) {
        case .current: break
        case .late: return .known
        case .refused: return .refused
        }
        counters.droppedValues += UInt64(limitFields(&reports))
        dropRepeatedEvents(&reports, slot)
        devices[slot].hasNews = true
        devices[slot].advertisement = sighting.advertisement
        devices[slot].scanResponse = sighting.scanResponse
        devices[slot].data = data
        devices[slot].reports = reports
        let removed = devices[slot].merge(reports, lifetime: configuration.pace.valueLifetime, at: now)
        counters.droppedValues += UInt64(removed)
        let isUnreadable = reports.contains { $0.encryption == .needsKey || $0.encryption == .wrongKey }
        if isUnreadable { counters.unreadableReports += 1 }
        if data.localName != oldName, data.localName != nil { return .news }
        // Encrypted data differs in each packet.
        if devices[slot].values.isEmpty { return isUnreadable ? .known : .news }
        let thresholds = devices[slot].settings.flatMap { thresholdsOfSettings[$0] } ?? configuration.pace.thresholds
        return devices[slot].differs(thresholds: thresholds) ? .news : .known
    }

    /// Removes the fields of a packet beyond the maximum number of values.
    /// - Returns: how many these were.
    private func limitFields(_ reports: inout [SensorReport]) -> Int {
        var room = HeardDevice.valueLimit
        var removed = 0
        for index in reports.indices {
            let excess = max(0, reports[index].fields.count - room)
            reports[index].fields.removeLast(excess)
            removed += excess
            room -= reports[index].fields.count
        }
        return removed
    }

    // MARK: Slots

    private static func key(_ address: DeviceAddress) -> UInt64 { address.value | (address.isRandom ? 1 << 48 : 0) }
    private static func key(identity: Int) -> UInt64 { 1 << 63 | UInt64(identity) }

    private mutating func slot(for address: DeviceAddress, at now: Instant) -> Int? {
        let key = Self.key(address)
        if let slot = slotOfKey[key] {
            let isCurrent = devices[slot].identity == nil || Self.key(devices[slot].address) == key
            if isCurrent { return slot }
            // The identity has used another address in between.
            return adopt(key, slot)
        }
        let identity = resolver.identity(of: address)
        if let identity, let slot = slotOfKey[Self.key(identity: identity)] { return adopt(key, slot) }
        if identity == nil, configuration.filter.privateAddresses == .drop, address.isPrivate { return nil }
        if deviceCount >= max(1, configuration.deviceLimit) { evict() }
        var device = HeardDevice(address: address, at: now)
        device.identity = identity
        device.settings = settings(of: address, identity: identity)
        let slot: Int
        if let reused = free.popLast() {
            slot = reused
            device.isPending = devices[slot].isPending
            devices[slot] = device
        } else {
            slot = devices.count
            devices.append(device)
        }
        slotOfKey[key] = slot
        if let identity { slotOfKey[Self.key(identity: identity)] = slot }
        nextSweep = earliest(nextSweep, now.advanced(by: configuration.memory))
        return slot
    }

    /// The index of the settings of a device in the configuration.
    private func settings(of address: DeviceAddress, identity: Int?) -> Int? {
        settingsOfAddress[identity.flatMap { configuration.identities[$0].address } ?? address.value]
    }

    /// Continues an identity under its new address.
    private mutating func adopt(_ key: UInt64, _ slot: Int) -> Int {
        slotOfKey[Self.key(devices[slot].address)] = nil
        slotOfKey[key] = slot
        return slot
    }

    private mutating func forget(_ slot: Int) {
        withdrawDocument(of: devices[slot])
        noteForgotten(devices[slot])
        slotOfKey[Self.key(devices[slot].address)] = nil
        if let identity = devices[slot].identity { slotOfKey[Self.key(identity: identity)] = nil }
        // The list of devices whose documents wait still has the slot.
        let isPending = devices[slot].isPending
        devices[slot] = HeardDevice(address: devices[slot].address, at: .zero)
        devices[slot].isInUse = false
        devices[slot].isPending = isPending
        free.append(slot)
    }

    /// Makes room: removes a sixteenth of the devices, those that were silent longest. Devices that the configuration
    /// names go last.
    private mutating func evict() {
        // Only what is compared: somebody who sends from ever new addresses causes this several times a second.
        var candidates: [(rank: Int, heard: Int64, slot: Int)] = []
        candidates.reserveCapacity(devices.count)
        for slot in devices.indices where devices[slot].isInUse {
            candidates.append((devices[slot].isNamed ? 1 : 0, devices[slot].lastHeard.microseconds, slot))
        }
        candidates.sort { $0 < $1 }
        for candidate in candidates.prefix(max(1, configuration.deviceLimit / 16)) {
            counters.evictedDevices += 1
            forget(candidate.slot)
        }
    }

    // MARK: Silence

    /// Reports devices that have become absent, and forgets devices that were silent for too long.
    private mutating func sweep(at now: Instant) {
        nextSweep = sweepPresence(at: now)
        for slot in devices.indices where devices[slot].isInUse {
            let end = devices[slot].lastHeard.advanced(by: configuration.memory)
            if end <= now {
                forget(slot)
            } else {
                nextSweep = earliest(nextSweep, end)
            }
        }
        // Most devices whose time would end sooner send again before that.
        if let next = nextSweep { nextSweep = max(next, now.advanced(by: .seconds(1))) }
    }

    // MARK: Publishing

    private mutating func publish(_ slot: Int, at now: Instant) {
        devices[slot].lastPublished = now
        let signal = best(slot)
        devices[slot].publishedRSSI = signal?.smoothed ?? 0
        devices[slot].publishedValues = devices[slot].valuesByName
        let isAllowed = configuration.filter.allows(subject(devices[slot]))
        review(devices[slot], isAllowed: isAllowed)
        devices[slot].isShown = isAllowed
        guard isAllowed else {
            counters.filteredReports += 1
            return
        }
        counters.documents += 1
        if devices[slot].saysEvent { devices[slot].countEvent(at: now) }
        devices[slot].sequence += 1
        var topic = documentTopic(devices[slot], signal)
        if configuration.homeAssistant != nil { topic = announce(slot, topic: topic, at: now) }
        let message = documentMessage(devices[slot], signal, topic: topic)
        send(message, .document, devices[slot], at: now)
        devices[slot].dropEvents()
    }

    private func subject(_ device: HeardDevice) -> DeviceRule.Subject {
        DeviceRule.Subject(
            address: device.address.value, isPrivate: device.identity == nil && device.address.isPrivate,
            identity: device.identity.flatMap { configuration.identities[$0].name }, name: name(of: device),
            data: device.data, formats: device.reports.map(\.format),
            rssi: best(device)?.smoothed ?? -128)
    }

    func best(_ device: HeardDevice) -> SignalTrack? {
        device.best(timeout: configuration.smoothing.adapterTimeout)
    }
}

extension DeviceAddress {
    /// Whether this is an identity that the adapter, or the daemon, resolved from a private address.
    var isResolved: Bool { kind == .publicIdentity || kind == .randomIdentity }

    /// Whether the device changes this address from time to time.
    var isPrivate: Bool {
        guard kind == .random else { return false }
        return randomKind == .resolvablePrivate || randomKind == .nonResolvablePrivate
    }
}
