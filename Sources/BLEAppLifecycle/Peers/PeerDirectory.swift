import BLEHost
import BLEPackets

/// The identifiers by which apps know devices. Identifiers of devices that an app has used survive the process, and
/// others do while there is room (SPEC REC-3, REC-5, 5.6).
///
///     discovered ──written, at once or with others──▶ remembered ──no room──▶ forgotten, also in the journal
///       └──used by the app──▶ kept: written at once ──no room for other used devices──▶ forgotten
struct PeerDirectory {
    /// How long the identifier of a device that was only discovered waits before it is written together with others.
    private static let writingPause = Microseconds.seconds(5)
    /// How many are written at once in this time. With few devices around, all survive a kill at any moment; with many,
    /// the cost stays bounded.
    private static let promptLimit = 16
    /// The maximum number of waiting identifiers.
    private static let writingLimit = 256

    private var identities: IdentityMap
    private var entropy: EntropySource
    /// The names of apps by index.
    private var apps: [AppID] = []
    /// Only for lookup, never iterated.
    private var bonded: Set<DeviceAddress> = []
    /// Identifiers that have to be written to the journal or removed from it.
    private var unwritten: [IdentityMap.Alias] = []
    private var forgotten: [IdentityMap.Alias] = []
    /// When they are written.
    private(set) var writingDeadline: Instant?
    /// How many were written at once, and the end of the time in which they count.
    private var promptWriting = (until: Instant.zero, count: 0)

    /// - Parameters:
    ///   - limit: the maximum number of remembered devices of each kind (`LifecycleSettings.rememberedDevices`).
    ///   - seed: entropy for identifiers.
    init(limit: Int, seed: [UInt8]) {
        identities = IdentityMap(limit: limit)
        entropy = EntropySource(seed: seed)
    }

    /// Adds an app with the next index, or with that of one that is known no more.
    mutating func add(_ app: AppID, at index: Int) {
        if index < apps.count { apps[index] = app } else { apps.append(app) }
    }

    // MARK: Looking up

    func address(of identifier: PeerIdentifier, app: Int) -> DeviceAddress? {
        identities.address(of: identifier, app: app)
    }

    func identifier(of address: DeviceAddress, app: Int) -> PeerIdentifier? {
        identities.identifier(of: address, app: app)
    }

    func name(of address: DeviceAddress) -> String? { identities.name(of: address) }

    /// Whether an app has identifiers that it could use again in another process.
    func hasLastingIdentifiers(of app: Int) -> Bool { identities.hasLastingIdentifiers(of: app) }

    // MARK: Learning

    /// Returns an app's identifier of a device: the same each time, a new one for a new device (SPEC REC-3).
    /// - Returns: `isNew` if others may have to make room for it.
    mutating func identify(
        _ address: DeviceAddress, app: Int, into effects: inout ManagerEffects
    ) -> (identifier: PeerIdentifier, isNew: Bool) {
        if let identifier = identities.use(address, app: app) { return (identifier, false) }
        let identifier = entropy.nextIdentifier()
        let address = address.withoutIdentityMark
        identities.insert(identifier, address, app: app, isKept: false)
        if address.isLasting { write(IdentityMap.Alias(app: app, identifier: identifier), into: &effects) }
        return (identifier, true)
    }

    /// An app uses a device: its identifier is written at once and does not give way to devices that were only
    /// discovered.
    /// - Returns: whether others may have to make room for it.
    mutating func retain(_ identifier: PeerIdentifier, app: Int, into effects: inout ManagerEffects) -> Bool {
        guard identities.retain(identifier, app: app), let address = identities.address(of: identifier, app: app)
        else { return false }
        _ = identities.write(IdentityMap.Alias(app: app, identifier: identifier))
        if address.isLasting { effects.write(.identity(apps[app], identifier, address)) }
        return true
    }

    /// The identity of a private address is now known. The identifier of the address becomes that of the device, which
    /// stays the same for apps regardless of its address (SPEC REC-3, 5.6).
    mutating func rebind(
        _ address: DeviceAddress, to identity: DeviceAddress, into effects: inout ManagerEffects
    ) {
        for app in apps.indices {
            guard let identifier = identities.rebind(address, to: identity, app: app) else { continue }
            effects.write(.identity(apps[app], identifier, identity))
        }
        identities.rename(address, to: identity)
    }

    mutating func setAdvertisedName(_ name: String, of address: DeviceAddress) {
        identities.setAdvertisedName(name, of: address)
    }

    /// - Returns: whether the name has changed.
    mutating func setDeviceName(_ name: String, of address: DeviceAddress) -> Bool {
        identities.setDeviceName(name, of: address)
    }

    mutating func bondChanged(_ identity: DeviceAddress) { bonded.insert(identity) }
    mutating func bondRemoved(_ identity: DeviceAddress) { bonded.remove(identity.withoutIdentityMark) }

    /// Restores an identifier of an earlier process.
    mutating func restore(_ identity: PreservedState.Identity, app: Int) {
        identities.insert(
            identity.identifier, identity.address, app: app, isKept: identity.isOnlyHeard != true, isWritten: true)
    }

    /// Restores the identifier of a connecting device with a private address.
    mutating func restore(_ peripheral: PreservedManager.Peripheral, app: Int) {
        identities.insert(peripheral.identifier, peripheral.address, app: app, isKept: true)
    }

    // MARK: Forgetting

    /// The next candidate for removal; `nil` while there is room.
    func nextToForget() -> RememberedDevices.Device? { identities.nextToForget() }

    func isBonded(_ address: DeviceAddress) -> Bool { bonded.contains(address) }

    /// A device that may not be forgotten counts as used.
    mutating func spare(_ address: DeviceAddress) { identities.spare(address) }

    /// Forgets a device for all apps.
    mutating func forget(_ address: DeviceAddress) {
        let written = identities.forget(address)
        if address.isLasting { forgotten += written }
    }

    /// Forgets all devices of an app.
    mutating func forgetAll(of app: Int) {
        forgotten += identities.forgetAll(of: app)
    }

    // MARK: The journal

    /// Writes a device that an app has discovered for the first time. While there are few, each is written before the
    /// app receives the event.
    private mutating func write(_ alias: IdentityMap.Alias, into effects: inout ManagerEffects) {
        unwritten.append(alias)
        guard unwritten.count == 1, promptWriting.count < Self.promptLimit else { return }
        promptWriting.count += 1
        writeDown(into: &effects)
    }

    /// Plans writing many new devices together, a while after the first of them.
    mutating func planWriting(into effects: inout ManagerEffects) {
        let now = effects.now
        if now >= promptWriting.until { promptWriting = (until: now.advanced(by: Self.writingPause), count: 0) }
        guard !unwritten.isEmpty || !forgotten.isEmpty else { return }
        let isMuch = max(unwritten.count, forgotten.count) >= Self.writingLimit
        let due = writingDeadline ?? now.advanced(by: Self.writingPause)
        writingDeadline = due
        if isMuch || due <= now { writeDown(into: &effects) }
    }

    /// Writes all pending changes to the journal.
    mutating func writeDown(into effects: inout ManagerEffects) {
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
        if !new.isEmpty { effects.write(.identities(new)) }
        let old = forgotten.map { PreservedState.Name(app: apps[$0.app], identifier: $0.identifier) }
        forgotten = []
        if !old.isEmpty { effects.write(.identitiesForgotten(old)) }
    }
}
