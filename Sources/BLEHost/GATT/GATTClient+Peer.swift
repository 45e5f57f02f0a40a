import BLEPackets

extension GATTClient {
    // MARK: Values that the peer sends

    /// The value of a notification that goes straight to clients, as most do: it needs no other action.
    /// - Returns: `nil` for every other PDU, which `receive` handles.
    mutating func acceptNotification(_ pdu: RawSpan, at now: Instant) -> GATTNotification? {
        guard pdu.byte(at: 0) == ATTOpcode.handleValueNotification.rawValue, end == nil, !bearer.isDead,
            pdu.byteCount <= Int(mtu), nextDeadline.map({ $0 > now }) ?? true,
            let notification = try? ATTHandleValueNotification(pdu), notification.handle != serviceChanged
        else { return nil }
        let clients = subscriptions.clients(of: notification.handle)
        guard !clients.isEmpty else { return nil }
        return GATTNotification(
            handle: notification.handle, value: octets.copy(notification.value), isIndication: false, clients: clients)
    }

    mutating func receiveNotification(_ pdu: RawSpan) {
        do throws(DecodingError) {
            let notification = try ATTHandleValueNotification(pdu)
            deliver(notification.handle, notification.value, isIndication: false)
        } catch {
            bearer.count(.malformedPDUs)
        }
    }

    mutating func receiveMultipleNotification(_ pdu: RawSpan) {
        do throws(DecodingError) {
            var notification = try ATTMultipleHandleValueNotification(pdu)
            while let element = notification.next() { deliver(element.handle, element.value, isIndication: false) }
        } catch {
            bearer.count(.malformedPDUs)
        }
    }

    /// An indication that the peer has sent and for whose confirmation it waits.
    enum UnconfirmedIndication {
        /// A client cannot accept it now: the whole PDU, which has not been processed.
        case held([UInt8])
        /// It was delivered, and these clients have not said that they have taken it.
        case delivered(AttributeHandle, to: [ClientID], deadline: Instant)

        var deadline: Instant? { if case .delivered(_, _, let deadline) = self { deadline } else { nil } }
    }

    /// Confirms an indication at once, whatever it contains, because a server that waits for the confirmation sends no
    /// other for 30 s. If a client that subscribed to the value cannot accept it now, the confirmation is delayed: that
    /// is why the server waits. It follows the value if a client says when it has taken it.
    mutating func receiveIndication(_ pdu: RawSpan, _ now: Instant) {
        // A peer that sends another before the confirmation loses it.
        if case .delivered = indication { return bearer.count(.unconfirmedIndications) }
        if !holdingClients.isEmpty, isHeld(pdu) {
            if indication == nil {
                indication = .held(pdu.copied())
            } else {
                bearer.count(.unconfirmedIndications)
            }
            return
        }
        do throws(DecodingError) {
            let value = try ATTHandleValueIndication(pdu)
            let clients = subscriptions.confirmingClients(of: value.handle)
            if clients.isEmpty || indication != nil {
                sendConfirmation()
            } else {
                let deadline = now.advanced(by: settings.confirmationLimit)
                indication = .delivered(value.handle, to: clients, deadline: deadline)
            }
            deliver(value.handle, value.value, isIndication: true)
        } catch {
            sendConfirmation()
            bearer.count(.malformedPDUs)
        }
    }

    private mutating func sendConfirmation() { send(ATTHandleValueConfirmation().encoded()) }

    private func isHeld(_ pdu: RawSpan) -> Bool {
        guard let indication = try? ATTHandleValueIndication(pdu) else { return false }
        return subscriptions.clients(of: indication.handle).contains { holdingClients.contains($0) }
    }

    /// Sets the clients that currently accept no more indications.
    mutating func withholdConfirmations(for clients: [ClientID], at now: Instant) {
        holdingClients = clients
        releaseIndications(now)
    }

    /// A client has taken an indication of a value.
    mutating func confirm(_ handle: AttributeHandle, by client: ClientID) {
        var isDone = false
        forEachBearer { lane in
            guard !isDone, case .delivered(handle, var clients, let deadline) = lane.indication,
                let place = clients.firstIndex(of: client)
            else { return }
            isDone = true
            clients.remove(at: place)
            lane.indication = .delivered(handle, to: clients, deadline: deadline)
            if clients.isEmpty { lane.confirm() }
        }
    }

    private mutating func confirm() {
        indication = nil
        sendConfirmation()
    }

    /// Processes the delayed indications, one of each bearer, for which no client has to be waited for any longer.
    mutating func releaseIndications(_ now: Instant) {
        forEachBearer { $0.releaseIndication(now) }
        confirmForThoseGone()
    }

    private mutating func releaseIndication(_ now: Instant) {
        guard end == nil, case .held(let pdu)? = indication, !isHeld(pdu.span.bytes) else { return }
        indication = nil
        receiveIndication(pdu.span.bytes, now)
    }

    /// Clients that have unsubscribed or gone need not be waited for.
    mutating func confirmForThoseGone() {
        forEachBearer { lane in
            guard lane.end == nil, case .delivered(let handle, let clients, let deadline)? = lane.indication else {
                return
            }
            let remaining = lane.subscriptions.confirmingClients(of: handle)
            let awaited = clients.filter { remaining.contains($0) }
            lane.indication = .delivered(handle, to: awaited, deadline: deadline)
            if awaited.isEmpty { lane.confirm() }
        }
    }

    /// Clients that have taken too long are not waited for any longer.
    mutating func confirmOverdue(_ now: Instant) {
        if let deadline = indication?.deadline, deadline <= now { confirm() }
    }

    private mutating func deliver(_ handle: AttributeHandle, _ value: RawSpan, isIndication: Bool) {
        guard handle != .none else { return bearer.count(.malformedPDUs) }
        if handle == serviceChanged {
            // The Service Changed characteristic itself and its configuration stay (Core 5.4, Vol 3, Part G, 7.1).
            let change = GATTNotification(
                handle: handle, value: value.copied(), isIndication: isIndication, clients: [])
            let gone = subscriptions.forget(in: change.changedHandles, but: handle)
            if !gone.isEmpty { emit(.subscriptionsForgotten(gone)) }
        }
        let clients = subscriptions.clients(of: handle)
        if !clients.isEmpty {
            emit(
                .notification(
                    GATTNotification(
                        handle: handle, value: octets.copy(value), isIndication: isIndication, clients: clients)))
        } else if let entry = subscriptions[handle], !entry.isClaimed {
            bearer.count(.unclaimedNotifications)
        } else {
            let kept = EarlyNotifications.Value(handle: handle, value: value.copied(), isIndication: isIndication)
            if !early.store(kept) { bearer.count(.earlyNotificationsDropped) }
        }
    }

    // MARK: A change that was missed

    /// An indication was confirmed before the peer proved its bond, and its value is not to be believed. Whose value it
    /// was is not known either while nothing has been discovered on this link.
    mutating func indicationDropped(_ pdu: RawSpan) {
        guard let indication = try? ATTHandleValueIndication(pdu), indication.value.byteCount == 4 else { return }
        if let serviceChanged, serviceChanged != indication.handle { return }
        hasMissedChange = true
    }

    /// Notifies those who follow Service Changed that everything may have changed. Nothing is forgotten for that: a
    /// stranger may have sent it, and a discovery shows the truth.
    mutating func reportMissedChange() {
        guard hasMissedChange, !isPaused, let handle = serviceChanged else { return }
        hasMissedChange = false
        let clients = subscriptions.clients(of: handle)
        guard clients.isEmpty else {
            return emit(
                .notification(
                    GATTNotification(handle: handle, value: Self.allHandles, isIndication: true, clients: clients)))
        }
        let kept = EarlyNotifications.Value(handle: handle, value: Self.allHandles, isIndication: true)
        if !early.store(kept) { bearer.count(.earlyNotificationsDropped) }
    }

    /// The value of Service Changed that names all handles.
    private static let allHandles: [UInt8] = [0x01, 0x00, 0xFF, 0xFF]

    // MARK: The peer's client

    /// Can be answered at any time, even repeatedly: the receive MTU is always the same (pain 9).
    mutating func receiveMTURequest(_ pdu: RawSpan) {
        do throws(DecodingError) {
            let request = try ATTExchangeMTURequest(pdu)
            let told = bearer.reportMTU(preferred: settings.receiveMTU)
            send(ATTExchangeMTUResponse(serverReceiveMTU: told).encoded())
            agree(peerMTU: request.clientReceiveMTU)
        } catch {
            bearer.count(.malformedPDUs)
            send(ATTErrorResponse(request: .exchangeMTURequest, handle: .none, error: .invalidPDU).encoded())
        }
    }
}
