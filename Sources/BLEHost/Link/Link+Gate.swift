import BLEPackets

/// The gate that a bond closes: what waits at it, what passes it, and what the bond stores about the peer as a client.
extension Link {
    func bond(_ pairings: inout Pairings) -> Bond? {
        Features.pairing ? pairings.bonds.bond(for: security.identity) : nil
    }

    // MARK: The gate

    /// Closes the gate for the bond of the peer, on a new link or when the bond becomes known.
    func closeGate(_ pairings: inout Pairings) {
        guard Features.pairing else { return }
        guard pairings.isExclusive else { return }
        security.closeGate(pairings.bonds)
        if !security.isBondProven { gatt.isPaused = security.isGated }
    }

    /// Makes the peer prove that it is the bonded device, unless that is in progress or has failed: a central does so
    /// by encrypting, a peripheral by requesting encryption.
    func proveBond(_ pairings: inout Pairings, into effects: inout Effects) {
        guard Features.pairing else { return }
        guard !isClosing else { return }
        switch security.proof(pairings.bonds) {
        case .none: break
        case .impossible:
            security.liftGate()
            gatt.resume(at: effects.now)
            performClientActions(into: &effects)
            releasePostponed(into: &effects)
        case .request: requestSecurity(pairings.settings.pairing, into: &effects)
        case .encrypt(let key, let properties):
            security.encrypt(with: key, properties, into: &effects)
        }
    }

    /// Pairing has ended but the gate is still closed: tries the bond's key if something waits at the gate, or ends the
    /// wait.
    func proveBondAgain(_ failure: SecurityFailure?, _ pairings: inout Pairings, into effects: inout Effects) {
        guard Features.pairing else { return }
        guard security.isGated, !security.isBusy, !isClosing, security.proofFailure == nil else { return }
        if role == .peripheral, let failure {
            refuseGate(failure, into: &effects)
        } else if gatt.isBusy || security.channelOpenings.contains(where: { $0.isWaiting }) {
            proveBond(&pairings, into: &effects)
        }
    }

    /// The bond's key has encrypted the link, or the link's key now belongs to the bond.
    /// - Parameter record: what the bond stores about the peer as a client.
    func openGate(restoring record: GATTClientRecord?, _ server: inout GATTServer, into effects: inout Effects) {
        guard Features.pairing else { return }
        guard security.openGate() else { return }
        gatt.resume(at: effects.now)
        performClientActions(into: &effects)
        if let record { server.restore(record, on: id, at: effects.now) }
        // The exchange at the beginning of the link failed together with the proof.
        guard role == .central, mtuExchange == nil, !isClosing else { return }
        exchangeMTU(into: &effects)
    }

    /// The peer could not prove its identity: what waits for the proof fails.
    func refuseGate(_ failure: SecurityFailure, into effects: inout Effects) {
        guard Features.pairing else { return }
        guard let answers = security.refuseGate(failure) else { return }
        unsentAnswers -= answers
        gatt.endOperations(.security(failure), at: effects.now)
        performClientActions(into: &effects)
        channelsSecured(failure, into: &effects)
    }

    // MARK: Held traffic

    /// Sends the frames that waited for the end of a change of key; PDUs that arrived meanwhile are received at the end
    /// of the input.
    func releasePostponed(into effects: inout Effects) {
        for frame in security.removePostponedFrames() where !isClosing {
            // It was counted when it was queued.
            if frame.tag == .none { unsentAnswers -= 1 }
            send(frame.payload, on: .attributeProtocol, tag: frame.tag, into: &effects)
        }
        if !security.postponedPDUs.isEmpty || !bearers.news.isEmpty {
            effects.deferred.append((self, .receivePostponed))
        }
    }

    // MARK: What the server knows of the link

    /// Tells the server the current security of the link.
    func reportSecurityToServer(_ rooms: inout Rooms) {
        guard Features.server else { return }
        var known = rooms.server.security(of: id)
        describeSecurity(to: &known, &rooms.pairings)
        rooms.server.securityChanged(to: known, on: id)
    }

    /// Writes the link's security into the description that the attribute server uses.
    func describeSecurity(to server: inout GATTLinkSecurity, _ pairings: inout Pairings) {
        let inUse = security.keyInUse
        if let key = inUse ?? bond(&pairings)?.keyProperties {
            server.keys = key.isAuthenticated ? .authenticated : .unauthenticated
        } else {
            server.keys = .none
        }
        server.isEncrypted = inUse != nil
        server.keySize = inUse?.size ?? 16
        server.shortfall = inUse?.shortfall(of: KeyDemand(pairings.settings.pairing)).map {
            switch $0 {
            case .authentication: .insufficientAuthentication
            case .size: .insufficientEncryptionKeySize
            }
        }
    }

    // MARK: What the bond stores about the peer as a client

    /// Saves a bonded client's configuration at once instead of at the end of the link, so that a crash does not lose
    /// it.
    /// - Parameter isLast: whether to save it even if it was saved less than 1 s ago.
    /// - Returns: whether it was saved.
    @discardableResult
    func storeClientRecord(isLast: Bool = false, _ rooms: inout Rooms, into effects: inout Effects) -> Bool {
        guard Features.pairing, security.removeDueRecord(isLast: isLast, at: effects.now),
            var bond = bond(&rooms.pairings),
            let record = rooms.server.clientRecord(of: id), record != bond.clientRecord
        else { return false }
        security.recordKept(at: effects.now)
        bond.clientRecord = record
        rooms.pairings.bonds.update(bond, into: &effects)
        return true
    }

    /// The bond of the peer has encrypted the link.
    func recordUseOfBond(_ rooms: inout Rooms, into effects: inout Effects) {
        guard Features.pairing else { return }
        let used = rooms.pairings.bonds.use(security.identity)
        // If the client's record is saved, that saves the time of use as well.
        let isSaved = storeClientRecord(&rooms, into: &effects)
        if let used, !isSaved { effects.events.append(.bondChanged(used)) }
    }
}
