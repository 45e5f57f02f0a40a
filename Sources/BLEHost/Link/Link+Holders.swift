import BLEPackets

/// The clients that wait for a link, use it, and let go of it.
extension Link {
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

    /// A client lets go of the link: what it does on it ends.
    /// - Returns: whether it was a holder.
    func release(_ client: ClientID, at now: Instant, into effects: inout Effects) -> Bool {
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
