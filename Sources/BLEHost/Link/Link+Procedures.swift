import BLEPackets

/// What clients, the engine and the peer have the link layer do on this link: parameters, data length, PHY, RSSI,
/// version, features.
///
///     start ──▶ waits for another with its command ──▶ command ──▶ Command Complete or its event ──▶ ended
///                                                        │ 41 s, or the peer's refusal
///                                                        ▼
///                                                      failed
extension Link {
    // MARK: Starting

    func start(
        _ procedure: LinkProcedure, operation: OperationID, client: ClientID, at now: Instant,
        into effects: inout Effects
    ) {
        if let known = result(knownFor: procedure) { return effects.complete(operation, .success(known)) }
        if case .updateParameters(let parameters) = procedure, !parameters.isValid {
            return effects.complete(operation, .failure(.invalidRequest(.connectionParameters)))
        }
        let entry = LinkOperations.Operation(id: operation, client: client, procedure: procedure)
        if operations.append(entry, at: now) { begin(procedure, at: now, into: &effects) }
    }

    /// Begins a procedure that no client asked for; those that clients ask for afterwards wait for its end.
    /// - Returns: whether it began.
    @discardableResult
    func startOwn(_ procedure: LinkProcedure, at now: Instant, into effects: inout Effects) -> Bool {
        guard operations.appendOwn(procedure, at: now) else { return false }
        begin(procedure, at: now, into: &effects)
        return true
    }

    private func begin(_ procedure: LinkProcedure, at now: Instant, into effects: inout Effects) {
        // It may have become known while the procedure waited.
        if let known = result(knownFor: procedure) {
            return finish(procedure.opcode, with: .success(known), at: now, into: &effects)
        }
        let purpose = CommandPurpose.link(id, .procedure)
        switch procedure {
        case .readRSSI: effects.commands.append(ReadRSSI(connectionHandle: id.handle), purpose: purpose)
        case .readRemoteVersion:
            effects.commands.append(ReadRemoteVersionInformation(connectionHandle: id.handle), purpose: purpose)
        case .readRemoteFeatures:
            effects.commands.append(LEReadRemoteFeatures(connectionHandle: id.handle), purpose: purpose)
        case .updateParameters(let wished) where updatesParametersItself:
            effects.commands.append(
                LEConnectionUpdate(connectionHandle: id.handle, parameters: LEConnectionParameters(wished)),
                purpose: purpose)
        case .updateParameters(let wished): signalling.request(wished, at: now)
        case .setDataLength(let octets, let microseconds):
            effects.commands.append(
                LESetDataLength(connectionHandle: id.handle, transmitOctets: octets, transmitTime: microseconds),
                purpose: purpose)
        case .readPHY: effects.commands.append(LEReadPHY(connectionHandle: id.handle), purpose: purpose)
        case .setPHY(let transmit, let receive):
            effects.commands.append(
                LESetPHY(
                    connectionHandle: id.handle,
                    preferences: PHYPreferences(transmitPHYs: transmit, receivePHYs: receive)),
                purpose: purpose)
        }
    }

    /// A central changes the parameters itself; a peripheral does where both sides know the link layer's procedure, and
    /// asks over L2CAP where not (Core 5.4, Vol 3, Part A, 4.20).
    private var updatesParametersItself: Bool {
        role == .central
            || localFeatures.contains(.connectionParametersRequestProcedure)
                && remoteFeatures?.contains(.connectionParametersRequestProcedure) ?? false
    }

    /// What a procedure would read, where it is known; it does not change while the link lasts.
    private func result(knownFor procedure: LinkProcedure) -> HostResult? {
        switch procedure {
        case .readRemoteVersion: remoteVersion.map { .remoteVersion($0) }
        case .readRemoteFeatures: remoteFeatures.map { .remoteFeatures($0) }
        case .readRSSI, .updateParameters, .setDataLength, .readPHY, .setPHY: nil
        }
    }

    // MARK: Ends

    /// The procedure with this command ended: its operation is told, the next with that command begins.
    func finish(
        _ opcode: HCIOpcode, with result: Result<HostResult, HostFailure>, at now: Instant, into effects: inout Effects
    ) {
        let (finished, next) = operations.finish(opcode, at: now)
        if let finished { effects.complete(finished.id, result) }
        if let next { begin(next.procedure, at: now, into: &effects) }
    }

    /// The controller took the command of a procedure.
    /// - Parameter parameters: the return parameters of Command Complete, or the status octet alone.
    func commandTaken(
        _ opcode: HCIOpcode, _ parameters: RawSpan, at now: Instant, into effects: inout Effects
    ) {
        var reader = PacketReader(parameters)
        let result: Result<HostResult, HostFailure>
        do throws(DecodingError) {
            switch opcode {
            case ReadRSSI.opcode: result = .success(.rssi(try ReadRSSI.ReturnParameters(decoding: &reader).rssi))
            case LEReadPHY.opcode:
                let answer = try LEReadPHY.ReturnParameters(decoding: &reader)
                result = .success(.phy(transmit: answer.transmitPHY, receive: answer.receivePHY))
            case LESetDataLength.opcode: result = .success(.dataLength(dataLength))
            // Command Status: the event that ends the procedure is still to come.
            default: return
            }
        } catch {
            result = .failure(.controller(.unspecifiedError, opcode))
        }
        finish(opcode, with: result, at: now, into: &effects)
    }

    func remoteVersionRead(
        _ event: ReadRemoteVersionInformationComplete, at now: Instant, into effects: inout Effects
    ) {
        let opcode = ReadRemoteVersionInformation.opcode
        guard event.status.isSuccess else {
            return finish(opcode, with: .failure(.controller(event.status, opcode)), at: now, into: &effects)
        }
        let version = RemoteVersion(
            version: event.version.rawValue, companyIdentifier: event.manufacturer.rawValue,
            subversion: event.subversion)
        remoteVersion = version
        finish(opcode, with: .success(.remoteVersion(version)), at: now, into: &effects)
    }

    func remoteFeaturesRead(_ event: LEReadRemoteFeaturesComplete, at now: Instant, into effects: inout Effects) {
        let opcode = LEReadRemoteFeatures.opcode
        guard event.status.isSuccess else {
            return finish(opcode, with: .failure(.controller(event.status, opcode)), at: now, into: &effects)
        }
        remoteFeatures = event.features
        finish(opcode, with: .success(.remoteFeatures(event.features)), at: now, into: &effects)
    }

    func updated(_ event: LEConnectionUpdateComplete, at now: Instant, into effects: inout Effects) {
        let opcode = LEConnectionUpdate.opcode
        guard event.status.isSuccess else {
            let failure: HostFailure =
                event.status == .unacceptableConnectionParameters || event.status == .unsupportedRemoteFeature
                ? .rejectedByPeer : .controller(event.status, opcode)
            return finish(opcode, with: .failure(failure), at: now, into: &effects)
        }
        parameters = ConnectionParameters(
            interval: event.interval, peripheralLatency: event.latency,
            supervisionTimeout: event.supervisionTimeout)
        effects.events.append(.connectionParametersChanged(id, parameters))
        finish(opcode, with: .success(.connectionParameters(parameters)), at: now, into: &effects)
    }

    func dataLengthChanged(_ event: LEDataLengthChange, into effects: inout Effects) {
        dataLength = DataLength(
            maxTransmitOctets: event.maximumTransmitOctets, maxTransmitMicroseconds: event.maximumTransmitTime,
            maxReceiveOctets: event.maximumReceiveOctets, maxReceiveMicroseconds: event.maximumReceiveTime)
        effects.events.append(.dataLengthChanged(id, dataLength))
    }

    func phyUpdated(_ event: LEPHYUpdateComplete, at now: Instant, into effects: inout Effects) {
        let opcode = LESetPHY.opcode
        guard event.status.isSuccess else {
            return finish(opcode, with: .failure(.controller(event.status, opcode)), at: now, into: &effects)
        }
        effects.events.append(.phyChanged(id, transmit: event.transmitPHY, receive: event.receivePHY))
        finish(
            opcode, with: .success(.phy(transmit: event.transmitPHY, receive: event.receivePHY)), at: now,
            into: &effects)
    }

    // MARK: Over L2CAP

    /// A PDU of the signalling channel.
    /// - Returns: what concerns credit-based channels, which are not this link's alone.
    func receiveSignalling(
        _ payload: RawSpan, at now: Instant, into effects: inout Effects
    ) throws(DecodingError) -> (command: LESignallingCommand, identifier: UInt8)? {
        switch try signalling.receive(payload, role: role) {
        case .none: break
        case .accept(let wished, let identifier):
            // While an update of ours runs the peer's wish has to wait: it may ask again.
            let isAccepted = startOwn(.updateParameters(wished), at: now, into: &effects)
            signalling.answerParameters(isAccepted: isAccepted, identifier: identifier)
        case .channels(let command, let identifier): return (command, identifier)
        case .parametersAnswered(let isAccepted):
            // Accepted: the central updates the link, which ends the operation.
            if !isAccepted {
                finish(LEConnectionUpdate.opcode, with: .failure(.rejectedByPeer), at: now, into: &effects)
            }
        }
        return nil
    }

    // MARK: Time

    func advanceProcedures(to now: Instant, into effects: inout Effects) {
        while let expired = operations.expired(at: now) {
            finish(expired, with: .failure(.procedureTimeout), at: now, into: &effects)
        }
        if signalling.advance(to: now) {
            finish(LEConnectionUpdate.opcode, with: .failure(.rejectedByPeer), at: now, into: &effects)
        }
    }
}
