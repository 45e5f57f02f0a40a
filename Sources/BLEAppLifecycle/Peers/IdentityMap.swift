import BLEPackets

/// The identifiers by which apps know devices, and the names of the devices (SPEC REC-3, 5.6).
///
/// Everything is bounded. Devices that apps have only discovered replace other such devices, the least recently seen
/// first; devices that some app has used replace only each other. With a temporary address, a device is a new one each
/// time (SPEC REC-5). Nothing here depends on the order of a dictionary.
struct IdentityMap {
    /// An app's identifier of a device.
    struct Alias: Hashable {
        var app: Int
        var identifier: PeerIdentifier
    }

    private var devices: RememberedDevices
    /// The slot of each identifier's device. Only for lookup, never iterated.
    private var slots: [Alias: Int] = [:]

    init(limit: Int) { devices = RememberedDevices(limit: max(16, limit)) }

    func address(of identifier: PeerIdentifier, app: Int) -> DeviceAddress? {
        slots[Alias(app: app, identifier: identifier)].map { devices[$0].address }
    }

    func identifier(of address: DeviceAddress, app: Int) -> PeerIdentifier? {
        devices.slot(of: address.withoutIdentityMark).flatMap { devices.identifier(in: $0, app: app) }
    }

    /// Whether an app has an identifier of a device whose address lasts.
    func hasLastingIdentifiers(of app: Int) -> Bool {
        devices.indices.contains { slot in
            devices[slot].address.isLasting && devices[slot].names.contains { $0.app == app }
        }
    }

    /// An app discovers a device again.
    /// - Returns: its identifier; `nil` if the app has none.
    mutating func use(_ address: DeviceAddress, app: Int) -> PeerIdentifier? {
        guard let slot = devices.slot(of: address.withoutIdentityMark),
            let identifier = devices.identifier(in: slot, app: app)
        else { return nil }
        devices.use(slot)
        return identifier
    }

    /// - Parameters:
    ///   - isKept: whether the app has used the device.
    ///   - isWritten: whether it is in the journal.
    mutating func insert(
        _ identifier: PeerIdentifier, _ address: DeviceAddress, app: Int, isKept: Bool, isWritten: Bool = false
    ) {
        let alias = Alias(app: app, identifier: identifier)
        let slot = devices.use(address.withoutIdentityMark)
        var name = RememberedDevices.Name(app: app, identifier: identifier, isKept: isKept, isWritten: isWritten)
        if let old = slots[alias] {
            name.isKept = isKept || devices.name(identifier, in: old, app: app)?.isKept ?? false
            if old != slot { remove(alias, in: old) }
        }
        slots[alias] = slot
        // An older identifier of the device stays current.
        devices.set(name, in: slot)
    }

    /// An app uses a device.
    /// - Returns: whether this is its first use.
    mutating func retain(_ identifier: PeerIdentifier, app: Int) -> Bool {
        guard let slot = slots[Alias(app: app, identifier: identifier)],
            var name = devices.name(identifier, in: slot, app: app)
        else { return false }
        devices.use(slot)
        guard !name.isKept else { return false }
        name.isKept = true
        devices.set(name, in: slot)
        return true
    }

    /// The identifier of a private address becomes the identifier of the device.
    /// - Returns: `nil` if the app has none for the address.
    mutating func rebind(_ address: DeviceAddress, to identity: DeviceAddress, app: Int) -> PeerIdentifier? {
        guard let slot = devices.slot(of: address), let identifier = devices.identifier(in: slot, app: app) else {
            return nil
        }
        insert(identifier, identity, app: app, isKept: true, isWritten: true)
        return identifier
    }

    private mutating func remove(_ alias: Alias, in slot: Int) {
        slots[alias] = nil
        devices.removeName(alias.identifier, in: slot, app: alias.app)
        if devices[slot].names.isEmpty, devices[slot].advertisedName == nil, devices[slot].deviceName == nil {
            devices.remove(slot)
        }
    }

    // MARK: Forgetting

    /// The next candidate for removal; `nil` while there is room.
    func nextToForget() -> RememberedDevices.Device? { devices.nextToForget.map { devices[$0] } }

    /// A device that may not be forgotten counts as used.
    mutating func spare(_ address: DeviceAddress) { _ = devices.use(address) }

    /// - Returns: the identifiers that are in the journal.
    mutating func forget(_ address: DeviceAddress) -> [Alias] {
        guard let slot = devices.slot(of: address) else { return [] }
        var written: [Alias] = []
        for name in devices[slot].names {
            let alias = Alias(app: name.app, identifier: name.identifier)
            slots[alias] = nil
            if name.isWritten { written.append(alias) }
        }
        devices.remove(slot)
        return written
    }

    /// Forgets all identifiers of an app.
    /// - Returns: those of lasting addresses that are in the journal.
    mutating func forgetAll(of app: Int) -> [Alias] {
        var written: [Alias] = []
        for slot in devices.indices {
            for name in devices[slot].names where name.app == app {
                let alias = Alias(app: app, identifier: name.identifier)
                if name.isWritten, devices[slot].address.isLasting { written.append(alias) }
                remove(alias, in: slot)
            }
        }
        return written
    }

    /// Marks a device as written to the journal.
    /// - Returns: `nil` if it was forgotten, or has been written already.
    mutating func write(_ alias: Alias) -> (address: DeviceAddress, isKept: Bool)? {
        guard let slot = slots[alias], var name = devices.name(alias.identifier, in: slot, app: alias.app),
            !name.isWritten
        else { return nil }
        name.isWritten = true
        devices.set(name, in: slot)
        return (devices[slot].address, name.isKept)
    }

    // MARK: Names

    /// The name of a private address becomes the device's name.
    mutating func rename(_ address: DeviceAddress, to identity: DeviceAddress) {
        guard let slot = devices.slot(of: address) else { return }
        let (advertised, device) = (devices[slot].advertisedName, devices[slot].deviceName)
        if let advertised { setAdvertisedName(advertised, of: identity) }
        if let device { _ = setDeviceName(device, of: identity) }
    }

    func name(of address: DeviceAddress) -> String? {
        guard let slot = devices.slot(of: address.withoutIdentityMark) else { return nil }
        return devices[slot].deviceName ?? devices[slot].advertisedName
    }

    mutating func setAdvertisedName(_ name: String, of address: DeviceAddress) {
        let slot = devices.use(address.withoutIdentityMark)
        if devices[slot].advertisedName != name { devices.setAdvertisedName(name, in: slot) }
    }

    /// - Returns: whether the name has changed.
    mutating func setDeviceName(_ name: String, of address: DeviceAddress) -> Bool {
        let slot = devices.use(address.withoutIdentityMark)
        let before = devices[slot].deviceName ?? devices[slot].advertisedName
        devices.setDeviceName(name, in: slot)
        return before != name
    }
}

extension DeviceAddress {
    /// Whether the address is permanent: public or static random (Core 5.4, Vol 6, Part B, 1.3).
    var isLasting: Bool { randomKind == nil || randomKind == .static }
}
