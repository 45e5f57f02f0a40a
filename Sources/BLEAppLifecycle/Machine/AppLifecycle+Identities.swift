import BLEHost
import BLEPackets

/// Which identifiers last: those of devices that an app asked for, and of others as long as there is room
/// (SPEC REC-3, REC-5, 5.6).
extension AppLifecycle {
    /// How long an identifier that an app has only heard of waits until it is written down, with others.
    private static let writingPause = Microseconds.seconds(5)
    /// How many are written down at once in such a time: the few devices of a quiet place are known after a kill at any
    /// moment, and a crowd costs no more.
    private static let promptLimit = 16
    /// How many wait at most.
    private static let writingLimit = 256
    /// How many devices are asked about at a time whether they may be forgotten.
    private static let forgettingTries = 64

    /// A private address belongs to a device that is known by its identity from now on. What apps call the address they
    /// call the device: it is the same for them, whatever address it shows (SPEC REC-3, 5.6).
    mutating func identityFound(_ identity: DeviceAddress, behind address: DeviceAddress) {
        for app in apps.indices {
            guard let identifier = identities.rebind(address, to: identity, app: app) else { continue }
            emit(.journal(.identity(apps[app].id, identifier, identity)))
        }
        identities.rename(address, to: identity)
        for index in managers.indices {
            for session in managers[index].central.peripherals.indices
            where managers[index].central.peripherals[session].address == address {
                managers[index].central.peripherals[session].address = identity
            }
            for place in managers[index].server.subscribers.indices
            where managers[index].server.subscribers[place].address == address {
                managers[index].server.subscribers[place].address = identity
            }
        }
        for place in links.indices where links[place].address == address { links[place].address = identity }
        needsJournal = true
    }

    /// An app asks for a device: its identifier is written down at once, and makes no room for what is only heard.
    mutating func keepIdentity(_ identifier: PeerIdentifier, app: Int) {
        guard identities.keep(identifier, app: app), let address = identities.address(of: identifier, app: app)
        else { return }
        _ = identities.write(IdentityMap.Alias(app: app, identifier: identifier))
        if address.isLasting { emit(.journal(.identity(apps[app].id, identifier, address))) }
        forgetOldest()
    }

    // MARK: Bonds

    /// The engine was given these bonds: apps keep their identifiers of the devices.
    public mutating func restored(_ bonds: [Bond]) {
        for bond in bonds { bondChanged(bond.identity) }
    }

    mutating func bondChanged(_ identity: DeviceAddress) { bonded.insert(identity) }
    mutating func bondRemoved(_ identity: DeviceAddress) { bonded.remove(identity.withoutIdentityMark) }

    // MARK: Room

    mutating func forgetOldest() {
        for _ in 0..<Self.forgettingTries {
            guard let oldest = identities.nextToForget() else { return }
            if isHeld(oldest.alias, oldest.address) { continue }
            if identities.forget(oldest.alias), oldest.address.isLasting { forgotten.append(oldest.alias) }
        }
    }

    /// Whether an identifier is in use, whoever asked last for it.
    private func isHeld(_ alias: IdentityMap.Alias, _ address: DeviceAddress) -> Bool {
        if bonded.contains(address) || links.contains(where: { $0.address == address }) { return true }
        return managers.contains { manager in
            guard manager.app == alias.app else { return false }
            let isKept = manager.snapshot?.peripherals.contains { $0.identifier == alias.identifier } ?? false
            return isKept || manager.central.index(of: alias.identifier) != nil
        }
    }

    // MARK: The journal

    /// An app hears of a device for the first time. While these are few each is written down before the app is told of
    /// it.
    mutating func write(_ alias: IdentityMap.Alias) {
        unwritten.append(alias)
        guard unwritten.count == 1, promptWriting.count < Self.promptLimit else { return }
        promptWriting.count += 1
        writeIdentities()
    }

    /// What many were heard of is written down together, a while after the first of them.
    mutating func planWriting(at now: Instant) {
        if now >= promptWriting.until { promptWriting = (until: now.advanced(by: Self.writingPause), count: 0) }
        guard !unwritten.isEmpty || !forgotten.isEmpty else { return }
        let isMuch = max(unwritten.count, forgotten.count) >= Self.writingLimit
        let due = writingDeadline ?? now.advanced(by: Self.writingPause)
        writingDeadline = due
        if isMuch || due <= now { writeIdentities() }
    }

    mutating func writeIdentities() {
        writingDeadline = nil
        var new: [PreservedState.Identity] = []
        for alias in unwritten {
            guard let entry = identities.write(alias) else { continue }
            new.append(
                PreservedState.Identity(
                    app: apps[alias.app].id, identifier: alias.identifier, address: entry.address,
                    isOnlyHeard: entry.isKept ? nil : true))
        }
        unwritten = []
        if !new.isEmpty { emit(.journal(.identities(new))) }
        let old = forgotten.map { PreservedState.Name(app: apps[$0.app].id, identifier: $0.identifier) }
        forgotten = []
        if !old.isEmpty { emit(.journal(.identitiesForgotten(old))) }
    }

    /// Takes up the identifiers that an earlier process gave.
    mutating func restore(_ known: [PreservedState.Identity]) {
        for identity in known {
            identities.insert(
                identity.identifier, identity.address, app: self.known(identity.app),
                isKept: identity.isOnlyHeard != true, isWritten: true)
            forgetOldest()
        }
    }
}
