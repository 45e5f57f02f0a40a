import BLEHost
import BLEPackets

/// Which app knows which device by which identifier, and which of these identifiers outlast the process: those of devices
/// that an app asked for, and of others as long as there is room (SPEC REC-3, REC-5, 5.6).
///
///     heard ──written down, at once or with others──▶ remembered ──no room──▶ forgotten, the journal is told
///       └──the app asks for it──▶ kept: written down at once ──no room for others asked for──▶ forgotten
struct PeerDirectory {
    /// How long an identifier that an app has only heard of waits until it is written down, with others.
    private static let writingPause = Microseconds.seconds(5)
    /// How many are written down at once in such a time: the few devices of a quiet place are known after a kill at any
    /// moment, and a crowd costs no more.
    private static let promptLimit = 16
    /// How many wait at most.
    private static let writingLimit = 256

    private var identities: IdentityMap
    private var entropy: EntropySource
    /// Names of apps, by their index.
    private var apps: [AppID] = []
    /// Looked up only.
    private var bonded: Set<DeviceAddress> = []
    /// Identifiers that the journal has yet to be told, and to be told to forget.
    private var unwritten: [IdentityMap.Alias] = []
    private var forgotten: [IdentityMap.Alias] = []
    /// When they are written down.
    private(set) var writingDeadline: Instant?
    /// How many were written down at once, and until when they count.
    private var promptWriting = (until: Instant.zero, count: 0)

    /// - Parameters:
    ///   - limit: how many devices are remembered, of each kind (`LifecycleSettings.rememberedDevices`).
    ///   - seed: identifiers are made of it.
    init(limit: Int, seed: [UInt8]) {
        identities = IdentityMap(limit: limit)
        entropy = EntropySource(seed: seed)
    }

    /// There is another app; its index is the next.
    mutating func add(_ app: AppID) { apps.append(app) }

    // MARK: Looking up

    func address(of identifier: PeerIdentifier, app: Int) -> DeviceAddress? {
        identities.address(of: identifier, app: app)
    }

    func identifier(of address: DeviceAddress, app: Int) -> PeerIdentifier? {
        identities.identifier(of: address, app: app)
    }

    func name(of address: DeviceAddress) -> String? { identities.name(of: address) }

    // MARK: Learning

    /// The identifier of a device for an app: the same each time, a new one at first sight (SPEC REC-3).
    /// - Returns: `isNew` where others may have to make room for it.
    mutating func identify(
        _ address: DeviceAddress, app: Int, into outputs: inout OutputQueue
    ) -> (identifier: PeerIdentifier, isNew: Bool) {
        if let identifier = identities.identifier(of: address, app: app) {
            identities.use(identifier, app: app)
            return (identifier, false)
        }
        let identifier = entropy.nextIdentifier()
        let address = address.withoutIdentityMark
        identities.insert(identifier, address, app: app, isKept: false)
        if address.isLasting { write(IdentityMap.Alias(app: app, identifier: identifier), into: &outputs) }
        return (identifier, true)
    }

    /// An app asks for a device: its identifier is written down at once, and makes no room for what is only heard.
    /// - Returns: whether others may have to make room for it.
    mutating func keep(_ identifier: PeerIdentifier, app: Int, into outputs: inout OutputQueue) -> Bool {
        guard identities.keep(identifier, app: app), let address = identities.address(of: identifier, app: app)
        else { return false }
        _ = identities.write(IdentityMap.Alias(app: app, identifier: identifier))
        if address.isLasting { outputs.emit(.journal(.identity(apps[app], identifier, address))) }
        return true
    }

    /// A private address belongs to a device that is known by its identity from now on. What apps call the address they
    /// call the device: it is the same for them, whatever address it shows (SPEC REC-3, 5.6).
    mutating func rebind(
        _ address: DeviceAddress, to identity: DeviceAddress, into outputs: inout OutputQueue
    ) {
        for app in apps.indices {
            guard let identifier = identities.rebind(address, to: identity, app: app) else { continue }
            outputs.emit(.journal(.identity(apps[app], identifier, identity)))
        }
        identities.rename(address, to: identity)
    }

    mutating func setAdvertisedName(_ name: String, of address: DeviceAddress) {
        identities.setAdvertisedName(name, of: address)
    }

    /// - Returns: whether it is another than before.
    mutating func setDeviceName(_ name: String, of address: DeviceAddress) -> Bool {
        identities.setDeviceName(name, of: address)
    }

    mutating func bondChanged(_ identity: DeviceAddress) { bonded.insert(identity) }
    mutating func bondRemoved(_ identity: DeviceAddress) { bonded.remove(identity.withoutIdentityMark) }

    /// Takes up an identifier that an earlier process gave.
    mutating func restore(_ identity: PreservedState.Identity, app: Int) {
        identities.insert(
            identity.identifier, identity.address, app: app, isKept: identity.isOnlyHeard != true, isWritten: true)
    }

    /// Takes up what an app calls a device that shows a private address and is waited for.
    mutating func restore(_ peripheral: PreservedManager.Peripheral, app: Int) {
        identities.insert(peripheral.identifier, peripheral.address, app: app, isKept: true)
    }

    // MARK: Forgetting

    /// What is to be forgotten next, if nothing speaks for it; `nil` while there is room.
    mutating func nextToForget() -> (alias: IdentityMap.Alias, address: DeviceAddress)? { identities.nextToForget() }

    func isBonded(_ address: DeviceAddress) -> Bool { bonded.contains(address) }

    mutating func forget(_ alias: IdentityMap.Alias, _ address: DeviceAddress) {
        if identities.forget(alias), address.isLasting { forgotten.append(alias) }
    }

    // MARK: The journal

    /// An app hears of a device for the first time. While these are few each is written down before the app is told of
    /// it.
    private mutating func write(_ alias: IdentityMap.Alias, into outputs: inout OutputQueue) {
        unwritten.append(alias)
        guard unwritten.count == 1, promptWriting.count < Self.promptLimit else { return }
        promptWriting.count += 1
        writeDown(into: &outputs)
    }

    /// What many were heard of is written down together, a while after the first of them.
    mutating func planWriting(at now: Instant, into outputs: inout OutputQueue) {
        if now >= promptWriting.until { promptWriting = (until: now.advanced(by: Self.writingPause), count: 0) }
        guard !unwritten.isEmpty || !forgotten.isEmpty else { return }
        let isMuch = max(unwritten.count, forgotten.count) >= Self.writingLimit
        let due = writingDeadline ?? now.advanced(by: Self.writingPause)
        writingDeadline = due
        if isMuch || due <= now { writeDown(into: &outputs) }
    }

    /// Tells the journal everything that it has yet to be told.
    mutating func writeDown(into outputs: inout OutputQueue) {
        writingDeadline = nil
        var new: [PreservedState.Identity] = []
        for alias in unwritten {
            guard let entry = identities.write(alias) else { continue }
            new.append(
                PreservedState.Identity(
                    app: apps[alias.app], identifier: alias.identifier, address: entry.address,
                    isOnlyHeard: entry.isKept ? nil : true))
        }
        unwritten = []
        if !new.isEmpty { outputs.emit(.journal(.identities(new))) }
        let old = forgotten.map { PreservedState.Name(app: apps[$0.app], identifier: $0.identifier) }
        forgotten = []
        if !old.isEmpty { outputs.emit(.journal(.identitiesForgotten(old))) }
    }
}
