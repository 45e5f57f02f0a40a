import BLEPackets

/// Whose pairings those of this link are, in an engine that clients share.
extension Link {
    /// After a question that no user answered, how long the users of other programs go first.
    private static let pauseAfterSilence: Microseconds = .seconds(30)
    /// From this on, a pairing has kept others waiting.
    private static let longPairing: Microseconds = .seconds(5)

    func terms(for claim: PairingClaim, _ pairings: inout Pairings) -> PairingTerms {
        pairings.terms(for: claim, role: role, holders: holders)
    }

    /// The settings with the options of this pairing.
    func settings(for claim: PairingClaim, _ pairings: inout Pairings) -> SecuritySettings {
        guard pairings.clients != nil else { return pairings.settings }
        var settings = pairings.settings
        settings.pairing = terms(for: claim, &pairings).options
        return settings
    }

    /// Whose pairing it is that a peripheral requests: of the client whose operation is under way, otherwise of the one
    /// that has used the link for the longest time.
    var claimOfRequest: PairingClaim { PairingClaim(owner: gatt.clientAtWork ?? holders.first) }

    /// The terms of a pairing that a central begins.
    /// - Parameter request: the Security Request of this side that it follows.
    func terms(requested request: LinkSecurityMachine.Request?, _ pairings: inout Pairings) -> PairingTerms {
        if let claim = request?.claim, claim.isCommanded { return terms(for: claim, &pairings) }
        return terms(for: PairingClaim(owner: request?.claim.owner ?? security.demander), &pairings)
    }

    /// The server has handled a PDU: if it refused something for want of security, the central may pair for that.
    @inline(__always)
    func recordDemander(_ server: inout GATTServer) {
        guard Features.pairing, let demander = server.securityDemander else { return }
        server.securityDemander = nil
        security.demander = demander == .local ? nil : demander
    }

    // MARK: Turns

    /// The link did not become more secure for the client whose turn it was. What others wait for need not fail: their
    /// own people may answer.
    /// - Returns: whether another client gets its turn, and what the first one waited for has ended.
    func passTurn(
        from client: ClientID?, _ failure: SecurityFailure, _ pairings: inout Pairings, into effects: inout Effects
    ) -> Bool {
        guard let client, pairings.clients != nil, !isClosing, !security.isBlocked, !security.isBondRefused else {
            return false
        }
        let suspended = gatt.securityAwaited
        let opening = security.channelOpenings.first { $0.isWaiting && $0.client != client && $0.refusal != nil }
        if let suspended, suspended.client != client {
            effects.deferred.append((self, .secure(suspended.error, for: suspended.client)))
        } else if let opening, let error = opening.refusal?.attError {
            effects.deferred.append((self, .secure(error, for: opening.client)))
        } else {
            return false
        }
        if suspended?.client == client {
            gatt.secured(failure, at: effects.now)
            performClientActions(into: &effects)
        }
        channelsSecured(failure, of: client, into: &effects)
        return true
    }

    /// The pairing has failed. If its client has kept others waiting and its person did not answer in the end, they go
    /// first.
    @inline(never)
    func pauseOwner(_ pairings: inout Pairings, at now: Instant) {
        guard role == .central, let owner = security.parties?.owner, let machine = security.machine else { return }
        let wasLong = security.began.distance(to: now) >= Self.longPairing
        guard machine.wasUnanswered || wasLong && (machine.wasCancelled || security.isUnsettled) else { return }
        for other in holders where !pairings.areOfOneUser(owner, other) {
            security.pause = .init(owner: owner, end: now.advanced(by: Self.pauseAfterSilence))
        }
    }

    /// How long the client must wait because its user has let a question pass while others waited.
    func pause(of client: ClientID?, _ pairings: inout Pairings, at now: Instant) -> Microseconds? {
        guard let pause = security.pause, pause.end > now, pairings.areOfOneUser(pause.owner, client) else {
            return nil
        }
        return now.distance(to: pause.end)
    }

    // MARK: Changes

    /// Clients have come or left, or require something else. A pairing whose client has left has no client to answer
    /// for it, and one that was begun on weaker terms than are required now leads to a key that is not enough.
    func clientsChanged(from earlier: [ClientPairing]?, _ pairings: inout Pairings, into effects: inout Effects) {
        guard Features.pairing, security.isPairing, let parties = security.parties, let earlier,
            let clients = pairings.clients
        else { return }
        let hasLeft = { (client: ClientID?) in
            earlier.contains { $0.client == client } && !clients.contains { $0.client == client }
        }
        guard
            hasLeft(parties.asked) || hasLeft(parties.consenting)
                || security.machine.map({ pairings.areTooWeak($0.setup.options) }) ?? false
        else { return }
        breakOffPairing(&pairings, into: &effects)
    }
}
