import BLEHost
import BLEPackets

/// Adapters that come and go, and their properties.
extension BlueZService {
    mutating func adapterReady(_ description: AdapterDescription) {
        let number = description.number
        guard (0...9).contains(number) else { return }
        if adapters[number] != nil { adapterLost(number) }
        var adapter = AdapterRoom(description, settings)
        if let setting = lostSettings.removeValue(forKey: adapter.address) {
            adapter.restore(setting)
        } else {
            adapter.restore(description.stored)
            if adapter.isDiscoverable { adapter.discoverableEnd = end(after: adapter.discoverableTimeout) }
        }
        adapters[number] = adapter
        tree.add(
            adapter.path,
            [
                ObjectTree.Interface(name: InterfaceName.adapter, properties: properties(of: adapter)),
                ObjectTree.Interface(name: InterfaceName.gattManager),
                ObjectTree.Interface(
                    name: InterfaceName.advertisingManager, properties: advertisingProperties(of: adapter)),
                ObjectTree.Interface(name: InterfaceName.monitorManager, properties: monitorProperties),
            ])
        for bond in description.bonds { showBonded(bond, at: number) }
        for address in adapter.records.keys.sorted(by: { $0.value < $1.value }) where adapter.paths[address] == nil {
            guard let record = adapter.records[address], record.isWorthKeeping, device(at: address, number) == nil
            else { continue }
            addDevice(address, at: number) { $0.isTemporary = false }
        }
        for peer in description.connectedPeers { adopt(peer, at: number) }
        setAgentOfAdapters()
        setName(of: number)
    }

    /// The daemon is gone, and with it everything that was wanted of its adapter.
    mutating func adapterLost(_ number: Int) {
        saveRest(of: number)
        guard let adapter = adapters[number] else { return }
        let lost = BusError.notReady
        for path in adapter.paths.values.sorted() { dropDevice(path, because: lost) }
        endServing(at: number)
        endAdvertisements(at: number)
        endMonitors(at: number)
        for ticket in works.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard let work = works[ticket], adapterOf(work) == number else { continue }
            works[ticket] = nil
            ended(work, .failure(.controllerLost), at: number)
        }
        for session in adapter.sessions { endWish(of: session.client) }
        for client in adapter.filters.keys.sorted() { endWish(of: client) }
        keepSettings(of: number)
        adapters[number] = nil
        tree.remove(adapter.path)
    }

    /// What people have set outlives the daemon, also where no file has it.
    private mutating func keepSettings(of number: Int) {
        guard let adapter = adapters[number] else { return }
        if lostSettings.count >= Self.lostSettingsLimit { lostSettings.removeAll() }
        lostSettings[adapter.address] = AdapterRoom.Settings(
            stored: adapter.stored, hasAgents: adapter.hasAgents, discoverableEnd: adapter.discoverableEnd,
            pairableEnd: adapter.pairableEnd)
    }

    private static let lostSettingsLimit = 16

    private func properties(of adapter: AdapterRoom) -> [(name: String, value: BusValue)] {
        let information = adapter.information
        return [
            ("Address", .string(adapter.address.addressText)),
            ("AddressType", .string(adapter.address.kindText)),
            ("Name", .string(settings.hostName)),
            ("Alias", .string(adapter.alias ?? settings.hostName)),
            ("Class", .uint32(0)),
            ("Powered", .boolean(true)),
            ("PowerState", .string("on")),
            ("Discoverable", .boolean(adapter.isDiscoverable)),
            ("DiscoverableTimeout", .uint32(adapter.discoverableTimeout)),
            ("Pairable", .boolean(adapter.isPairable)),
            ("PairableTimeout", .uint32(adapter.pairableTimeout)),
            ("Discovering", .boolean(false)),
            ("UUIDs", .strings(adapterUUIDs(of: adapter.number))),
            // As BlueZ 5.66 names itself: some programs take quirks from it.
            ("Modalias", .string("usb:v1D6Bp0246d0542")),
            ("Roles", .strings(["central", "peripheral"])),
            ("ExperimentalFeatures", .strings([])),
            ("Manufacturer", .uint16(information.companyIdentifier)),
            ("Version", .byte(information.hciVersion)),
        ]
    }

    /// The services that this device offers.
    func adapterUUIDs(of number: Int) -> [String] {
        let own = [BluetoothUUID(UInt16(0x1800)), BluetoothUUID(UInt16(0x1801))]
        return Set((own + servedUUIDs(at: number)).map(\.wholeText)).sorted()
    }

    // MARK: Calls

    /// The adapter with a path.
    func adapterNumber(_ path: String) -> Int? { adapters.values.first { $0.path == path }?.number }

    mutating func receiveAdapter(_ call: BusCall) {
        guard let number = adapterNumber(call.path) else { return refuse(call, .unknownObject(call.path)) }
        switch call.member {
        case "StartDiscovery": startDiscovery(call, at: number)
        case "StopDiscovery": stopDiscovery(call, at: number)
        case "SetDiscoveryFilter": setDiscoveryFilter(call, at: number)
        case "GetDiscoveryFilters": reply(to: call, [.strings(DiscoveryFilter.keys)])
        case "RemoveDevice": removeDevice(call, at: number)
        case "ConnectDevice": connectDevice(call, at: number)
        default: refuse(call, .unknownMethod(call))
        }
    }

    mutating func setAdapterProperty(_ name: String, _ value: BusValue, _ call: BusCall) {
        guard let number = adapterNumber(call.path), let adapter = adapters[number] else {
            return refuse(call, .unknownObject(call.path))
        }
        switch (name, value) {
        case ("Alias", .string(let text)):
            // An empty one gives the machine's name back.
            let alias = text.isEmpty ? nil : text.shortened(to: Self.nameLimit)
            adapters[number]?.alias = alias
            tree.set([("Alias", .string(alias ?? settings.hostName))], InterfaceName.adapter, of: adapter.path)
            setName(of: number)
        case ("Powered", .boolean(let isOn)): return setPower(isOn, call, at: number)
        case ("Discoverable", .boolean(let isOn)):
            guard adapter.isPowered || !isOn else { return refuse(call, .failed("Not Powered")) }
            adapters[number]?.isDiscoverable = isOn
            let end = isOn ? end(after: adapter.discoverableTimeout) : nil
            adapters[number]?.discoverableEnd = end
            tree.set([("Discoverable", value)], InterfaceName.adapter, of: adapter.path)
            advertisementsChanged(at: number)
        case ("Pairable", .boolean(let isOn)):
            adapters[number]?.isPairable = isOn
            adapters[number]?.refusesPairing = !isOn
            let end = isOn ? end(after: adapter.pairableTimeout) : nil
            adapters[number]?.pairableEnd = end
            tree.set([("Pairable", value)], InterfaceName.adapter, of: adapter.path)
            setAgentOfAdapters()
        case ("DiscoverableTimeout", .uint32(let seconds)):
            adapters[number]?.discoverableTimeout = seconds
            let end = end(after: seconds)
            if adapter.isDiscoverable { adapters[number]?.discoverableEnd = end }
            tree.set([("DiscoverableTimeout", value)], InterfaceName.adapter, of: adapter.path)
        case ("PairableTimeout", .uint32(let seconds)):
            adapters[number]?.pairableTimeout = seconds
            let end = end(after: seconds)
            if adapter.isPairable { adapters[number]?.pairableEnd = end }
            tree.set([("PairableTimeout", value)], InterfaceName.adapter, of: adapter.path)
        default: return refuse(call, .propertyReadOnly(name))
        }
        save(number)
        reply(to: call)
    }

    /// - Parameter seconds: 0: never.
    func end(after seconds: UInt32) -> Instant? {
        seconds == 0 ? nil : now.advanced(by: Microseconds(rawValue: Int64(seconds) * 1_000_000))
    }

    mutating func endTimesOfAdapters() {
        for number in adapters.keys.sorted() {
            guard let adapter = adapters[number] else { continue }
            if let end = adapter.discoverableEnd, end <= now {
                adapters[number]?.discoverableEnd = nil
                adapters[number]?.isDiscoverable = false
                tree.set([("Discoverable", .boolean(false))], InterfaceName.adapter, of: adapter.path)
                advertisementsChanged(at: number)
            }
            if let end = adapter.pairableEnd, end <= now {
                adapters[number]?.pairableEnd = nil
                adapters[number]?.isPairable = false
                adapters[number]?.refusesPairing = true
                tree.set([("Pairable", .boolean(false))], InterfaceName.adapter, of: adapter.path)
                setAgentOfAdapters()
            }
        }
    }

    /// Centrals read the alias as the device's name.
    private mutating func setName(of number: Int) {
        guard let adapter = adapters[number] else { return }
        let name = (adapter.alias ?? settings.hostName).shortened(to: Self.nameLimit)
        submit(.server(.setDeviceName(name)), to: number, .nothing)
    }

    /// In octets (Core 5.4, Vol 3, Part C, 3.2.2).
    static let nameLimit = 248

    // MARK: Power

    /// Off, everything ends that is wanted through this service; other programs of the daemon go on.
    private mutating func setPower(_ isOn: Bool, _ call: BusCall, at number: Int) {
        guard let adapter = adapters[number] else { return }
        guard adapter.isPowered != isOn else { return reply(to: call) }
        let set = { (tree: inout ObjectTree, changes: [ObjectTree.Change]) in
            tree.set(changes, InterfaceName.adapter, of: adapter.path)
        }
        set(&tree, [("PowerState", .string(isOn ? "off-enabling" : "on-disabling"))])
        adapters[number]?.isPowered = isOn
        if isOn {
            set(&tree, [("Powered", .boolean(true)), ("PowerState", .string("on"))])
            resumeServing(at: number)
        } else {
            for path in adapter.paths.values.sorted() { endConnection(path, because: .notReady) }
            suspendServing(at: number)
            for session in adapter.sessions { endWish(of: session.client) }
            adapters[number]?.sessions = []
            endScan(at: number)
            invalidateReception(at: number)
            set(
                &tree,
                [
                    ("Powered", .boolean(false)), ("Discovering", .boolean(false)),
                    ("PowerState", .string("off")),
                ])
        }
        reply(to: call)
    }

    // MARK: State

    /// Keeps what people have set, at once unless that was done just before: a client that sets again and again does not
    /// have everything else wait for the disk.
    mutating func save(_ number: Int) {
        guard let last = adapters[number]?.lastSave, now < last.advanced(by: .seconds(1)) else {
            return saveNow(number)
        }
        adapters[number]?.saveDue = last.advanced(by: .seconds(1))
    }

    mutating func saveWhatIsDue() {
        for number in adapters.keys.sorted() {
            if let due = adapters[number]?.saveDue, due <= now { saveNow(number) }
        }
    }

    /// Keeps what is to be kept, before the adapter or the service goes.
    mutating func saveRest(of number: Int) { if adapters[number]?.saveDue != nil { saveNow(number) } }

    private mutating func saveNow(_ number: Int) {
        guard let adapter = adapters[number] else { return }
        adapters[number]?.saveDue = nil
        adapters[number]?.lastSave = now
        var records = adapter.records
        for (address, path) in adapter.paths {
            guard let device = devices[path] else { continue }
            records[address] = device.record.isWorthKeeping || device.isBonded ? device.record : nil
        }
        adapters[number]?.records = records
        if let octets = adapters[number]?.stored { emit(.save(adapter.address, octets)) }
    }
}
