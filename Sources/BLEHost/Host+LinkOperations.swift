import BLEPackets

/// What clients and peers ask of the link layer: parameters, data length, PHY, RSSI, version, features.
extension Host {
    // MARK: Starting

    mutating func start(
        _ procedure: LinkProcedure, on id: LinkID, operation: OperationID, client: ClientID, at now: Instant
    ) {
        guard let link = links[id], !link.isClosing else {
            return effects.complete(operation, .failure(.notConnected))
        }
        if let known = link.result(knownFor: procedure) { return effects.complete(operation, .success(known)) }
        if case .updateParameters(let parameters) = procedure, !parameters.isValid {
            return effects.complete(operation, .failure(.invalidRequest(.connectionParameters)))
        }
        let entry = LinkOperations.Operation(id: operation, client: client, procedure: procedure)
        if link.operations.append(entry, at: now) { begin(procedure, on: link, at: now) }
    }

    /// Begins a procedure that no client asked for; those that clients ask for afterwards wait for its end.
    /// - Returns: whether it began.
    @discardableResult
    mutating func beginOwnOperation(_ procedure: LinkProcedure, on link: Link, at now: Instant) -> Bool {
        guard link.operations.appendOwn(procedure, at: now) else { return false }
        begin(procedure, on: link, at: now)
        return true
    }

    private mutating func begin(_ procedure: LinkProcedure, on link: Link, at now: Instant) {
        let handle = link.id.handle
        let purpose = CommandPurpose.link(link.id, .procedure)
        // It may have become known while the procedure waited.
        if let known = link.result(knownFor: procedure) {
            return finishLinkOperation(procedure.opcode, on: link, with: .success(known), at: now)
        }
        switch procedure {
        case .readRSSI: effects.commands.append(ReadRSSI(connectionHandle: handle), purpose: purpose)
        case .readRemoteVersion:
            effects.commands.append(ReadRemoteVersionInformation(connectionHandle: handle), purpose: purpose)
        case .readRemoteFeatures:
            effects.commands.append(LEReadRemoteFeatures(connectionHandle: handle), purpose: purpose)
        case .updateParameters(let wished): requestParameters(wished, on: link, at: now)
        case .setDataLength(let octets, let microseconds):
            effects.commands.append(
                LESetDataLength(connectionHandle: handle, transmitOctets: octets, transmitTime: microseconds),
                purpose: purpose)
        case .readPHY: effects.commands.append(LEReadPHY(connectionHandle: handle), purpose: purpose)
        case .setPHY(let transmit, let receive):
            effects.commands.append(
                LESetPHY(
                    connectionHandle: handle,
                    preferences: PHYPreferences(transmitPHYs: transmit, receivePHYs: receive)),
                purpose: purpose)
        }
    }

    /// A central changes the parameters itself; a peripheral does where both sides know the link layer's procedure, and
    /// asks over L2CAP where not (Core 5.4, Vol 3, Part A, 4.20).
    private mutating func requestParameters(_ wished: ConnectionParameterRequest, on link: Link, at now: Instant) {
        let knowsProcedure =
            information.features.contains(.connectionParametersRequestProcedure)
            && link.remoteFeatures?.contains(.connectionParametersRequestProcedure) ?? false
        if link.role == .central || knowsProcedure {
            return updateParameters(wished, on: link)
        }
        let identifier = link.signalling.beginParameterRequest(at: now)
        let request = L2CAPConnectionParameterUpdateRequest(
            minimumInterval: wished.interval.lowerBound.rawValue, maximumInterval: wished.interval.upperBound.rawValue,
            latency: wished.peripheralLatency, supervisionTimeout: wished.supervisionTimeout.rawValue)
        sendSignalling(.connectionParameterUpdateRequest(request), identifier: identifier, link: link, at: now)
    }

    private mutating func updateParameters(_ wished: ConnectionParameterRequest, on link: Link) {
        let id = link.id
        effects.commands.append(
            LEConnectionUpdate(
                connectionHandle: id.handle, parameters: LEConnectionParameters(wished)),
            purpose: .link(id, .procedure))
    }

    // MARK: Ends

    /// The procedure with this command ended: its operation is told, the next with that command begins.
    mutating func finishLinkOperation(
        _ opcode: HCIOpcode, on link: Link, with result: Result<HostResult, HostFailure>,
        at now: Instant
    ) {
        let (finished, next) = link.operations.finish(opcode, at: now)
        if let finished { effects.complete(finished.id, result) }
        if let next { begin(next.procedure, on: link, at: now) }
    }

    /// The controller answered a command about a link.
    mutating func linkCommandAnswered(
        _ purpose: LinkPurpose, on id: LinkID, _ status: HCIStatus, _ opcode: HCIOpcode, _ parameters: RawSpan,
        at now: Instant
    ) {
        guard let link = links[id] else { return }
        guard status.isSuccess else {
            if purpose == .disconnect { return disconnectRefused(status, on: link, at: now) }
            return linkCommandFailed(purpose, on: id, opcode, .controller(status, opcode), at: now)
        }
        var reader = PacketReader(parameters)
        let result: HostResult
        do throws(DecodingError) {
            switch opcode {
            case ReadRSSI.opcode: result = .rssi(try ReadRSSI.ReturnParameters(decoding: &reader).rssi)
            case LEReadPHY.opcode:
                let answer = try LEReadPHY.ReturnParameters(decoding: &reader)
                result = .phy(transmit: answer.transmitPHY, receive: answer.receivePHY)
            case LESetDataLength.opcode: result = .dataLength(link.dataLength)
            // Command Status: the event that ends the procedure is still to come.
            default: return
            }
        } catch {
            return linkCommandFailed(purpose, on: id, opcode, .controller(.unspecifiedError, opcode), at: now)
        }
        finishLinkOperation(opcode, on: link, with: .success(result), at: now)
    }

    /// A command about a link was refused or never answered.
    mutating func linkCommandFailed(
        _ purpose: LinkPurpose, on id: LinkID, _ opcode: HCIOpcode, _ failure: HostFailure, at now: Instant
    ) {
        guard let link = links[id] else { return }
        switch purpose {
        case .encrypt, .replyWithKey:
            var status = HCIStatus.connectionTimeout
            if case .controller(let refusal, _) = failure { status = refusal }
            // A peripheral that is asked for a key has its encryption paused already.
            encryptionEnded(link, isOn: false, status: status, hasBegun: purpose != .encrypt, at: now)
        case .procedure: finishLinkOperation(opcode, on: link, with: .failure(failure), at: now)
        // The link's end is waited for within its own time.
        case .disconnect: break
        }
    }

    /// The controller knows no such link: it is gone, and its Disconnection Complete was lost or is late.
    private mutating func disconnectRefused(_ status: HCIStatus, on link: Link, at now: Instant) {
        effects.counters.desynchronisations &+= 1
        linkEnded(link, reason: .controller(status), at: now)
    }

    mutating func remoteVersionRead(_ event: ReadRemoteVersionInformationComplete, at now: Instant) {
        guard let link = links[event.connectionHandle] else { return }
        guard event.status.isSuccess else {
            return finishLinkOperation(
                ReadRemoteVersionInformation.opcode, on: link,
                with: .failure(.controller(event.status, ReadRemoteVersionInformation.opcode)), at: now)
        }
        let version = RemoteVersion(
            version: event.version.rawValue, companyIdentifier: event.manufacturer.rawValue,
            subversion: event.subversion)
        link.remoteVersion = version
        finishLinkOperation(
            ReadRemoteVersionInformation.opcode, on: link, with: .success(.remoteVersion(version)), at: now)
    }

    mutating func remoteFeaturesRead(_ event: LEReadRemoteFeaturesComplete, at now: Instant) {
        guard let link = links[event.connectionHandle] else { return }
        guard event.status.isSuccess else {
            return finishLinkOperation(
                LEReadRemoteFeatures.opcode, on: link,
                with: .failure(.controller(event.status, LEReadRemoteFeatures.opcode)), at: now)
        }
        link.remoteFeatures = event.features
        finishLinkOperation(
            LEReadRemoteFeatures.opcode, on: link, with: .success(.remoteFeatures(event.features)), at: now)
    }

    mutating func connectionUpdated(_ event: LEConnectionUpdateComplete, at now: Instant) {
        guard let link = links[event.connectionHandle] else { return }
        guard event.status.isSuccess else {
            let failure: HostFailure =
                event.status == .unacceptableConnectionParameters || event.status == .unsupportedRemoteFeature
                ? .rejectedByPeer : .controller(event.status, LEConnectionUpdate.opcode)
            return finishLinkOperation(LEConnectionUpdate.opcode, on: link, with: .failure(failure), at: now)
        }
        let parameters = ConnectionParameters(
            interval: event.interval, peripheralLatency: event.latency,
            supervisionTimeout: event.supervisionTimeout)
        link.parameters = parameters
        effects.events.append(.connectionParametersChanged(link.id, parameters))
        finishLinkOperation(
            LEConnectionUpdate.opcode, on: link, with: .success(.connectionParameters(parameters)), at: now)
    }

    mutating func dataLengthChanged(_ event: LEDataLengthChange) {
        guard let link = links[event.connectionHandle] else { return }
        let dataLength = DataLength(
            maxTransmitOctets: event.maximumTransmitOctets, maxTransmitMicroseconds: event.maximumTransmitTime,
            maxReceiveOctets: event.maximumReceiveOctets, maxReceiveMicroseconds: event.maximumReceiveTime)
        link.dataLength = dataLength
        effects.events.append(.dataLengthChanged(link.id, dataLength))
    }

    mutating func phyUpdated(_ event: LEPHYUpdateComplete, at now: Instant) {
        guard let link = links[event.connectionHandle] else { return }
        guard event.status.isSuccess else {
            return finishLinkOperation(
                LESetPHY.opcode, on: link, with: .failure(.controller(event.status, LESetPHY.opcode)), at: now)
        }
        effects.events.append(.phyChanged(link.id, transmit: event.transmitPHY, receive: event.receivePHY))
        finishLinkOperation(
            LESetPHY.opcode, on: link, with: .success(.phy(transmit: event.transmitPHY, receive: event.receivePHY)),
            at: now)
    }

    // MARK: The peer's wishes

    /// The peer asks for other parameters through the link layer (Core 5.4, Vol 4, Part E, 7.7.65.6).
    mutating func parametersRequested(_ event: LERemoteConnectionParameterRequest, at now: Instant) {
        guard configuration.ownership == .exclusive else { return }
        let wished = ConnectionParameterRequest(
            minimum: event.minimumInterval.rawValue, maximum: event.maximumInterval.rawValue, latency: event.latency,
            timeout: event.supervisionTimeout.rawValue)
        if let wished, links[event.connectionHandle] != nil {
            effects.commands.append(
                LERemoteConnectionParameterRequestReply(
                    connectionHandle: event.connectionHandle, parameters: LEConnectionParameters(wished)),
                purpose: .unattendedOnLink(event.connectionHandle))
        } else {
            effects.commands.append(
                LERemoteConnectionParameterRequestNegativeReply(
                    connectionHandle: event.connectionHandle, reason: .unacceptableConnectionParameters),
                purpose: .unattendedOnLink(event.connectionHandle))
        }
    }

    mutating func receiveSignalling(_ payload: RawSpan, on link: Link, at now: Instant) throws(DecodingError) {
        switch try link.signalling.receive(payload, role: link.role) {
        case .none: break
        case .reply(let command, let identifier):
            sendSignalling(command, identifier: identifier, link: link, at: now)
        case .accept(let wished, let identifier):
            // While an update of ours runs the peer's wish has to wait: it may ask again.
            let isAccepted = beginOwnOperation(.updateParameters(wished), on: link, at: now)
            sendSignalling(
                .connectionParameterUpdateResponse(.init(result: isAccepted ? .accepted : .rejected)),
                identifier: identifier, link: link, at: now)
        case .channels(let command, let identifier):
            receiveOnChannels(command, identifier: identifier, on: link, at: now)
        case .parametersAnswered(let isAccepted):
            // Accepted: the central updates the link, which ends the operation.
            if !isAccepted {
                finishLinkOperation(LEConnectionUpdate.opcode, on: link, with: .failure(.rejectedByPeer), at: now)
            }
        }
    }

    mutating func sendSignalling(_ command: LESignallingCommand, identifier: UInt8, link: Link, at now: Instant) {
        var packet = PacketWriter(reservingCapacity: 24)
        command.encodePacket(identifier: identifier, into: &packet)
        send(packet.bytes, on: .leSignalling, link: link, at: now)
    }
}

extension Link {
    /// What a procedure would read, where it is known; it does not change while the link lasts.
    fileprivate func result(knownFor procedure: LinkProcedure) -> HostResult? {
        switch procedure {
        case .readRemoteVersion: remoteVersion.map { .remoteVersion($0) }
        case .readRemoteFeatures: remoteFeatures.map { .remoteFeatures($0) }
        case .readRSSI, .updateParameters, .setDataLength, .readPHY, .setPHY: nil
        }
    }
}
