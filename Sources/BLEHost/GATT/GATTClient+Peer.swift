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

    /// Confirms an indication at once, whatever it contains, because a server that waits for the confirmation sends no
    /// other for 30 s. If a client that subscribed to the value cannot accept it now, the confirmation is delayed: that
    /// is why the server waits.
    mutating func receiveIndication(_ pdu: RawSpan) {
        if !holdingClients.isEmpty, isHeld(pdu) {
            // A peer that sends another before the confirmation loses it.
            if unconfirmedIndication == nil {
                unconfirmedIndication = pdu.copied()
            } else {
                bearer.count(.unconfirmedIndications)
            }
            return
        }
        send(ATTHandleValueConfirmation().encoded())
        do throws(DecodingError) {
            let indication = try ATTHandleValueIndication(pdu)
            deliver(indication.handle, indication.value, isIndication: true)
        } catch {
            bearer.count(.malformedPDUs)
        }
    }

    private func isHeld(_ pdu: RawSpan) -> Bool {
        guard let indication = try? ATTHandleValueIndication(pdu) else { return false }
        return subscriptions.clients(of: indication.handle).contains { holdingClients.contains($0) }
    }

    /// Sets the clients that currently accept no more indications.
    mutating func withholdConfirmations(for clients: [ClientID]) {
        holdingClients = clients
        releaseIndications()
    }

    /// Processes the delayed indications, one of each bearer, for which no client has to be waited for any longer.
    mutating func releaseIndications() { forEachBearer { $0.releaseIndication() } }

    /// Processes the delayed indication if no client has to be waited for any longer.
    mutating func releaseIndication() {
        guard end == nil, let pdu = unconfirmedIndication, !isHeld(pdu.span.bytes) else { return }
        unconfirmedIndication = nil
        receiveIndication(pdu.span.bytes)
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
