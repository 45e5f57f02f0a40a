import BLEPackets

/// Turns advertising reports into discoveries: merges scan responses, drops reports without news, filters for each
/// client (SPEC CEN-4, CEN-25, CEN-26, CEN-27).
///
/// The controller's own duplicate filter stays off, because it could hide changes of data.
struct Scanner {
    /// One client's scan.
    private struct Wish {
        var operation: OperationID
        var client: ClientID
        var request: ScanRequest
        var filter: ScanFilter
        /// The same for all scans whose filters match the same devices.
        var selection: UInt64
    }

    /// One report, legacy or extended; its data are passed separately.
    struct Report {
        enum Completeness { case complete, moreToCome, truncated }

        /// The identity address if it is known.
        var address: DeviceAddress?
        var addressOnAir: DeviceAddress?
        var advertisingSet: UInt8 = 0xFF
        var isConnectable: Bool
        var isScannable: Bool
        var isScanResponse: Bool
        var isExtended: Bool
        var completeness = Completeness.complete
        var rssi: Int8
        var txPower: Int8 = 127
        var primaryPHY = PHY.le1M
        var secondaryPHY: PHY?
        var periodicInterval = PeriodicAdvertisingInterval(rawValue: 0)
        /// The private address that it is directed to, if the controller could not resolve it.
        var unresolvedTarget: DeviceAddress?
        /// The revision of `ControllerResolvingList` when the report came.
        var listRevision: UInt32 = 0

        /// Whether it is a whole advertisement of a kind that has data: legacy directed ones have none, and many
        /// devices have an empty scan response.
        var canHaveData: Bool {
            !isScanResponse && completeness == .complete && (isExtended || isScannable || !isConnectable)
        }
    }

    /// How long the discovery of a scannable device waits for its first scan response, so that the two arrive as one.
    static let scanResponseTimeout: Microseconds = .milliseconds(50)

    /// Whether all clients that a packet concerns get one event (`Host.joinsDiscoveries`).
    var joinsDiscoveries = false
    /// The scans that the latest packet was for, but for the first one. Packets are mostly for the same ones, which
    /// then share this array.
    private var latestOthers: [Discovery.Seeker] = []

    private var wishes: [Wish] = [] { didSet { revision += 1 } }
    /// Grows when the clients' scans change.
    private(set) var revision: UInt64 = 0
    /// For each of these, by slot of the device table: the hash of the content that was last checked, whether reported
    /// or not; 0 for none.
    private var judged: [[UInt64]] = []
    private var lastSelection: UInt64 = 0
    private var devices: DeviceTable
    private var held = Queue<(slot: DeviceTable.Slot, key: DeviceTable.Key, until: Instant)>()
    private(set) var forgottenDevices: UInt64 = 0
    /// The beginnings of anonymous advertisements, which have no slot before they are whole.
    private var anonymousChains = AnonymousChains()

    init(limits: HostLimits) {
        devices = DeviceTable(capacity: limits.scannedDevices, maximumAge: limits.scannedDeviceAge)
    }

    var isWanted: Bool { !wishes.isEmpty }

    /// Whether a client wants devices on LE Coded, too.
    var scansCodedPHY: Bool { wishes.contains { $0.request.scansCodedPHY } }

    /// Whether a client wants what is directed to private addresses that could not be resolved.
    var wantsUnresolvedTargets: Bool { wishes.contains { $0.request.includesUnresolvedTargets } }

    // MARK: Wishes

    mutating func add(_ request: ScanRequest, operation: OperationID, client: ClientID) {
        let filter = ScanFilter(request)
        let selection = selection(of: filter)
        wishes.append(
            Wish(operation: operation, client: client, request: request, filter: filter, selection: selection))
        judged.append([])
    }

    /// The number of what a filter selects: that of another scan which selects the same, or a new one.
    private mutating func selection(of filter: ScanFilter) -> UInt64 {
        if let same = wishes.first(where: { $0.filter.selects(like: filter) }) { return same.selection }
        lastSelection += 1
        return lastSelection
    }

    /// Devices that were already reported are not reported again.
    /// - Returns: whether there is such a scan.
    mutating func change(_ operation: OperationID, to request: ScanRequest) -> Bool {
        guard let index = wishes.firstIndex(where: { $0.operation == operation }) else { return false }
        if wishes[index].request.allowsDuplicates, !request.allowsDuplicates { recordReported(to: index) }
        let filter = ScanFilter(request)
        wishes[index].selection = selection(of: filter)
        wishes[index].filter = filter
        wishes[index].request = request
        return true
    }

    /// A client that got every packet knows all devices that match.
    private mutating func recordReported(to index: Int) {
        let filter = wishes[index].filter
        judged[index] = devices.slots.map { slot in
            filter.matches(devices[slot]) ? devices[slot].contentHash : 0
        }
    }

    /// - Returns: whether there was such a scan.
    mutating func remove(_ operation: OperationID) -> Bool {
        guard let index = wishes.firstIndex(where: { $0.operation == operation }) else { return false }
        wishes.remove(at: index)
        judged.remove(at: index)
        if wishes.isEmpty { forget() }
        return true
    }

    /// Ends every scan, oldest first.
    mutating func removeAll() -> [OperationID] {
        let ended = wishes.map { $0.operation }
        wishes.removeAll()
        judged.removeAll()
        forget()
        return ended
    }

    /// The scan parameters for all clients together: the foreground's duty if a client is in the foreground, otherwise
    /// the background's (SPEC BGC-4). `nil` if no client scans.
    func parameters(timing: Timing) -> ScanParameters? {
        guard !wishes.isEmpty else { return nil }
        let isInForeground = wishes.contains { !$0.request.isInBackground }
        return ScanParameters(
            isActive: wishes.contains { $0.request.isActive },
            duty: isInForeground ? timing.foregroundScan : timing.backgroundScan,
            isOnCodedPHY: wishes.contains { $0.request.scansCodedPHY },
            isUnrestricted: wishes.contains { $0.request.includesUnresolvedTargets }, acceptList: acceptList)
    }

    /// The devices that all clients together want; empty if a client wants others, too.
    private var acceptList: [DeviceAddress] {
        var devices: [DeviceAddress] = []
        for wish in wishes {
            guard !wish.request.acceptList.isEmpty else { return [] }
            for address in wish.request.acceptList where !devices.contains(address.withoutIdentityMark) {
                // More than fit into any controller's list.
                guard devices.count < Int(UInt8.max) else { return [] }
                devices.append(address.withoutIdentityMark)
            }
        }
        return devices
    }

    private mutating func forget() {
        devices.removeAll()
        held.removeAll()
        anonymousChains.removeAll()
    }

    // MARK: Reports

    /// Takes one report and appends the discoveries for the clients.
    mutating func receive(_ report: Report, data: RawSpan, at now: Instant, into events: inout EventQueue) {
        guard !wishes.isEmpty else { return }
        if report.address == nil,
            report.completeness == .moreToCome || anonymousChains.continues(with: report, data: data, at: now)
        {
            return receiveAnonymous(report, data: data, at: now, into: &events)
        }
        if let next = devices.nextForgotten, devices[next].isHeld { release(next, at: now, into: &events) }
        let hash = data.contentHash()
        let key = Self.key(of: report, contentHash: hash)
        let slot: DeviceTable.Slot
        var isNew = true
        switch devices.slot(for: key, at: now) {
        case .known(let known):
            slot = known
            isNew = false
        case .added(let added):
            slot = added
        case .replaced(let replaced, let early):
            slot = replaced
            if early { forgottenDevices &+= 1 }
            for index in judged.indices where slot.number < judged[index].count { judged[index][slot.number] = 0 }
        }
        guard store(report, data: data, hash: hash, into: slot, at: now) else { return }
        if report.isScanResponse {
            devices[slot].isHeld = false
        } else if shouldHold(slot, isNew: isNew) {
            devices[slot].isHeld = true
            held.append((slot, key, now.advanced(by: Self.scanResponseTimeout)))
        }
        announce(slot, rssi: report.rssi, isPacket: true, at: now, into: &events)
    }

    /// A part of an anonymous advertisement.
    private mutating func receiveAnonymous(
        _ report: Report, data: RawSpan, at now: Instant, into events: inout EventQueue
    ) {
        guard let whole = anonymousChains.join(data, of: report, at: now) else { return }
        receive(report, data: whole.span.bytes, at: now, into: &events)
    }

    var nextDeadline: Instant? { held.first?.until }

    /// Announces the devices whose scan response did not come in time.
    mutating func advance(to now: Instant, into events: inout EventQueue) {
        while let next = held.first, next.until <= now {
            _ = held.popFirst()
            guard devices[next.slot].key == next.key, devices[next.slot].isHeld else { continue }
            release(next.slot, at: now, into: &events)
        }
    }

    /// Announces a device whose scan response is not awaited any more.
    private mutating func release(_ slot: DeviceTable.Slot, at now: Instant, into events: inout EventQueue) {
        devices[slot].isHeld = false
        announce(slot, rssi: devices[slot].lastRSSI, isPacket: false, at: now, into: &events)
    }

    private static func key(of report: Report, contentHash: UInt64) -> DeviceTable.Key {
        guard let address = report.address else {
            return DeviceTable.Key(contentHash: contentHash, advertisingSet: report.advertisingSet)
        }
        return DeviceTable.Key(address, advertisingSet: report.advertisingSet)
    }

    /// Writes the report into the device's slot.
    /// - Returns: whether the data are complete.
    private mutating func store(
        _ report: Report, data: RawSpan, hash: UInt64, into slot: DeviceTable.Slot, at now: Instant
    ) -> Bool {
        var hash = hash
        // Nothing if the report has all of the data.
        var joined: [UInt8]?
        if report.completeness == .moreToCome
            || devices[slot].isIncomplete && devices[slot].continues(with: report, data: data, at: now)
        {
            guard let whole = devices[slot].join(data, of: report, at: now) else { return false }
            hash = whole.span.bytes.contentHash()
            joined = whole
        }
        devices[slot].lastRSSI = report.rssi
        if report.isScanResponse {
            if !devices[slot].hasScanResponse || devices[slot].scanResponseHash != hash {
                devices[slot].scanResponse = joined ?? data.copied()
                devices[slot].scanResponseHash = hash
                devices[slot].hasScanResponse = true
            }
        } else {
            devices[slot].isConnectable = report.isConnectable
            devices[slot].isScannable = report.isScannable
            devices[slot].isExtended = report.isExtended
            devices[slot].txPower = report.txPower
            devices[slot].unresolvedTarget = report.unresolvedTarget
            devices[slot].primaryPHY = report.primaryPHY
            devices[slot].secondaryPHY = report.secondaryPHY
            devices[slot].periodicInterval = report.periodicInterval
            if devices[slot].advertisementHash != hash {
                devices[slot].advertisement = joined ?? data.copied()
                devices[slot].advertisementHash = hash
            }
        }
        return true
    }

    private func shouldHold(_ slot: DeviceTable.Slot, isNew: Bool) -> Bool {
        isNew && devices[slot].isScannable && !devices[slot].hasScanResponse && wishes.contains { $0.request.isActive }
    }

    private mutating func announce(
        _ slot: DeviceTable.Slot, rssi: Int8, isPacket: Bool, at now: Instant, into events: inout EventQueue
    ) {
        let content = devices[slot].contentHash
        let isHeld = devices[slot].isHeld
        var latest: (selection: UInt64, matches: Bool)?
        var first: Int?
        var others = 0
        for index in wishes.indices {
            if devices[slot].unresolvedTarget != nil, !wishes[index].request.includesUnresolvedTargets { continue }
            if let minimum = wishes[index].request.minimumRSSI, rssi < minimum || rssi == 127 { continue }
            if wishes[index].request.allowsDuplicates {
                guard isPacket else { continue }
                guard matches(index, slot, &latest) else { continue }
            } else {
                guard !isHeld else { continue }
                if slot.number < judged[index].count {
                    guard judged[index][slot.number] != content else { continue }
                } else {
                    let missing = devices.count - judged[index].count
                    judged[index].append(contentsOf: repeatElement(0, count: missing))
                }
                judged[index][slot.number] = content
                guard matches(index, slot, &latest) else { continue }
            }
            if !joinsDiscoveries {
                events.append(.discovered(discovery(slot, rssi: rssi, for: index, at: now)))
            } else if first == nil {
                first = index
            } else {
                recordOther(index, at: others)
                others += 1
            }
        }
        guard let first else { return }
        if latestOthers.count > others { latestOthers.removeLast(latestOthers.count - others) }
        var joined = discovery(slot, rssi: rssi, for: first, at: now)
        joined.others = latestOthers
        events.append(.discovered(joined))
    }

    private mutating func recordOther(_ index: Int, at place: Int) {
        let seeker = Discovery.Seeker(scan: wishes[index].operation, client: wishes[index].client)
        if place == latestOthers.count {
            latestOthers.append(seeker)
        } else if latestOthers[place] != seeker {
            latestOthers[place] = seeker
        }
    }

    /// Whether a device is one that a client wants. Many clients often want the same: then its data are read once.
    private func matches(
        _ index: Int, _ slot: DeviceTable.Slot, _ latest: inout (selection: UInt64, matches: Bool)?
    ) -> Bool {
        if let latest, latest.selection == wishes[index].selection { return latest.matches }
        let matches = wishes[index].filter.matches(devices[slot])
        latest = (wishes[index].selection, matches)
        return matches
    }

    private func discovery(_ slot: DeviceTable.Slot, rssi: Int8, for index: Int, at now: Instant) -> Discovery {
        let device = devices[slot]
        var discovery = Discovery(
            scan: wishes[index].operation, client: wishes[index].client, address: device.address, rssi: rssi,
            isConnectable: device.isConnectable, isScannable: device.isScannable,
            advertisement: device.advertisement, scanResponse: device.scanResponse,
            txPower: device.txPower == 127 ? nil : device.txPower, isExtended: device.isExtended, time: now)
        discovery.unresolvedTarget = device.unresolvedTarget
        guard device.isExtended else { return discovery }
        if device.key.advertisingSet <= 0x0F { discovery.advertisingSetIdentifier = device.key.advertisingSet }
        discovery.primaryPHY = device.primaryPHY
        discovery.secondaryPHY = device.secondaryPHY
        if device.periodicInterval.rawValue > 0 { discovery.periodicInterval = device.periodicInterval }
        return discovery
    }
}
