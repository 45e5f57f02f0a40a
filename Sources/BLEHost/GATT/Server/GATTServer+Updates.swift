import BLEPackets

/// Subscriptions, notifications and indications (Core 5.4, Vol 3, Part G, 4.10 and 4.11; SPEC PER-20 to PER-23).
extension GATTServer {
    // MARK: Subscriptions

    /// A client wrote its configuration descriptor.
    mutating func configure(
        _ handle: AttributeHandle, _ configuration: Attribute.ClientConfiguration, _ octets: [UInt8],
        _ client: ServerClients.Handle
    ) {
        let before = modes(of: handle, configuration, client)
        clients[client].configurations.set(
            handle, configuration.modes(of: octets), octets: octets.count == 2 ? nil : octets,
            bearer: clients[client].number)
        reportChange(handle, configuration, before: before, client)
    }

    private mutating func reportChange(
        _ handle: AttributeHandle, _ configuration: Attribute.ClientConfiguration, before: SubscriptionModes,
        _ client: ServerClients.Handle
    ) {
        let after = modes(of: handle, configuration, client)
        guard before != after else { return }
        if !after.contains(.indications) {
            clients[client].dropIndications(of: configuration.valueHandle)
            announceReadiness(latest)
        }
        // No value follows the response.
        if !after.contains(.notifications) { clients[client].dropGathered(of: configuration.valueHandle) }
        guard !isServiceChanged(configuration.valueHandle) else { return }
        let subscription = subscription(to: configuration.valueHandle, handle, after, client)
        emit(after.isEmpty ? .unsubscribed(subscription) : .subscribed(subscription))
    }

    /// The modes that a client asked for, as far as the characteristic offers them.
    private func modes(
        of handle: AttributeHandle, _ configuration: Attribute.ClientConfiguration, _ client: ServerClients.Handle
    ) -> SubscriptionModes {
        (clients[client].configurations[handle]?.modes ?? configuration.initial).intersection(configuration.allowed)
    }

    private func subscription(
        to handle: AttributeHandle, _ configuration: AttributeHandle, _ modes: SubscriptionModes,
        _ client: ServerClients.Handle
    ) -> GATTSubscription {
        GATTSubscription(
            link: clients[client].link, handle: handle, modes: modes,
            maximumUpdateLength: clients[client].updateMTU(of: configuration) - 3,
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
        return clients.handles.compactMap { client in
            let modes = modes(of: place, configuration, client)
            return modes.isEmpty || clients[client].isDead ? nil : subscription(to: handle, place, modes, client)
        }
    }

    /// The link of a client is gone: all its subscriptions end except those that are kept.
    mutating func endSubscriptions(_ client: ServerClients.Handle, except kept: GATTClientRecord?) {
        for entry in clients[client].configurations.entries {
            let isKept = kept?.configurations.contains { $0.handle == entry.handle } ?? false
            guard !isKept, case .clientConfiguration(let configuration)? = database.table[entry.handle]?.value,
                !isServiceChanged(configuration.valueHandle),
                !modes(of: entry.handle, configuration, client).isEmpty
            else { continue }
            emit(.unsubscribed(subscription(to: configuration.valueHandle, entry.handle, [], client)))
        }
    }

    // MARK: Updates

    /// Sends a value, but only to its subscribers (SPEC PER-21).
    ///
    /// A client that asked for notifications and indications gets notifications, on the bearer on which it asked: so
    /// the values of a characteristic stay in order. A value that is too long for a client's ATT_MTU is cut for that
    /// client (SPEC PER-23, 2.4). A client that does not know yet that the table has changed gets nothing until
    /// then.
    ///
    /// Each client has its own limit for waiting updates. If a client has no room left, the other clients wait for it
    /// for at most `updateTimeout`; after that only this client misses updates, until it has caught up. If it is the
    /// only subscriber, the wait has no limit.
    /// - Parameters:
    ///   - links: the links to send to; `nil` means all.
    ///   - allowed: the ways of sending that are allowed.
    /// - Returns: false if there is no room: no client gets the value, and `readyToUpdate` follows when there is room
    ///   again (SPEC PER-22).
    public mutating func updateValue(
        _ value: [UInt8], of handle: AttributeHandle, to links: [LinkID]? = nil,
        as allowed: SubscriptionModes = [.notifications, .indications], at now: Instant
    ) -> Bool {
        if !broadcasts.isEmpty, links == nil, broadcasts.update(value, of: handle) { announceBroadcasts() }
        guard let (place, configuration) = configuration(of: handle) else { return true }
        let limit = max(1, settings.updateLimit)
        var isWaitedFor = false
        var someHaveRoom = false
        var targets: [(client: ServerClients.Handle, bearer: UInt32, isNotified: Bool, isFull: Bool)] = []
        for client in clients.handles where !clients[client].isDead && !clients[client].isOutOfSync {
            if let links, !links.contains(clients[client].link) { continue }
            let modes = modes(of: place, configuration, client).intersection(allowed)
            guard !modes.isEmpty, isSecureEnough(handle, place, client) else { continue }
            let isNotified = modes.contains(.notifications)
            let number = clients[client].updateBearer(of: place)
            clients[client].turn(to: number)
            let waiting =
                isNotified ? clients[client].unsentNotifications : clients[client].indications.count
            clients[client].turn(to: 0)
            let isFull = waiting >= limit
            // Must be called even if there is room: the client may have caught up.
            let isLeftOut = hasFallenBehind(client, now)
            if !isFull {
                someHaveRoom = true
            } else if !isLeftOut {
                isWaitedFor = true
            }
            targets.append((client, number, isNotified, isFull))
        }
        if isWaitedFor || !someHaveRoom && !targets.isEmpty {
            for target in targets where target.isFull { clients[target.client].isBlocking = true }
            owesReadiness = true
            if someHaveRoom { waitForTheSlow(now) }
            return false
        }
        for (client, number, isNotified, isFull) in targets {
            clients[client].turn(to: number)
            defer { clients[client].turn(to: 0) }
            if isFull {
                counters.missedUpdates &+= 1
            } else if isNotified {
                notify(handle, value, client)
            } else {
                // The rest would never be sent: a bearer that becomes longer is not longer than that.
                let longest = max(maximumAttributeLength, clients[client].mtu - 3)
                clients[client].indications.append(
                    ServerClient.Indication(handle: handle, value: [UInt8](value.prefix(longest))))
                pumpIndications(client, now)
            }
        }
        return true
    }

    /// A value that needs security is not sent on a link that has lost it (Core 5.4, Vol 3, Part C, 10.3.1.1).
    private mutating func isSecureEnough(
        _ handle: AttributeHandle, _ configuration: AttributeHandle, _ client: ServerClients.Handle
    ) -> Bool {
        guard let position = database.table.position(of: handle),
            let place = database.table.position(of: configuration)
        else { return false }
        let isReadable = database.table.permissions(at: position).contains(.readable)
        guard refusal(writingAt: place, isCommand: false, client) == nil else { return false }
        return !isReadable || refusal(readingAt: position, client) == nil
    }

    mutating func send(
        _ opcode: ATTOpcode, _ handle: AttributeHandle, _ value: [UInt8], tag: GATTServerSendTag,
        _ client: ServerClients.Handle
    ) {
        let count = min(value.count, clients[client].mtu - 3)
        var pdu = PacketWriter(reservingCapacity: 3 + count)
        pdu.write(opcode.rawValue)
        pdu.write(handle.rawValue)
        pdu.write(bytes: value.span.bytes.extracting(first: count))
        send(pdu.bytes, tag, client)
    }

    /// The controller has a PDU of the server.
    public mutating func sent(_ tag: GATTServerSendTag, to link: LinkID, at now: Instant) {
        guard let client = clients.handle(of: link) else { return }
        switch tag {
        case .response: clients[client].unsentResponses = max(0, clients[client].unsentResponses - 1)
        case .notification: notificationsSent(1, client, now)
        case .notifications: notificationsSent(clients[client].shares.popFirst() ?? 0, client, now)
        case .indication: break  // its room is free once it is confirmed
        }
    }

    /// Reports once that there is room, as soon as every client that had none has half of its limit free, so that the
    /// app is not woken for each packet. The others do not wait for a client that is left out for now: one that must
    /// first learn of a change, or that has fallen behind while others have room.
    @inline(__always)
    mutating func announceReadiness(_ now: Instant) {
        if owesReadiness { announceReadinessIfFree(now) }
    }

    // Not inlined: many inputs ask for it, few have to announce something.
    @inline(never)
    private mutating func announceReadinessIfFree(_ now: Instant) {
        let limit = max(1, settings.updateLimit) / 2
        var isBlocked = false
        var isWaitedFor = false
        var someHaveRoom = slowDeadline != nil
        for client in clients.handles where clients[client].isBlocking {
            if clients[client].isDead || clients[client].isOutOfSync {
                clients[client].isBlocking = false
            } else if clients[client].hasAtMost(limit) {
                clients[client].isBlocking = false
                someHaveRoom = true
            } else {
                isBlocked = true
                if !hasFallenBehind(client, now) { isWaitedFor = true }
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
        for client in clients.handles where clients[client].isBlocking && !self.hasFallenBehind(client, now) {
            clients[client].fellBehind = now
            hasFallenBehind = true
            counters.clientsFallenBehind &+= 1
            emit(.fellBehind(clients[client].link))
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
    private mutating func hasFallenBehind(_ client: ServerClients.Handle, _ now: Instant) -> Bool {
        guard let since = clients[client].fellBehind else { return false }
        guard clients[client].hasAtMost(0), since.advanced(by: settings.fallenBehindSpan) <= now else {
            return true
        }
        clients[client].fellBehind = nil
        return false
    }

    // MARK: Indications

    /// Sends the next indication unless one is still unconfirmed (Core 5.4, Vol 3, Part F, 3.4.7.2).
    mutating func pumpIndications(_ client: ServerClients.Handle, _ now: Instant) {
        guard !clients[client].isDead, !clients[client].isGivenUp, clients[client].unconfirmed == nil else { return }
        if let range = clients[client].changedRange, let handle = database.table.handles(of: .serviceChanged).first {
            clients[client].changedRange = nil
            indicate(handle, range.octets, client, now)
        } else if !clients[client].isOutOfSync, let indication = clients[client].indications.popFirst() {
            indicate(indication.handle, indication.value, client, now)
            announceReadiness(now)
        }
    }

    private mutating func indicate(
        _ handle: AttributeHandle, _ value: [UInt8], _ client: ServerClients.Handle, _ now: Instant
    ) {
        clients[client].unconfirmed = handle
        clients[client].confirmationDeadline = now.advanced(by: settings.confirmationTimeout)
        send(.handleValueIndication, handle, value, tag: .indication, client)
    }

    mutating func receiveConfirmation(_ pdu: RawSpan, _ client: ServerClients.Handle, _ now: Instant) {
        guard pdu.byteCount == 1 else {
            counters.malformedPDUs &+= 1
            return
        }
        guard let handle = clients[client].unconfirmed else {
            counters.unexpectedConfirmations &+= 1
            return
        }
        clients[client].unconfirmed = nil
        clients[client].confirmationDeadline = nil
        if isServiceChanged(handle) {
            // With several bearers, requests may be on their way on others (Core 5.4, Vol 3, Part G, 2.5.2.1).
            let knows = clients[client].others.isEmpty || !clients[client].hasRobustCaching
            if clients[client].changedRange == nil, knows { clients[client].awareness = .aware }
        } else {
            emit(.confirmed(clients[client].link, handle))
        }
        pumpIndications(client, now)
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
