import BLEPackets

/// The ATT bearer of a link: each PDU is for our client, or for the server that all links share.
extension Link {
    // MARK: Commands

    /// Has the GATT client carry out an operation; on a link whose gate is closed, only after the peer has proved its
    /// identity.
    func perform(
        _ request: GATTOperation, operation: OperationID, client: ClientID, _ pairings: inout Pairings,
        into effects: inout Effects
    ) {
        if security.isGated {
            if let failure = security.proofFailure {
                return effects.complete(operation, .failure(.gatt(.security(failure))))
            }
            proveBond(&pairings, into: &effects)
            guard !isClosing else { return effects.complete(operation, .failure(.notConnected)) }
        }
        if case .writeSigned(let handle, let value) = request {
            return writeSigned(handle, value, operation: operation, client: client, &pairings.bonds, into: &effects)
        }
        start(request, operation: operation, client: client, into: &effects)
    }

    func start(_ request: GATTOperation, operation: OperationID, client: ClientID, into effects: inout Effects) {
        let user = effects.commands.users.number(of: client)
        if let pdu = gatt.pduOfWriteCommand(request, id: operation, client: client, user: user, at: effects.now) {
            send(pdu, on: .attributeProtocol, tag: .command(operation), into: &effects)
        } else {
            gatt.start(request, id: operation, client: client, user: user, at: effects.now)
        }
        performClientActions(into: &effects)
    }

    /// Agrees with the peer on ATT_MTU.
    func exchangeMTU(into effects: inout Effects) {
        let operation = effects.nextOperation()
        mtuExchange = operation
        start(.exchangeMTU(preferred: gatt.settings.receiveMTU), operation: operation, client: .local, into: &effects)
    }

    // MARK: PDUs

    /// Receives one complete PDU of the attribute protocol, for the client or for the server.
    func receiveATT(_ pdu: RawSpan, _ rooms: inout Rooms, into effects: inout Effects) {
        if security.isGated, !admits(pdu, into: &effects) { return }
        if let notification = gatt.acceptNotification(pdu, at: effects.now) {
            return effects.events.append(.gatt(id, .notification(notification)))
        }
        let mtu = gatt.bearer.mtu
        let isForServer = gatt.receive(pdu, at: effects.now)
        performClientActions(into: &effects)
        if isForServer { return receiveServerPDU(pdu, &rooms, into: &effects) }
        let agreed = gatt.bearer.mtu
        if Features.server, agreed != mtu { rooms.server.mtuChanged(to: agreed, on: id) }
    }

    private func receiveServerPDU(_ pdu: RawSpan, _ rooms: inout Rooms, into effects: inout Effects) {
        let opcode = pdu.byte(at: 0).map { ATTOpcode(rawValue: $0) }
        guard Features.server else { return refuse(opcode, into: &effects) }
        if opcode == .signedWriteCommand {
            return signedWriteReceived(pdu.copied(), &rooms, into: &effects)
        }
        rooms.server.receive(pdu, from: id, at: effects.now)
        recordDemander(&rooms.server)
        guard opcode == .writeRequest, rooms.server.storesPerClient(pdu) else { return }
        security.isRecordDue = true
        effects.deferred.append((self, .storeClientRecord))
    }

    /// Refuses a request of the peer, in a build without a server; commands and confirmations need no answer.
    private func refuse(_ opcode: ATTOpcode?, into effects: inout Effects) {
        guard let opcode, !opcode.isCommand, opcode != .handleValueConfirmation else { return }
        refuse(opcode, .none, .requestNotSupported, into: &effects)
    }

    private func refuse(
        _ request: ATTOpcode, _ handle: AttributeHandle, _ error: ATTError, into effects: inout Effects
    ) {
        let refusal = ATTErrorResponse(request: request, handle: handle, error: error)
        send(refusal.encoded(), on: .attributeProtocol, into: &effects)
    }

    /// Whether a PDU that arrived while the gate is closed is processed.
    func admits(_ pdu: RawSpan, into effects: inout Effects) -> Bool {
        switch security.admission(of: pdu) {
        case .take: return true
        case .confirm:
            refuseCleartext(pdu, into: &effects)
            return false
        case .refuse(let opcode):
            // Each request but Execute Write begins with a handle.
            let octets =
                opcode == .executeWriteRequest
                ? nil
                : pdu.byte(at: 1).flatMap { low in
                    pdu.byte(at: 2).map { UInt16(low) | UInt16($0) << 8 }
                }
            refuse(opcode, AttributeHandle(rawValue: octets ?? 0), .insufficientAuthentication, into: &effects)
        case .drop: break
        }
        security.recordCleartext(into: &effects)
        return false
    }

    /// Drops what only the bonded device may send and what may have come from another.
    func refuseCleartext(_ pdu: RawSpan, into effects: inout Effects) {
        if let octet = pdu.byte(at: 0), ATTOpcode(rawValue: octet).kind == .indication {
            gatt.indicationDropped(pdu)
            send(ATTHandleValueConfirmation().encoded(), on: .attributeProtocol, into: &effects)
        }
        security.recordCleartext(into: &effects)
    }

    /// Leaves indications unconfirmed if these clients are subscribed to the value.
    func withholdConfirmations(of clients: [ClientID], into effects: inout Effects) {
        gatt.withholdConfirmations(for: clients, at: effects.now)
        performClientActions(into: &effects)
    }

    func advanceAttributes(into effects: inout Effects) {
        guard let deadline = gatt.nextDeadline, deadline <= effects.now else { return }
        gatt.advance(to: effects.now)
        performClientActions(into: &effects)
    }

    /// The link got the security that was asked for, or failed to get it: what waited for it continues or fails.
    func secured(_ failure: SecurityFailure?, into effects: inout Effects) {
        gatt.secured(failure, at: effects.now)
        performClientActions(into: &effects)
        if failure == nil { openBearers(into: &effects) }
        channelsSecured(failure, into: &effects)
    }

    // MARK: Outputs

    /// Carries out the actions of the GATT client.
    @inline(__always)
    func performClientActions(into effects: inout Effects) {
        if gatt.actions.isEmpty { return }
        carryOutClientActions(into: &effects)
    }

    private func carryOutClientActions(into effects: inout Effects) {
        while let action = gatt.nextAction() {
            switch action {
            case .send(let pdu, let tag): send(pdu, on: .attributeProtocol, tag: tag, into: &effects)
            case .sendEnhanced(let pdu, let bearer): send(pdu, onBearer: bearer, tag: .none, into: &effects)
            case .closeBearer(let bearer): bearersChanged(.givenUp(number: bearer), into: &effects)
            case .event(.completed(let operation, let result)): completed(operation, result, into: &effects)
            case .event(let event): effects.events.append(.gatt(id, event))
            case .secure(let error, let client): effects.deferred.append((self, .secure(error, for: client)))
            case .disconnect: end(.remoteUserTerminatedConnection, into: &effects)
            }
        }
    }

    func completed(_ operation: OperationID, _ result: Result<GATTResult, GATTFailure>, into effects: inout Effects) {
        if bearers.opening.isWaiting(for: operation) {
            return bearersChanged(.answered(result), into: &effects)
        }
        guard operation != mtuExchange else {
            // Our own exchange of ATT_MTU: whatever its result, the link can be used. If the peer proves itself later,
            // it is asked again.
            if case .failure(.security) = result { mtuExchange = nil }
            guard case .settingUp = state else { return }
            if gatt.isUnlinked { return }
            return open(into: &effects)
        }
        switch result {
        case .success(let value): effects.complete(operation, .success(.gatt(value)))
        case .failure(let failure): effects.complete(operation, .failure(.gatt(failure)))
        }
    }
}
