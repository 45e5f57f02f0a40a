import BLEPackets

/// The identifiers by which apps know devices, and the names of the devices (SPEC REC-3, 5.6).
///
/// Everything is bounded. Devices that an app has only discovered replace other such devices, the least recently seen
/// first; devices that an app has used replace only each other. With a temporary address, a device is a new one each
/// time (SPEC REC-5). Nothing here depends on the order of a dictionary.
struct IdentityMap {
    private struct Key: Hashable {
        var app: Int
        var address: DeviceAddress
    }

    /// An app's identifier of a device.
    struct Alias: Hashable {
        var app: Int
        var identifier: PeerIdentifier
    }

    private struct Entry {
        var address: DeviceAddress
        /// Whether the app has used the device.
        var isKept: Bool
        /// Whether it was seen or used since it was last a candidate for removal.
        var wasUsed = false
        /// Whether the journal has it.
        var isWritten = false
    }

    private struct Name {
        var advertised: String?
        var device: String?
    }

    private let limit: Int
    private var entries: [Alias: Entry] = [:]
    /// The current identifier of a device; older identifiers refer to the device as well.
    private var identifiers: [Key: PeerIdentifier] = [:]
    private var heard = Queue<Alias>()
    private var kept = Queue<Alias>()
    private var names: [DeviceAddress: Name] = [:]
    private var named = Queue<DeviceAddress>()

    init(limit: Int) { self.limit = max(16, limit) }

    func address(of identifier: PeerIdentifier, app: Int) -> DeviceAddress? {
        entries[Alias(app: app, identifier: identifier)]?.address
    }

    func identifier(of address: DeviceAddress, app: Int) -> PeerIdentifier? {
        identifiers[Key(app: app, address: address.withoutIdentityMark)]
    }

    /// - Parameters:
    ///   - isKept: whether the app has used the device.
    ///   - isWritten: whether it is in the journal.
    mutating func insert(
        _ identifier: PeerIdentifier, _ address: DeviceAddress, app: Int, isKept: Bool, isWritten: Bool = false
    ) {
        let alias = Alias(app: app, identifier: identifier)
        let address = address.withoutIdentityMark
        let old = entries[alias]
        if let old, old.address != address { release(alias, old.address) }
        entries[alias] = Entry(
            address: address, isKept: isKept || old?.isKept ?? false, wasUsed: true, isWritten: isWritten)
        let key = Key(app: app, address: address)
        // An older identifier of the device stays current.
        if identifiers[key] == nil { identifiers[key] = identifier }
        if isKept, !(old?.isKept ?? false) {
            kept.append(alias)
        } else if old == nil {
            heard.append(alias)
        }
    }

    /// An app discovers a device again.
    mutating func use(_ identifier: PeerIdentifier, app: Int) {
        entries[Alias(app: app, identifier: identifier)]?.wasUsed = true
    }

    /// An app uses a device.
    /// - Returns: whether this is its first use.
    mutating func keep(_ identifier: PeerIdentifier, app: Int) -> Bool {
        let alias = Alias(app: app, identifier: identifier)
        guard let entry = entries[alias] else { return false }
        entries[alias]?.wasUsed = true
        guard !entry.isKept else { return false }
        entries[alias]?.isKept = true
        kept.append(alias)
        return true
    }

    /// The identifier of a private address becomes the identifier of the device.
    /// - Returns: `nil` if the app has none for the address.
    mutating func rebind(_ address: DeviceAddress, to identity: DeviceAddress, app: Int) -> PeerIdentifier? {
        guard let identifier = identifiers[Key(app: app, address: address)] else { return nil }
        insert(identifier, identity, app: app, isKept: true, isWritten: true)
        return identifier
    }

    // MARK: Forgetting

    /// The next candidate for removal; `nil` while there is room.
    mutating func nextToForget() -> (alias: Alias, address: DeviceAddress)? {
        next(of: \.heard, isKept: false) ?? next(of: \.kept, isKept: true)
    }

    private mutating func next(
        of turns: WritableKeyPath<IdentityMap, Queue<Alias>>, isKept: Bool
    ) -> (alias: Alias, address: DeviceAddress)? {
        while self[keyPath: turns].count > limit, let alias = self[keyPath: turns].popFirst() {
            // The device was forgotten, or is in the other group now.
            guard let entry = entries[alias], entry.isKept == isKept else { continue }
            self[keyPath: turns].append(alias)
            guard entry.wasUsed else { return (alias, entry.address) }
            entries[alias]?.wasUsed = false
        }
        return nil
    }

    /// - Returns: whether it is in the journal.
    mutating func forget(_ alias: Alias) -> Bool {
        guard let entry = entries.removeValue(forKey: alias) else { return false }
        release(alias, entry.address)
        // The device may be the last one.
        if entry.isKept, kept.last == alias { _ = kept.popLast() }
        if !entry.isKept, heard.last == alias { _ = heard.popLast() }
        return entry.isWritten
    }

    private mutating func release(_ alias: Alias, _ address: DeviceAddress) {
        let key = Key(app: alias.app, address: address)
        if identifiers[key] == alias.identifier { identifiers[key] = nil }
    }

    /// Marks a device as written to the journal.
    /// - Returns: `nil` if it was forgotten, or has been written already.
    mutating func write(_ alias: Alias) -> (address: DeviceAddress, isKept: Bool)? {
        guard let entry = entries[alias], !entry.isWritten else { return nil }
        entries[alias]?.isWritten = true
        return (entry.address, entry.isKept)
    }

    // MARK: Names

    /// The name of a private address becomes the device's name.
    mutating func rename(_ address: DeviceAddress, to identity: DeviceAddress) {
        guard let name = names[address] else { return }
        if let advertised = name.advertised { setAdvertisedName(advertised, of: identity) }
        if let device = name.device { _ = setDeviceName(device, of: identity) }
    }

    func name(of address: DeviceAddress) -> String? {
        let name = names[address.withoutIdentityMark]
        return name?.device ?? name?.advertised
    }

    mutating func setAdvertisedName(_ name: String, of address: DeviceAddress) {
        let address = address.withoutIdentityMark
        if let known = names[address]?.advertised, known == name { return }
        makeRoom(for: address)
        names[address, default: Name()].advertised = name
    }

    /// - Returns: whether the name has changed.
    mutating func setDeviceName(_ name: String, of address: DeviceAddress) -> Bool {
        let address = address.withoutIdentityMark
        let before = self.name(of: address)
        makeRoom(for: address)
        names[address, default: Name()].device = name
        return before != name
    }

    private mutating func makeRoom(for address: DeviceAddress) {
        guard names[address] == nil else { return }
        named.append(address)
        if named.count > limit, let oldest = named.popFirst() { names[oldest] = nil }
    }
}

extension DeviceAddress {
    /// Whether the address is permanent: public or static random (Core 5.4, Vol 6, Part B, 1.3).
    var isLasting: Bool { randomKind == nil || randomKind == .static }
}
