import BLEPackets

/// The clients that wait for a link, use it, and let go of it.
extension Link {
    /// Clients come to wait for the link, or have it at once where it is open.
    func join(_ pending: [Connector.Pending], _ bonds: inout Bonds, into effects: inout Effects) {
        waiting += pending
        guard state == .open else { return }
        bonds.setSigningNumbersAside(for: security.identity, into: &effects)
        announce(into: &effects)
    }

    /// The link is usable.
    func open(into effects: inout Effects) {
        state = .open
        announce(into: &effects)
    }

    /// Gives an open link to those that wait for it.
    func announce(into effects: inout Effects) {
        let waiting = waiting
        self.waiting = []
        let information = information
        for pending in waiting {
            if !holders.contains(pending.client) {
                holders.append(pending.client)
                effects.events.append(.connected(information, pending.client))
            }
            effects.complete(pending.operation, .success(.connected(information.id)))
        }
    }

    /// A client wants the link to end, and has it end once no other uses it.
    func disconnect(
        operation: OperationID, client: ClientID, _ pairings: inout Pairings, at now: Instant,
        into effects: inout Effects
    ) {
        let wasHolder = release(client, at: now, into: &effects)
        // A link that a central made is the central's to end, unless a client that holds nothing of it asks for that.
        let isServed = role == .peripheral && wasHolder
        guard holders.isEmpty, waiting.isEmpty, !isServed else {
            return effects.complete(operation, .success(.done))
        }
        closers.append(operation)
        close(
            reason: .remoteUserTerminatedConnection, isAsked: true, &pairings.attempts, at: now, into: &effects)
    }

    /// Ends an operation if it runs here.
    /// - Returns: whether it is known to have been here.
    func cancel(
        _ operation: OperationID, _ pairings: inout Pairings, at now: Instant, into effects: inout Effects
    ) -> Bool {
        if let index = waiting.firstIndex(where: { $0.operation == operation }) {
            waiting.remove(at: index)
            effects.complete(operation, .failure(.cancelled))
            if waiting.isEmpty, holders.isEmpty {
                close(reason: .remoteUserTerminatedConnection, &pairings.attempts, at: now, into: &effects)
            }
            return true
        }
        if cancelChannel(operation, into: &effects) { return true }
        if operations.cancel(operation) != nil {
            effects.complete(operation, .failure(.cancelled))
            return true
        }
        if cancelPairing(operation, &pairings, at: now, into: &effects) { return true }
        gatt.cancel(operation, at: now)
        takeClientActions(into: &effects)
        return false
    }

    /// A client lets go of the link: what it does on it ends.
    /// - Returns: whether it was a holder.
    private func release(_ client: ClientID, at now: Instant, into effects: inout Effects) -> Bool {
        guard let index = holders.firstIndex(of: client) else { return false }
        holders.remove(at: index)
        gatt.clientLeft(client, at: now)
        takeClientActions(into: &effects)
        for opening in security.channelOpenings where opening.client == client {
            _ = cancelChannelOpening(opening.operation, into: &effects)
        }
        signalling.closeChannels(of: client, at: now)
        takeChannelActions(into: &effects)
        for ended in operations.cancelAll(of: client) { effects.complete(ended.id, .failure(.cancelled)) }
        effects.events.append(.disconnected(id, client, reason: .releasedByClient))
        return true
    }

    /// The link is gone: everything on its bearer and its channels ends.
    func endTraffic(_ failure: GATTFailure, into effects: inout Effects) {
        gatt.bearerClosed(failure)
        takeClientActions(into: &effects)
        signalling.linkLost()
        takeChannelActions(into: &effects)
    }

    /// The link is gone: what else clients wait for on it ends.
    /// - Parameter proof: why the peer could not prove itself, where the link ended with that.
    func endOperations(
        _ reason: DisconnectionReason, proof: SecurityFailure?, into effects: inout Effects
    ) {
        let lost = HostFailure.linkLost(reason)
        for operation in operations.removeAll() { effects.complete(operation.id, .failure(lost)) }
        for operation in security.pairOperations { effects.complete(operation, .failure(lost)) }
        let failure = proof.map { HostFailure.security($0) } ?? lost
        for operation in security.encryptOperations { effects.complete(operation, .failure(failure)) }
        for opening in security.channelOpenings where opening.isWaiting {
            effects.complete(opening.operation, .failure(failure))
        }
    }
}
