import BLEPackets

/// Subscriptions, notifications and indications (Core 5.4, Vol 3, Part G, 4.10 and 4.11; SPEC PER-20 to PER-23).
extension GATTServer {
    // MARK: Subscriptions

    /// A client wrote its configuration descriptor.
    mutating func configure(
        _ handle: AttributeHandle, _ configuration: Attribute.ClientConfiguration, _ octets: [UInt8], _ slot: Int
    ) {
        let before = modes(of: handle, configuration, slot)
        clients[slot].configurations.set(
            handle, SubscriptionModes(octets: octets), octets: octets.count == 2 ? nil : octets)
        tell(handle, configuration, before: before, slot)
    }

    private mutating func tell(
        _ handle: AttributeHandle, _ configuration: Attribute.ClientConfiguration, before: SubscriptionModes,
        _ slot: Int
    ) {
        let after = modes(of: handle, configuration, slot)
        guard before != after else { return }
        if !after.contains(.indications) {
            clients[slot].indications.keep { $0.handle != configuration.valueHandle }
            announceReadiness(latest)
        }
        guard !isServiceChanged(configuration.valueHandle) else { return }
        let subscription = subscription(to: configuration.valueHandle, after, slot)
        emit(after.isEmpty ? .unsubscribed(subscription) : .subscribed(subscription))
    }

    /// The modes that a client asked for, as far as the characteristic offers them.
    private func modes(
        of handle: AttributeHandle, _ configuration: Attribute.ClientConfiguration, _ slot: Int
    ) -> SubscriptionModes {
        (clients[slot].configurations[handle]?.modes ?? configuration.initial).intersection(configuration.allowed)
    }

    private func subscription(
        to handle: AttributeHandle, _ modes: SubscriptionModes, _ slot: Int
    ) -> GATTSubscription {
        GATTSubscription(
            link: clients[slot].link, handle: handle, modes: modes, maximumUpdateLength: clients[slot].mtu - 3,
            owner: database.table[handle]?.owner ?? .local)
    }

    private func configuration(of valueHandle: AttributeHandle) -> (AttributeHandle, Attribute.ClientConfiguration)? {
        guard let handle = database.table[valueHandle]?.configuration, handle != .none,
            case .clientConfiguration(let configuration)? = database.table[handle]?.value
        else { return nil }
        return (handle, configuration)
    }

    /// The subscriptions to a characteristic value, in the order in which the links were made.
    public func subscriptions(to handle: AttributeHandle) -> [GATTSubscription] {
        guard let (place, configuration) = configuration(of: handle) else { return [] }
        return clients.indices.compactMap { slot in
            let modes = modes(of: place, configuration, slot)
            return modes.isEmpty || clients[slot].isDead ? nil : subscription(to: handle, modes, slot)
        }
    }

    /// The link of a client is gone: all its subscriptions end except those that are kept.
    mutating func endSubscriptions(_ slot: Int, except kept: GATTClientRecord?) {
        for entry in clients[slot].configurations.entries {
            let isKept = kept?.configurations.contains { $0.handle == entry.handle } ?? false
            guard !isKept, case .clientConfiguration(let configuration)? = database.table[entry.handle]?.value,
                !isServiceChanged(configuration.valueHandle),
                !modes(of: entry.handle, configuration, slot).isEmpty
            else { continue }
            emit(.unsubscribed(subscription(to: configuration.valueHandle, [], slot)))
        }
    }

    // MARK: Updates

    /// Sends a value, but only to its subscribers (SPEC PER-21).
    ///
    /// A client that asked for notifications and indications gets notifications. A value that is too long for a
    /// client's ATT_MTU is cut for that client (SPEC PER-23, 2.4). A client that has not been told yet that the table
    /// has changed gets nothing until then.
    ///
    /// Each client has its own limit for waiting updates. If a client has no room left, the other clients wait for it
    /// for at most `updateTimeout`; after that it misses updates, alone, until it has caught up. If it is the only
    /// subscriber, the wait has no limit.
    /// - Parameters:
    ///   - links: the links to send to; `nil` means all.
    ///   - allowed: the ways of sending that are allowed.
    /// - Returns: false if there is no room: no client gets the value, and `readyToUpdate` follows when there is room
    ///   again (SPEC PER-22).
    public mutating func updateValue(
        _ value: [UInt8], of handle: AttributeHandle, to links: [LinkID]? = nil,
        as allowed: SubscriptionModes = [.notifications, .indications], at now: Instant
    ) -> Bool {
        guard let (place, configuration) = configuration(of: handle) else { return true }
        let limit = max(1, settings.updateLimit)
        var isWaitedFor = false
        var someHaveRoom = false
        var targets: [(slot: Int, isNotified: Bool, isFull: Bool)] = []
        for slot in clients.indices where !clients[slot].isDead && !clients[slot].isOutOfSync {
            if let links, !links.contains(clients[slot].link) { continue }
            let modes = modes(of: place, configuration, slot).intersection(allowed)
            guard !modes.isEmpty, isSecureEnough(handle, place, slot) else { continue }
            let isNotified = modes.contains(.notifications)
            let waiting = isNotified ? clients[slot].unsentNotifications : clients[slot].indications.count
            let isFull = waiting >= limit
            // Must be called even if there is room: the client may have caught up.
            let isLeftOut = hasFallenBehind(slot, now)
            if !isFull {
                someHaveRoom = true
            } else if !isLeftOut {
                isWaitedFor = true
            }
            targets.append((slot, isNotified, isFull))
        }
        if isWaitedFor || !someHaveRoom && !targets.isEmpty {
            for target in targets where target.isFull { clients[target.slot].isBlocking = true }
            owesReadiness = true
            if someHaveRoom { waitForTheSlow(now) }
            return false
        }
        for (slot, isNotified, isFull) in targets {
            if isFull {
                counters.missedUpdates &+= 1
            } else if isNotified {
                clients[slot].unsentNotifications += 1
                send(.handleValueNotification, handle, value, tag: .notification, slot)
            } else {
                clients[slot].indications.append(ServerClient.Indication(handle: handle, value: value))
                pumpIndications(slot, now)
            }
        }
        return true
    }

    /// A value that needs security is not sent on a link that has lost it (Core 5.4, Vol 3, Part C, 10.3.1.1).
    private func isSecureEnough(_ handle: AttributeHandle, _ configuration: AttributeHandle, _ slot: Int) -> Bool {
        guard let position = database.table.position(of: handle),
            let place = database.table.position(of: configuration)
        else { return false }
        let isReadable = database.table.attributes[position].permissions.contains(.readable)
        return refusal(writingAt: place, isCommand: false, slot) == nil
            && (!isReadable || refusal(readingAt: position, slot) == nil)
    }

    private mutating func send(
        _ opcode: ATTOpcode, _ handle: AttributeHandle, _ value: [UInt8], tag: GATTServerSendTag, _ slot: Int
    ) {
        let count = min(value.count, clients[slot].mtu - 3)
        var pdu = PacketWriter(reservingCapacity: 3 + count)
        pdu.write(opcode.rawValue)
        pdu.write(handle.rawValue)
        pdu.write(bytes: value.span.bytes.extracting(first: count))
        act(.send(pdu.bytes, to: clients[slot].link, tag: tag))
    }

    /// The controller has a PDU of the server.
    public mutating func sent(_ tag: GATTServerSendTag, to link: LinkID, at now: Instant) {
        guard let slot = slot(of: link) else { return }
        switch tag {
        case .response: clients[slot].unsentResponses = max(0, clients[slot].unsentResponses - 1)
        case .notification:
            clients[slot].unsentNotifications = max(0, clients[slot].unsentNotifications - 1)
            announceReadiness(now)
        case .indication: break  // its room is free once it is confirmed
        }
    }

    /// Reports once that there is room, as soon as every client that had none has half of its limit free, so that the
    /// app is not woken for each packet. The others do not wait for a client that is left out for now: one that must
    /// first be told of a change, or that has fallen behind while others have room.
    mutating func announceReadiness(_ now: Instant) {
        guard owesReadiness else { return }
        let limit = max(1, settings.updateLimit) / 2
        var isBlocked = false
        var isWaitedFor = false
        var someHaveRoom = slowDeadline != nil
        for slot in clients.indices where clients[slot].isBlocking {
            if clients[slot].isDead || clients[slot].isOutOfSync {
                clients[slot].isBlocking = false
            } else if clients[slot].unsentNotifications <= limit && clients[slot].indications.count <= limit {
                clients[slot].isBlocking = false
                someHaveRoom = true
            } else {
                isBlocked = true
                if !hasFallenBehind(slot, now) { isWaitedFor = true }
            }
        }
        if isWaitedFor, someHaveRoom { waitForTheSlow(now) }
        guard !isBlocked || someHaveRoom && !isWaitedFor else { return }
        owesReadiness = false
        slowDeadline = nil
        emit(.readyToUpdate)
    }

    // MARK: Clients that fall behind

    /// Other clients have room: they wait for those without room only until the deadline.
    private mutating func waitForTheSlow(_ now: Instant) {
        guard slowDeadline == nil else { return }
        if let last = lastFallenBehind, last.advanced(by: settings.updateTimeoutRecovery) <= now {
            lastFallenBehind = nil
        }
        if lastFallenBehind == nil { currentUpdateTimeout = settings.updateTimeout }
        slowDeadline = now.advanced(by: currentUpdateTimeout)
    }

    /// The others have waited long enough. Each wait is shorter than the last, whichever client causes it: a stranger
    /// that returns again and again under new addresses must not cost them more than one that stays.
    mutating func giveUpTheSlow(_ now: Instant) {
        guard let deadline = slowDeadline, deadline <= now else { return }
        var hasFallenBehind = false
        for slot in clients.indices where clients[slot].isBlocking && !self.hasFallenBehind(slot, now) {
            clients[slot].fellBehind = now
            hasFallenBehind = true
            counters.clientsFallenBehind &+= 1
            emit(.fellBehind(clients[slot].link))
        }
        if hasFallenBehind {
            lastFallenBehind = now
            currentUpdateTimeout = max(
                settings.minimumUpdateTimeout, Microseconds(rawValue: currentUpdateTimeout.rawValue / 2))
        }
        announceReadiness(now)
    }

    /// Whether the others do not wait for this client: until everything that waited for it has been sent, and at least
    /// for `fallenBehindSpan`.
    private mutating func hasFallenBehind(_ slot: Int, _ now: Instant) -> Bool {
        guard let since = clients[slot].fellBehind else { return false }
        guard clients[slot].unsentNotifications == 0, clients[slot].indications.isEmpty,
            since.advanced(by: settings.fallenBehindSpan) <= now
        else { return true }
        clients[slot].fellBehind = nil
        return false
    }

    // MARK: Indications

    /// Sends the next indication unless one is still unconfirmed (Core 5.4, Vol 3, Part F, 3.4.7.2).
    mutating func pumpIndications(_ slot: Int, _ now: Instant) {
        guard !clients[slot].isDead, clients[slot].unconfirmed == nil else { return }
        if let range = clients[slot].changedRange, let handle = database.table.handles(of: .serviceChanged).first {
            clients[slot].changedRange = nil
            indicate(handle, range.octets, slot, now)
        } else if !clients[slot].isOutOfSync, let indication = clients[slot].indications.popFirst() {
            indicate(indication.handle, indication.value, slot, now)
            announceReadiness(now)
        }
    }

    private mutating func indicate(_ handle: AttributeHandle, _ value: [UInt8], _ slot: Int, _ now: Instant) {
        clients[slot].unconfirmed = handle
        clients[slot].confirmationDeadline = now.advanced(by: settings.confirmationTimeout)
        send(.handleValueIndication, handle, value, tag: .indication, slot)
    }

    mutating func receiveConfirmation(_ pdu: RawSpan, _ slot: Int, _ now: Instant) {
        guard pdu.byteCount == 1 else {
            counters.malformedPDUs &+= 1
            return
        }
        guard let handle = clients[slot].unconfirmed else {
            counters.unexpectedConfirmations &+= 1
            return
        }
        clients[slot].unconfirmed = nil
        clients[slot].confirmationDeadline = nil
        if isServiceChanged(handle) {
            if clients[slot].changedRange == nil { clients[slot].awareness = .aware }
        } else {
            emit(.confirmed(clients[slot].link, handle))
        }
        pumpIndications(slot, now)
    }

    func isServiceChanged(_ handle: AttributeHandle) -> Bool {
        database.table.handles(of: .serviceChanged).first == handle
    }
}

extension AttributeHandleRange {
    /// Both handles in the format of the Service Changed value.
    var octets: [UInt8] {
        [
            UInt8(truncatingIfNeeded: first.rawValue), UInt8(truncatingIfNeeded: first.rawValue >> 8),
            UInt8(truncatingIfNeeded: last.rawValue), UInt8(truncatingIfNeeded: last.rawValue >> 8),
        ]
    }
}
