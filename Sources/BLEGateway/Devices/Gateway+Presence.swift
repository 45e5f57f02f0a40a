import BLEHost

/// Whether a device is present. It stays when the device itself is forgotten.
struct PresenceTrack: Sendable {
    /// As last stated; `nil`: never.
    var isPresent: Bool?
    /// When it was last received with the signal strength that presence requires, or listening for it began; `nil`: it
    /// has not begun.
    var since: Instant?
}

extension Gateway {
    /// Begins to listen for the devices of the configuration, and goes on with those that are known.
    mutating func preparePresence() {
        let old = presences
        presences = [:]
        guard configuration.presence != nil else { return }
        for owner in namedOrder { presences[owner] = old[owner] ?? PresenceTrack() }
        for (owner, track) in old where retained.owners[owner]?.isResolved == true { presences[owner] = track }
    }

    /// Goes on with what an earlier run of the program stated. A device that was present has the whole time-out to come again.
    mutating func restorePresence() {
        for statement in retained.statements where statement.kind == .presence {
            guard configuration.presence != nil, isNamed(statement.owner) else { continue }
            let isPresent = statement.payload.map { $0 == Self.home }
            presences[statement.owner] = PresenceTrack(isPresent: isPresent, since: nil)
        }
    }

    mutating func checkPresence(_ slot: Int, at now: Instant) {
        guard let rule = configuration.presence, devices[slot].isNamed, let signal = best(slot) else { return }
        let owner = addressText(of: devices[slot])
        var track = presences[owner] ?? PresenceTrack()
        let wasPresent = track.isPresent == true
        guard signal.smoothed >= (wasPresent ? rule.leave : rule.enter) else { return }
        track.since = now
        track.isPresent = true
        presences[owner] = track
        if wasPresent { return }
        devices[slot].hasNews = true
        nextSweep = earliest(nextSweep, now.advanced(by: rule.timeout))
        send(presenceMessage(devices[slot], isPresent: true), .presence, devices[slot], at: now)
    }

    /// States that devices are absent that were silent for so long.
    /// - Returns: when the next may be; `nil`: none.
    mutating func sweepPresence(at now: Instant) -> Instant? {
        guard let rule = configuration.presence else { return nil }
        var next: Instant?
        // In the order of the configuration; those that only a bond names come after them.
        let others = presences.keys.filter { named[$0] == nil }.sorted()
        for owner in namedOrder + others {
            guard var track = presences[owner], track.isPresent != false else { continue }
            let end = (track.since ?? now).advanced(by: rule.timeout)
            track.since = track.since ?? now
            if end <= now {
                track.isPresent = false
                presences[owner] = track
                statePresence(of: owner, false, at: now)
                if named[owner] == nil { presences[owner] = nil }
            } else {
                presences[owner] = track
                next = earliest(next, end)
            }
        }
        return next
    }

    /// States what is known of devices for which nothing is stated: their topic has changed.
    mutating func statePresences(at now: Instant) {
        for owner in presences.keys.sorted() {
            guard let isPresent = presences[owner]?.isPresent else { continue }
            if retained.statements(of: owner).contains(where: { $0.kind == .presence }) { continue }
            statePresence(of: owner, isPresent, at: now)
        }
    }

    private mutating func statePresence(of owner: String, _ isPresent: Bool, at now: Instant) {
        if let slot = devices.indices.first(where: { devices[$0].isInUse && addressText(of: devices[$0]) == owner }) {
            devices[slot].hasNews = true
            return send(presenceMessage(devices[slot], isPresent: isPresent), .presence, devices[slot], at: now)
        }
        let payload = isPresent ? Self.home : Self.notHome
        let basis = basis(of: .presence, owner: owner)
        let known = retained.statements(of: owner).first { $0.kind == .presence && $0.basis == basis }
        let topic =
            known?.topic
            ?? configuration.topics.presence.topic { placeholder in
                switch placeholder {
                case .gateway: configuration.name
                case .address: owner
                case .id: Self.identifier(owner)
                case .name: named[owner].flatMap(\.self) ?? owner
                case .adapter: ""
                }
            }
        let statement = RetainedStatement(
            topic: topic, kind: .presence, owner: owner, basis: basis, payload: payload)
        let isRetained = retained.state(statement, isNamed: true, isResolved: named[owner] == nil, at: now)
        messages.append(
            GatewayMessage(kind: .presence, topic: topic, payload: payload, isRetained: isRetained))
    }

    static let home = Array("home".utf8)
    static let notHome = Array("not_home".utf8)
}
