import BLEPackets

/// What clients and peers ask of the link layer: connection parameters, data length, PHY, RSSI, version, features.
extension Link {
    // MARK: Starting

    func start(_ procedure: LinkProcedure, operation: OperationID, client: ClientID, into effects: inout Effects) {
        if let known = result(knownFor: procedure) { return effects.complete(operation, .success(known)) }
        if case .updateParameters(let parameters) = procedure, !parameters.isValid {
            return effects.complete(operation, .failure(.invalidRequest(.connectionParameters)))
        }
        if case .monitorPathLoss(let zones?) = procedure, !zones.isValid {
            return effects.complete(operation, .failure(.invalidRequest(.pathLossZones)))
        }
        // Who chooses the parameters keeps them.
        if Features.pace, case .updateParameters = procedure { pace = nil }
        let entry = LinkOperations.Operation(id: operation, client: client, procedure: procedure)
        if operations.append(entry, at: effects.now) { begin(procedure, of: client, into: &effects) }
    }

    /// Begins a procedure that no client asked for; clients that ask for it later wait until it ends.
    /// - Returns: whether it began.
    @discardableResult
    func startOwn(_ procedure: LinkProcedure, into effects: inout Effects) -> Bool {
        guard operations.appendOwn(procedure, at: effects.now) else { return false }
        begin(procedure, of: nil, into: &effects)
        return true
    }

    /// - Parameter client: the client that asks for it; `nil`: the engine or the peer.
    private func begin(_ procedure: LinkProcedure, of client: ClientID?, into effects: inout Effects) {
        let handle = id.handle
        let purpose = CommandPurpose.link(id, .procedure)
        // The result may have become known while the procedure waited.
        if let known = result(knownFor: procedure) {
            return finish(procedure.opcode, with: .success(known), into: &effects)
        }
        switch procedure {
        case .readRSSI: effects.commands.append(ReadRSSI(connectionHandle: handle), purpose: purpose, of: client)
        case .readRemoteVersion:
            effects.commands.append(
                ReadRemoteVersionInformation(connectionHandle: handle), purpose: purpose, of: client)
        case .readRemoteFeatures:
            effects.commands.append(LEReadRemoteFeatures(connectionHandle: handle), purpose: purpose, of: client)
        case .updateParameters(let wished): request(wished, of: client, into: &effects)
        case .setDataLength(let octets, let microseconds):
            effects.commands.append(
                LESetDataLength(connectionHandle: handle, transmitOctets: octets, transmitTime: microseconds),
                purpose: purpose, of: client)
        case .readPHY: effects.commands.append(LEReadPHY(connectionHandle: handle), purpose: purpose, of: client)
        case .setPHY(let transmit, let receive):
            effects.commands.append(
                LESetPHY(
                    connectionHandle: handle,
                    preferences: PHYPreferences(transmitPHYs: transmit, receivePHYs: receive)),
                purpose: purpose, of: client)
        case .setSubrate(let parameters):
            effects.commands.append(
                LESubrateRequest(connectionHandle: handle, parameters: parameters), purpose: purpose, of: client)
        case .readTransmitPower, .readRemoteTransmitPower, .reportTransmitPower, .monitorPathLoss,
            .setAuthenticatedPayloadTimeout:
            guard Features.linkReports else {
                return finish(procedure.opcode, with: .failure(.limitReached), into: &effects)
            }
            beginMeasuring(procedure, of: client, into: &effects)
        }
    }

    /// A central changes the parameters itself. A peripheral does so if both sides support the link layer's procedure;
    /// otherwise it asks over L2CAP (Core 5.4, Vol 3, Part A, 4.20).
    private func request(_ wished: ConnectionParameterRequest, of client: ClientID?, into effects: inout Effects) {
        let knowsProcedure =
            localFeatures.contains(.connectionParametersRequestProcedure)
            && remoteFeatures?.contains(.connectionParametersRequestProcedure) ?? false
        if role == .central || knowsProcedure {
            return effects.commands.append(
                LEConnectionUpdate(connectionHandle: id.handle, parameters: LEConnectionParameters(wished)),
                purpose: .link(id, .procedure), of: client)
        }
        let identifier = signalling.beginParameterRequest(at: effects.now)
        let request = L2CAPConnectionParameterUpdateRequest(
            minimumInterval: wished.interval.lowerBound.rawValue, maximumInterval: wished.interval.upperBound.rawValue,
            latency: wished.peripheralLatency, supervisionTimeout: wished.supervisionTimeout.rawValue)
        send(.connectionParameterUpdateRequest(request), identifier: identifier, into: &effects)
    }

    /// What a procedure would read, if it is already known; it does not change while the link lasts.
    private func result(knownFor procedure: LinkProcedure) -> HostResult? {
        switch procedure {
        case .readRemoteVersion: remoteVersion.map { .remoteVersion($0) }
        case .readRemoteFeatures: remoteFeatures.map { .remoteFeatures($0) }
        default: nil
        }
    }

    // MARK: Ends

    /// The procedure with this command ended: its operation gets the result, and the next operation with that command
    /// begins.
    func finish(_ opcode: HCIOpcode, with result: Result<HostResult, HostFailure>, into effects: inout Effects) {
        let (finished, next) = operations.finish(opcode, at: effects.now)
        if let finished { effects.complete(finished.id, result) }
        if let next { begin(next.procedure, of: next.client, into: &effects) }
    }

    /// The controller accepted a command for the link.
    func commandSucceeded(
        _ opcode: HCIOpcode, _ parameters: RawSpan, into effects: inout Effects
    ) throws(DecodingError) {
        var reader = PacketReader(parameters)
        let result: HostResult
        switch opcode {
        case ReadRSSI.opcode: result = .rssi(try ReadRSSI.ReturnParameters(decoding: &reader).rssi)
        case LEReadPHY.opcode:
            let answer = try LEReadPHY.ReturnParameters(decoding: &reader)
            result = .phy(transmit: answer.transmitPHY, receive: answer.receivePHY)
        case LESetDataLength.opcode: result = .dataLength(dataLength)
        // Another room's command, or Command Status: the event that ends the procedure is yet to come.
        default:
            guard Features.linkReports else { return }
            return try measuringSucceeded(opcode, parameters, into: &effects)
        }
        finish(opcode, with: .success(result), into: &effects)
    }

    /// A command for the link was refused or never answered.
    func commandFailed(
        _ purpose: LinkPurpose, _ opcode: HCIOpcode, _ failure: HostFailure, _ rooms: inout Rooms,
        into effects: inout Effects
    ) {
        switch purpose {
        case .encrypt, .replyWithKey:
            var status = HCIStatus.connectionTimeout
            if case .controller(let refusal, _) = failure { status = refusal }
            // A peripheral that is asked for a key has already paused encryption.
            encryptionEnded(isOn: false, status: status, hasBegun: purpose != .encrypt, &rooms, into: &effects)
        case .procedure:
            // Without zones there are no reports of path loss.
            let isOfZones = opcode == LESetPathLossReportingParameters.opcode
            finish(isOfZones ? LESetPathLossReportingEnable.opcode : opcode, with: .failure(failure), into: &effects)
        // The end of the link has its own timeout.
        case .disconnect: break
        }
    }

    /// Ends procedures that have timed out.
    func advanceProcedures(into effects: inout Effects) {
        while let expired = operations.expired(at: effects.now) {
            finish(expired, with: .failure(.procedureTimeout), into: &effects)
        }
    }

    // MARK: Events

    /// An event that ends a procedure reported a failure.
    private func fail(_ opcode: HCIOpcode, _ status: HCIStatus, into effects: inout Effects) {
        finish(opcode, with: .failure(.controller(status, opcode)), into: &effects)
    }

    func receive(_ event: ReadRemoteVersionInformationComplete, into effects: inout Effects) {
        let opcode = ReadRemoteVersionInformation.opcode
        guard event.status.isSuccess else { return fail(opcode, event.status, into: &effects) }
        let version = RemoteVersion(
            version: event.version.rawValue, companyIdentifier: event.manufacturer.rawValue,
            subversion: event.subversion)
        remoteVersion = version
        finish(opcode, with: .success(.remoteVersion(version)), into: &effects)
    }

    func receive(_ event: LEReadRemoteFeaturesComplete, into effects: inout Effects) {
        let opcode = LEReadRemoteFeatures.opcode
        guard event.status.isSuccess else { return fail(opcode, event.status, into: &effects) }
        remoteFeatures = event.features
        finish(opcode, with: .success(.remoteFeatures(event.features)), into: &effects)
    }

    func receive(_ event: LEConnectionUpdateComplete, into effects: inout Effects) {
        let opcode = LEConnectionUpdate.opcode
        guard event.status.isSuccess else {
            let isRejected =
                event.status == .unacceptableConnectionParameters || event.status == .unsupportedRemoteFeature
            let failure: HostFailure = isRejected ? .rejectedByPeer : .controller(event.status, opcode)
            return finish(opcode, with: .failure(failure), into: &effects)
        }
        parameters = ConnectionParameters(
            interval: event.interval, peripheralLatency: event.latency,
            supervisionTimeout: event.supervisionTimeout)
        effects.events.append(.connectionParametersChanged(id, parameters))
        finish(opcode, with: .success(.connectionParameters(parameters)), into: &effects)
    }

    func receive(_ event: LESubrateChange, into effects: inout Effects) {
        let opcode = LESubrateRequest.opcode
        guard event.status.isSuccess else { return fail(opcode, event.status, into: &effects) }
        parameters.peripheralLatency = event.latency
        parameters.supervisionTimeout = event.supervisionTimeout
        let subrate = LinkSubrate(
            factor: event.subrateFactor, continuationNumber: event.continuationNumber, latency: event.latency,
            supervisionTimeout: event.supervisionTimeout)
        effects.events.append(.subrateChanged(id, subrate))
        finish(opcode, with: .success(.subrate(subrate)), into: &effects)
    }

    func receive(_ event: LEDataLengthChange, into effects: inout Effects) {
        dataLength = DataLength(
            maxTransmitOctets: event.maximumTransmitOctets, maxTransmitMicroseconds: event.maximumTransmitTime,
            maxReceiveOctets: event.maximumReceiveOctets, maxReceiveMicroseconds: event.maximumReceiveTime)
        effects.events.append(.dataLengthChanged(id, dataLength))
    }

    func receive(_ event: LEPHYUpdateComplete, into effects: inout Effects) {
        let opcode = LESetPHY.opcode
        guard event.status.isSuccess else { return fail(opcode, event.status, into: &effects) }
        effects.events.append(.phyChanged(id, transmit: event.transmitPHY, receive: event.receivePHY))
        let result = HostResult.phy(transmit: event.transmitPHY, receive: event.receivePHY)
        finish(opcode, with: .success(result), into: &effects)
    }
}
