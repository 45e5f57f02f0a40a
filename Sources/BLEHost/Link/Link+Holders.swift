import BLEPackets

/// The clients that wait for a link, use it, and release it.
extension Link {
    /// Adds clients that wait for the link; they get it at once if it is open.
    func join(_ pending: [Connector.Pending], _ bonds: inout Bonds, into effects: inout Effects) {
        waiting += pending
        if Features.pace, isOfSeveralUsers(effects.commands.users) { pace = nil }
        guard state == .open else { return }
        bonds.setSigningNumbersAside(for: security.identity, into: &effects)
        announce(into: &effects)
    }

    /// Whether clients of several users have the link, or wait for it: the pace that one of them chose is not for all.
    func isOfSeveralUsers(_ users: ClientUsers) -> Bool {
        guard Features.users, !users.isEmpty else { return false }
        var first: UInt32?
        for client in holders + waiting.map({ $0.client }) {
            guard let number = users[client]?.number else { continue }
            if let first, first != number { return true }
            first = number
        }
        return false
    }

    /// How the peer's requests for other parameters are answered: as the last of those clients wants that use the link.
    var parameterPolicy: ParameterPolicy {
        parameterPolicies.last { isUsed(by: $0.client) }?.policy ?? usualParameterPolicy
    }

    private func isUsed(by client: ClientID) -> Bool {
        holders.contains(client) || waiting.contains { $0.client == client }
    }

    /// A client is about to join, or to join once more.
    /// - Parameter policy: `nil`: what it asked for before, if it uses the link already.
    func follow(_ policy: ParameterPolicy?, of client: ClientID) {
        if policy == nil, isUsed(by: client) { return }
        parameterPolicies.removeAll { $0.client == client || !isUsed(by: $0.client) }
        if let policy { parameterPolicies.append((client, policy)) }
    }

    /// The link is usable.
    func open(into effects: inout Effects) {
        state = .open
        announce(into: &effects)
    }

    /// Gives an open link to the clients that wait for it.
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

    /// A client wants to end the link; it ends when no other client uses it.
    func disconnect(operation: OperationID, client: ClientID, _ pairings: inout Pairings, into effects: inout Effects) {
        let wasHolder = release(client, into: &effects)
        // A link made by a central is ended by the central, unless a client that is no holder of the link asks for it.
        let isServed = role == .peripheral && wasHolder
        guard holders.isEmpty, waiting.isEmpty, !isServed else {
            return effects.complete(operation, .success(.done))
        }
        closers.append(operation)
        close(reason: .remoteUserTerminatedConnection, isAsked: true, &pairings.attempts, into: &effects)
    }

    /// Cancels an operation if it runs on this link.
    /// - Returns: whether the operation was found here.
    func cancel(_ operation: OperationID, _ pairings: inout Pairings, into effects: inout Effects) -> Bool {
        if let index = waiting.firstIndex(where: { $0.operation == operation }) {
            waiting.remove(at: index)
            effects.complete(operation, .failure(.cancelled))
            if waiting.isEmpty, holders.isEmpty {
                close(reason: .remoteUserTerminatedConnection, &pairings.attempts, into: &effects)
            }
            return true
        }
        if cancelChannel(operation, into: &effects) { return true }
        if operations.cancel(operation) != nil {
            effects.complete(operation, .failure(.cancelled))
            return true
        }
        if cancelPairing(operation, &pairings, into: &effects) { return true }
        gatt.cancel(operation, at: effects.now)
        performClientActions(into: &effects)
        return false
    }

    /// A client releases the link: its operations on it end.
    /// - Returns: whether the client was a holder.
    private func release(_ client: ClientID, into effects: inout Effects) -> Bool {
        guard let index = holders.firstIndex(of: client) else { return false }
        holders.remove(at: index)
        gatt.clientLeft(client, at: effects.now)
        performClientActions(into: &effects)
        for opening in security.channelOpenings where opening.client == client {
            _ = cancelChannelOpening(opening.operation, into: &effects)
        }
        signalling.closeChannels(of: client, at: effects.now)
        performChannelActions(into: &effects)
        for ended in operations.cancelAll(of: client) { effects.complete(ended.id, .failure(.cancelled)) }
        effects.events.append(.disconnected(id, client, reason: .releasedByClient))
        return true
    }

    /// The link is gone: all operations on its bearer and channels end.
    func endTraffic(_ failure: GATTFailure, into effects: inout Effects) {
        gatt.bearerClosed(failure)
        performClientActions(into: &effects)
        signalling.linkLost()
        performChannelActions(into: &effects)
    }

    /// The link is gone: all other operations that clients wait for on it end.
    /// - Parameter proof: why the peer could not prove its identity, if the link ended for that reason.
    func endOperations(_ reason: DisconnectionReason, proof: SecurityFailure?, into effects: inout Effects) {
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
