import BLEPackets

/// Which app knows which device by which identifier, and what the device is called (SPEC REC-3, 5.6).
///
/// An address that never changes is remembered for ever; one that passes only as long as there is room, so that a device
/// which changes it is a new one each time (SPEC REC-5). Nothing here is walked through in the order of a dictionary.
struct IdentityMap {
    private struct Key: Hashable {
        var app: Int
        var address: DeviceAddress
    }

    private struct Name {
        var advertised: String?
        var device: String?
    }

    private let limit: Int
    private var identifiers: [Key: PeerIdentifier] = [:]
    private var addresses: [Int: [PeerIdentifier: DeviceAddress]] = [:]
    private var names: [DeviceAddress: Name] = [:]
    private var passing: [Key] = []
    private var passingHead = 0
    private var named: [DeviceAddress] = []
    private var namedHead = 0

    init(limit: Int) { self.limit = max(16, limit) }

    func address(of identifier: PeerIdentifier, app: Int) -> DeviceAddress? { addresses[app]?[identifier] }

    func identifier(of address: DeviceAddress, app: Int) -> PeerIdentifier? {
        identifiers[Key(app: app, address: address.withoutIdentityMark)]
    }

    mutating func insert(_ identifier: PeerIdentifier, _ address: DeviceAddress, app: Int) {
        let key = Key(app: app, address: address.withoutIdentityMark)
        // An older name of the device stays its name; the other leads to it all the same.
        if identifiers[key] == nil { identifiers[key] = identifier }
        addresses[app, default: [:]][identifier] = key.address
        guard !address.isLasting else { return }
        passing.append(key)
        guard passing.count - passingHead > limit else { return }
        let old = passing[passingHead]
        passingHead += 1
        if let identifier = identifiers.removeValue(forKey: old) { addresses[old.app]?[identifier] = nil }
        if passingHead > limit {
            passing.removeFirst(passingHead)
            passingHead = 0
        }
    }

    /// What an app calls a private address it calls the device from now on.
    /// - Returns: `nil` where it has no name for the address.
    mutating func rebind(_ address: DeviceAddress, to identity: DeviceAddress, app: Int) -> PeerIdentifier? {
        guard let identifier = identifiers.removeValue(forKey: Key(app: app, address: address)) else { return nil }
        insert(identifier, identity, app: app)
        return identifier
    }

    // MARK: Names

    /// What a private address is called is the device's name.
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

    /// - Returns: whether it is another than before.
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
        guard named.count - namedHead > limit else { return }
        names[named[namedHead]] = nil
        namedHead += 1
        if namedHead > limit {
            named.removeFirst(namedHead)
            namedHead = 0
        }
    }
}

extension DeviceAddress {
    /// Whether a device keeps this address from one day to the next (Core 5.4, Vol 6, Part B, 1.3).
    var isLasting: Bool { randomKind == nil || randomKind == .static }
}
