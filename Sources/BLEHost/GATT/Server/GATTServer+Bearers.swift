import BLEPackets

/// Enhanced bearers: each has its own ATT_MTU, requests, prepared writes and indications; what a client configures
/// applies to all (Core 5.4, Vol 3, Part F, 3.2.11; Part G, 5.3).
extension GATTServer {
    // MARK: Coming and going

    /// An enhanced bearer of a link was opened.
    ///
    /// - Parameters:
    ///   - number: identifies it on this link; not zero.
    ///   - mtu: its ATT_MTU in octets.
    public mutating func bearerOpened(_ number: UInt32, mtu: UInt16, on link: LinkID) {
        guard number != 0, let client = clients.handle(of: link), !clients[client].isDead,
            !clients[client].others.contains(where: { $0.number == number })
        else { return }
        clients[client].others.append(ServerBearer(number: number, mtu: mtu))
    }

    /// The ATT_MTU of an enhanced bearer has changed: its channel was reconfigured.
    public mutating func mtuChanged(to mtu: UInt16, ofBearer number: UInt32, on link: LinkID) {
        guard let client = clients.handle(of: link), clients[client].turn(to: number) else { return }
        clients[client].mtu = max(Int(ATTBearer.defaultMTU), Int(mtu))
        clients[client].turn(to: 0)
    }

    /// An enhanced bearer was closed: its request, prepared writes and waiting values are dropped. What follows for
    /// these subscriptions is sent on the unenhanced bearer.
    public mutating func bearerClosed(_ number: UInt32, on link: LinkID, at now: Instant) {
        guard let client = clients.handle(of: link),
            let index = clients[client].others.firstIndex(where: { $0.number == number })
        else { return }
        let closed = clients[client].others.remove(at: index)
        let lost = closed.gathered.count + closed.indications.count
        counters.missedUpdates &+= UInt64(truncatingIfNeeded: lost)
        if let handle = closed.unconfirmed, isServiceChanged(handle), !clients[client].isDead {
            // Whether the client has received it is unknown.
            clients[client].changedRange = .all
            pumpIndications(client, now)
        }
        announceReadiness(now)
    }

    // MARK: PDUs

    /// Receives a request, command or confirmation of a client on an enhanced bearer.
    public mutating func receive(_ pdu: RawSpan, from link: LinkID, onBearer number: UInt32, at now: Instant) {
        guard let client = clients.handle(of: link), !clients[client].isDead, clients[client].turn(to: number) else {
            counters.strayPDUs &+= 1
            return
        }
        if clients[client].isGivenUp { counters.strayPDUs &+= 1 } else { receive(pdu, from: link, at: now) }
        clients[client].turn(to: 0)
    }

    /// The controller has a PDU of an enhanced bearer.
    public mutating func sent(_ tag: GATTServerSendTag, to link: LinkID, onBearer number: UInt32, at now: Instant) {
        guard let client = clients.handle(of: link), clients[client].turn(to: number) else { return }
        sent(tag, to: link, at: now)
        clients[client].turn(to: 0)
    }

    /// Has each bearer of a client at work in turn, the one that is at work now first.
    @inline(__always)
    mutating func forEachBearer(of client: ServerClients.Handle, _ body: (inout Self) -> Void) {
        body(&self)
        guard clients[client].hasOthers else { return }
        forEachOther(of: client, body)
    }

    @inline(never)
    private mutating func forEachOther(of client: ServerClients.Handle, _ body: (inout Self) -> Void) {
        let atWork = clients[client].number
        for number in clients[client].others.map({ $0.number }) where clients[client].turn(to: number) { body(&self) }
        clients[client].turn(to: atWork)
    }

    // MARK: Notifications

    /// Sends a notification on the bearer at work. If the controller does not have the ones before it yet, and the
    /// client takes several values in one PDU, it waits for them and shares a PDU with the ones behind it (Core 5.4,
    /// Vol 3, Part F, 3.4.7.4).
    mutating func notify(_ handle: AttributeHandle, _ value: [UInt8], _ client: ServerClients.Handle) {
        let gathered = clients[client].gathered.count
        let isAlone = clients[client].unsentNotifications == gathered
        clients[client].unsentNotifications += 1
        guard Features.enhancedBearers, settings.sharesNotifications, !isAlone,
            clients[client].acceptsMultipleNotifications
        else {
            return send(.handleValueNotification, handle, value, tag: .notification, client)
        }
        let used = clients[client].gathered.reduce(1) { $0 + 4 + $1.value.count }
        if used + 4 + value.count > clients[client].mtu { sendGathered(client) }
        clients[client].gathered.append(ServerClient.Indication(handle: handle, value: value))
    }

    /// The controller has the PDU with this many values.
    mutating func notificationsSent(_ count: Int, _ client: ServerClients.Handle, _ now: Instant) {
        let unsent = max(0, clients[client].unsentNotifications - count)
        clients[client].unsentNotifications = unsent
        if Features.enhancedBearers, unsent > 0, unsent == clients[client].gathered.count { sendGathered(client) }
        announceReadiness(now)
    }

    /// Sends the values that have waited for the ones before them.
    private mutating func sendGathered(_ client: ServerClients.Handle) {
        let values = clients[client].gathered
        clients[client].gathered.removeAll(keepingCapacity: true)
        if clients[client].isOutOfSync {
            // The client must first learn that the table has changed.
            clients[client].unsentNotifications -= values.count
            counters.missedUpdates &+= UInt64(truncatingIfNeeded: values.count)
            return
        }
        guard values.count > 1 else {
            if let value = values.first {
                send(.handleValueNotification, value.handle, value.value, tag: .notification, client)
            }
            return
        }
        var pdu = PacketWriter(reservingCapacity: clients[client].mtu)
        pdu.write(ATTOpcode.multipleHandleValueNotification.rawValue)
        for value in values {
            pdu.write(value.handle.rawValue)
            pdu.write(UInt16(truncatingIfNeeded: value.value.count))
            pdu.write(bytes: value.value.span.bytes)
        }
        clients[client].shares.append(values.count)
        send(pdu.bytes, .notifications, client)
    }
}
