import BLEPackets

extension GATTClient {
    /// The procedure for a waiting operation; `nil` if the operation has already ended.
    mutating func prepare(_ next: Waiting) -> GATTProcedure? {
        switch next.work {
        case .operation(let operation): return prepare(operation, next.id, next.client)
        case .reconfigure(let handle): return prepareReconfiguration(handle)
        }
    }

    private mutating func prepare(_ operation: GATTOperation, _ id: OperationID?, _ client: ClientID) -> GATTProcedure?
    {
        switch operation {
        case .exchangeMTU(let preferred): return prepareExchange(preferred, id)
        case .discoverServices(let uuids):
            if uuids.isEmpty { return .search(AttributeSearch(.primaryServices, in: .all)) }
            return NamedServiceSearch.suits(uuids)
                ? .namedServices(NamedServiceSearch(uuids)) : .search(AttributeSearch(.namedServices(uuids), in: .all))
        case .discoverSecondaryServices: return .search(AttributeSearch(.secondaryServices, in: .all))
        case .discoverIncludedServices(let range): return .search(AttributeSearch(.includes, in: range))
        case .discoverCharacteristics(let range, let uuids):
            return .search(AttributeSearch(.characteristics(uuids), in: range))
        case .discoverDescriptors(let range): return .search(AttributeSearch(.descriptors, in: range))
        case .read(let handle): return .read(ValueRead(handle, offset: 0))
        case .readLong(let handle, let offset): return .read(ValueRead(handle, offset: offset))
        case .readUsingUUID(let uuid, let range): return .search(AttributeSearch(.values(uuid), in: range))
        case .readMultiple(let handles): return .readMultiple(MultipleRead(handles: handles, isVariable: false))
        case .readMultipleVariable(let handles):
            return .readMultiple(MultipleRead(handles: handles, isVariable: true))
        case .write, .writeLong, .writePart, .reliableWrite, .writeCommand, .writeSigned:
            return prepareWrite(operation, id, client)
        case .subscribe(let handle, let configuration, let mode):
            return prepareSubscription(handle, configuration, mode, confirms: false, id, client)
        case .subscribeConfirming(let handle, let configuration):
            return prepareSubscription(handle, configuration, .indications, confirms: true, id, client)
        // Ended when it was started.
        case .confirm: return nil
        case .unsubscribe(let handle): return prepareUnsubscription(handle, id, client)
        }
    }

    // MARK: MTU

    /// Exchanged once for each link (Core 5.4, Vol 3, Part F, 3.4.2.1): later operations get the agreed value.
    private mutating func prepareExchange(_ preferred: UInt16, _ id: OperationID?) -> GATTProcedure? {
        if !bearer.hasExchangedMTU { return .exchangeMTU(bearer.reportMTU(preferred: preferred)) }
        if let id { complete(id, .success(.mtu(mtu))) }
        return nil
    }

    /// The peer's receive MTU is known.
    mutating func agree(peerMTU: UInt16) {
        if bearer.agree(peerMTU: peerMTU) { emit(.mtuChanged(mtu)) }
    }

    // MARK: Subscriptions

    private mutating func prepareSubscription(
        _ handle: AttributeHandle, _ configuration: AttributeHandle, _ mode: SubscriptionMode, confirms: Bool,
        _ id: OperationID?, _ client: ClientID
    ) -> GATTProcedure? {
        let bits = mode.rawValue
        if let target = subscriptions.claim(handle, configuration: configuration, bits: bits) {
            return .configure(
                handle, configuration: configuration, bits: target, .subscribed(mode, confirms: confirms))
        }
        addSubscription(handle, client, bits, confirms: confirms, id)
        return nil
    }

    /// Adds the client to the holders of a subscription; values that waited for a holder follow the operation's result.
    private mutating func addSubscription(
        _ handle: AttributeHandle, _ client: ClientID, _ bits: UInt16, confirms: Bool, _ id: OperationID?
    ) {
        guard subscriptions[handle] != nil else {
            // Service Changed has invalidated the value meanwhile.
            if let id { complete(id, .failure(.notSubscribed)) }
            return
        }
        subscriptions.add(client, bits: bits, confirms: confirms, to: handle)
        subscriptions.settle(handle)
        if let id { complete(id, .success(.subscribed)) }
        deliverEarly(handle)
    }

    /// Reports the values that came before the value had a holder.
    mutating func deliverEarly(_ handle: AttributeHandle) {
        let clients = subscriptions.clients(of: handle)
        guard !clients.isEmpty else { return }
        for value in early.remove(handle) {
            emit(
                .notification(
                    GATTNotification(
                        handle: handle, value: value.value, isIndication: value.isIndication, clients: clients)))
        }
    }

    private mutating func prepareUnsubscription(
        _ handle: AttributeHandle, _ id: OperationID?, _ client: ClientID
    ) -> GATTProcedure? {
        guard subscriptions.remove(client, from: handle) else {
            if let id { complete(id, .failure(.notSubscribed)) }
            return nil
        }
        confirmForThoseGone()
        if let change = subscriptions.change(for: handle) {
            return .configure(handle, configuration: change.configuration, bits: change.bits, .unsubscribed)
        }
        subscriptions.settle(handle)
        if let id { complete(id, .success(.unsubscribed)) }
        return nil
    }

    private mutating func prepareReconfiguration(_ handle: AttributeHandle) -> GATTProcedure? {
        guard let change = subscriptions.change(for: handle) else {
            subscriptions.settle(handle)
            return nil
        }
        return .configure(handle, configuration: change.configuration, bits: change.bits, .reconfigured)
    }

    /// A configuration was written, or the write failed.
    mutating func configured(
        _ handle: AttributeHandle, _ configuration: AttributeHandle, _ bits: UInt16,
        _ purpose: GATTProcedure.Configuration, _ ended: Running, _ result: Result<GATTResult, GATTFailure>
    ) {
        let isWritten: Bool
        if case .success = result { isWritten = true } else { isWritten = false }
        if isWritten { subscriptions.wrote(bits, to: configuration, of: handle) }
        switch purpose {
        case .subscribed(let mode, let confirms):
            if isWritten, !ended.isAbandoned {
                return addSubscription(handle, ended.client, mode.rawValue, confirms: confirms, ended.id)
            }
            // The client has gone, or the peer refused: the modes that the other holders want are what counts.
            subscriptions.settle(handle)
            if isWritten { reconfigure(handle) }
        case .unsubscribed, .reconfigured:
            subscriptions.settle(handle)
            if !isWritten { subscriptions.forget(handle) }
        }
        if let id = ended.id { complete(id, result) }
    }
}
