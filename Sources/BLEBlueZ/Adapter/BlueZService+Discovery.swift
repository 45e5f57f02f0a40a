import BLEHost
import BLEPackets

/// Discovery: which clients asked for it, and what is reported of devices.
extension BlueZService {
    mutating func startDiscovery(_ call: BusCall, at number: Int) {
        guard let adapter = adapters[number], adapter.isPowered else { return refuse(call, .notReady) }
        guard !adapter.sessions.contains(where: { $0.client == call.sender }) else {
            return refuse(call, .inProgress("Operation already in progress"))
        }
        beginWish(of: call.sender)
        let isFirst = adapter.sessions.isEmpty
        adapters[number]?.sessions.append(
            DiscoverySession(client: call.sender, filter: adapter.filters[call.sender]))
        reply(to: call)
        if isFirst { tree.set([("Discovering", .boolean(true))], InterfaceName.adapter, of: adapter.path) }
        updateScan(at: number)
    }

    mutating func stopDiscovery(_ call: BusCall, at number: Int) {
        guard let adapter = adapters[number], adapter.isPowered else { return refuse(call, .notReady) }
        guard let place = adapter.sessions.firstIndex(where: { $0.client == call.sender }) else {
            return refuse(call, .failed("No discovery started"))
        }
        adapters[number]?.sessions.remove(at: place)
        updateScan(at: number)
        reply(to: call)
        if adapter.sessions.count == 1 {
            invalidateReception(at: number)
            tree.set([("Discovering", .boolean(false))], InterfaceName.adapter, of: adapter.path)
        }
        endWish(of: call.sender)
    }

    mutating func setDiscoveryFilter(_ call: BusCall, at number: Int) {
        guard let options = call.arguments.first?.options else { return refuse(call, .invalidArguments) }
        let filter: DiscoveryFilter?
        do throws(BusError) { filter = options.isEmpty ? nil : try DiscoveryFilter(options) } catch {
            return refuse(call, error)
        }
        let had = adapters[number]?.filters[call.sender] != nil
        adapters[number]?.filters[call.sender] = filter
        if filter != nil, !had { beginWish(of: call.sender) }
        if filter == nil, had { endWish(of: call.sender) }
        if let place = adapters[number]?.sessions.firstIndex(where: { $0.client == call.sender }) {
            adapters[number]?.sessions[place].filter = filter
        }
        reply(to: call)
    }

    /// A client has left the bus.
    mutating func endDiscovery(of client: String) {
        for number in adapters.keys.sorted() {
            adapters[number]?.filters[client] = nil
            guard let adapter = adapters[number], adapter.sessions.contains(where: { $0.client == client })
            else { continue }
            adapters[number]?.sessions.removeAll { $0.client == client }
            updateScan(at: number)
            guard adapter.sessions.count == 1 else { continue }
            invalidateReception(at: number)
            tree.set([("Discovering", .boolean(false))], InterfaceName.adapter, of: adapter.path)
        }
    }

    // MARK: The scan

    /// Makes the scan what the clients and the monitors together want.
    mutating func updateScan(at number: Int) {
        guard let adapter = adapters[number] else { return }
        var wanted: ScanRequest?
        if !adapter.sessions.isEmpty {
            wanted = ScanRequest(isActive: true, allowsDuplicates: true)
        } else if wantsPassiveScan(at: number) {
            wanted = ScanRequest(isActive: false, allowsDuplicates: true)
        }
        guard adapter.isPowered, let wanted else { return endScan(at: number) }
        guard wanted != adapter.scanRequest else { return }
        adapters[number]?.scanRequest = wanted
        if let scan = adapter.scan {
            emit(.changeScan(number, scan, wanted))
        } else {
            let scan = submit(.radio(.scan(wanted)), to: number, .scan(number))
            adapters[number]?.scan = scan
        }
    }

    mutating func endScan(at number: Int) {
        adapters[number]?.scanRequest = nil
        guard let scan = adapters[number]?.scan else { return }
        adapters[number]?.scan = nil
        works[scan] = .nothing
        emit(.cancel(number, scan))
    }

    /// The scan has ended by itself.
    mutating func scanEnded(at number: Int) {
        guard let adapter = adapters[number] else { return }
        adapters[number]?.scan = nil
        adapters[number]?.scanRequest = nil
        for session in adapter.sessions { endWish(of: session.client) }
        adapters[number]?.sessions = []
        invalidateReception(at: number)
        tree.set([("Discovering", .boolean(false))], InterfaceName.adapter, of: adapter.path)
    }

    /// How strongly devices were received is no longer known.
    mutating func invalidateReception(at number: Int) {
        for path in adapters[number]?.paths.values.sorted() ?? [] where devices[path]?.rssi != nil {
            devices[path]?.rssi = nil
            tree.set([("RSSI", nil), ("TxPower", nil)], InterfaceName.device, of: path)
        }
    }

    // MARK: Devices

    mutating func found(_ discovery: Discovery, at number: Int) {
        guard let address = discovery.address?.withoutIdentityMark, let adapter = adapters[number], adapter.isPowered
        else { return }
        let path = device(at: address, number)
        let data = AdvertisingData(
            advertisement: discovery.advertisement.span.bytes, scanResponse: discovery.scanResponse.span.bytes)
        var name = data.localNameWithoutPadding
        if name?.isEmpty == true { name = nil }
        var sighting = Sighting(
            address: address, rssi: discovery.rssi, name: name ?? path.flatMap { devices[$0]?.name }, data: data)
        sighting.otherData =
            Sighting.otherData(in: discovery.advertisement) + Sighting.otherData(in: discovery.scanResponse)
        let matching = adapter.sessions.filter { $0.filter?.matches(sighting) ?? true }
        let isMonitored = monitorsWant(discovery, at: number)
        guard !matching.isEmpty || isMonitored else { return }
        guard let path else {
            makeRoomForDevice(at: number)
            guard adapters[number]?.paths.count ?? 0 < settings.temporaryDevices,
                let added = addDevice(address, at: number, data, { $0.take(sighting) })
            else { return }
            scheduleSweep(at: number)
            return monitorsHeard(discovery, added, at: number)
        }
        let filters = matching.compactMap(\.filter)
        update(
            path, sighting, reportsEachRSSI: !filters.isEmpty || isMonitored,
            reportsEachValue: filters.contains { $0.wantsDuplicates } || isMonitored)
        monitorsHeard(discovery, path, at: number)
    }

    /// - Parameters:
    ///   - reportsEachRSSI: whether an RSSI is also reported if it is nearly the last one, or the same.
    ///   - reportsEachValue: whether data are also reported if they have not changed.
    private mutating func update(
        _ path: String, _ sighting: Sighting, reportsEachRSSI: Bool, reportsEachValue: Bool
    ) {
        guard let old = devices[path] else { return }
        devices[path]?.lastSeen = now
        devices[path]?.take(sighting)
        guard let device = devices[path] else { return }
        var changes: [ObjectTree.Change] = []
        var always: Set<String> = []
        let difference = old.rssi.map { abs(Int($0) - Int(sighting.rssi)) } ?? .max
        if reportsEachRSSI || difference >= Self.greatDifference {
            changes.append(("RSSI", .int16(Int16(sighting.rssi))))
            if reportsEachRSSI { always.insert("RSSI") }
        } else {
            devices[path]?.rssi = old.rssi
        }
        changes += device.advertisedProperties(sighting.data).map { ($0.name, $0.value) }
        if reportsEachValue {
            if !sighting.data.manufacturerData.isEmpty { always.insert("ManufacturerData") }
            if !sighting.data.serviceData.isEmpty { always.insert("ServiceData") }
        }
        if device.name != old.name {
            if let name = device.name { changes.append(("Name", .string(name))) }
            changes.append(("Alias", .string(device.alias)))
        }
        if device.uuids.count != old.uuids.count { changes.append(("UUIDs", device.uuidsValue)) }
        tree.set(changes, InterfaceName.device, of: path, always: always)
    }

    /// In dB: smaller changes of RSSI are not reported to clients without a filter.
    private static let greatDifference = 8

    // MARK: Out of sight

    /// Those that were seen least recently go: somebody who advertises with ever new addresses hides no device that is
    /// there.
    private mutating func makeRoomForDevice(at number: Int) {
        guard let adapter = adapters[number], adapter.paths.count >= settings.temporaryDevices else { return }
        let found = adapter.paths.values.compactMap { path -> (seen: Instant, path: String)? in
            devices[path].flatMap { $0.mayVanish ? ($0.lastSeen, path) : nil }
        }
        let oldest = found.sorted { ($0.seen, $0.path) < ($1.seen, $1.path) }
        // Several at once, so that the search for them is rare.
        for device in oldest.prefix(max(1, settings.temporaryDevices / 8)) { removeDeviceObjects(device.path) }
    }

    /// Devices that were only found vanish when they have not been seen for long.
    mutating func scheduleSweep(at number: Int) {
        if adapters[number]?.sweep == nil {
            adapters[number]?.sweep = now.advanced(by: settings.temporaryLimit)
        }
    }

    mutating func removeDevicesOutOfSight() {
        for number in adapters.keys.sorted() {
            guard let adapter = adapters[number], let sweep = adapter.sweep, sweep <= now else { continue }
            var next: Instant?
            for path in adapter.paths.values.sorted() {
                guard let device = devices[path], device.mayVanish else { continue }
                let end = device.lastSeen.advanced(by: settings.temporaryLimit)
                if end <= now { removeDeviceObjects(path) } else { next = earliest(next, end) }
            }
            adapters[number]?.sweep = next
        }
    }
}
