import BLEPackets

/// What clients and peers ask of the link layer: parameters, data length, PHY, RSSI, version, features.
extension Host {
    // MARK: Starting

    mutating func startLinkOperation(
        _ command: HostCommand, on id: LinkID, operation: OperationID, client: ClientID, at now: Instant
    ) {
        guard let link = links[id], !link.isClosing else {
            return effects.complete(operation, .failure(.notConnected))
        }
        let kind: LinkOperations.Kind
        switch command {
        case .readRSSI: kind = .readRSSI
        case .readRemoteVersion:
            if let version = link.remoteVersion {
                return effects.complete(operation, .success(.remoteVersion(version)))
            }
            kind = .readRemoteVersion
        case .readRemoteFeatures:
            if let features = link.remoteFeatures {
                return effects.complete(operation, .success(.remoteFeatures(features)))
            }
            kind = .readRemoteFeatures
        case .updateConnectionParameters(_, let parameters):
            guard parameters.isValid else {
                return effects.complete(operation, .failure(.invalidRequest(.connectionParameters)))
            }
            kind = .updateParameters(parameters)
        case .setDataLength(_, let octets, let microseconds):
            kind = .setDataLength(octets: octets, microseconds: microseconds)
        case .readPHY: kind = .readPHY
        case .setPHY(_, let transmit, let receive): kind = .setPHY(transmit: transmit, receive: receive)
        default: return
        }
        let entry = LinkOperations.Operation(id: operation, client: client, kind: kind)
        if link.operations.append(entry, at: now) { begin(kind, on: link, at: now) }
    }

    /// Begins a procedure that no client asked for; those that clients ask for afterwards wait for its end.
    /// - Returns: whether it began.
    @discardableResult
    mutating func beginOwnOperation(_ kind: LinkOperations.Kind, on link: Link, at now: Instant) -> Bool {
        guard link.operations.appendOwn(kind, at: now) else { return false }
        begin(kind, on: link, at: now)
        return true
    }

    private mutating func begin(_ kind: LinkOperations.Kind, on link: Link, at now: Instant) {
        let id = link.id
        switch kind {
        case .readRSSI:
            effects.commands.append(ReadRSSI(connectionHandle: id.handle), purpose: .link(id, .readRSSI))
        case .readRemoteVersion:
            if let version = link.remoteVersion {
                return finishLinkOperation(
                    .readRemoteVersion, on: link, with: .success(.remoteVersion(version)), at: now)
            }
            effects.commands.append(
                ReadRemoteVersionInformation(connectionHandle: id.handle), purpose: .link(id, .readRemoteVersion))
        case .readRemoteFeatures:
            if let features = link.remoteFeatures {
                return finishLinkOperation(
                    .readRemoteFeatures, on: link, with: .success(.remoteFeatures(features)), at: now)
            }
            effects.commands.append(
                LEReadRemoteFeatures(connectionHandle: id.handle), purpose: .link(id, .readRemoteFeatures))
        case .updateParameters(let wished):
            requestParameters(wished, on: link, at: now)
        case .setDataLength(let octets, let microseconds):
            effects.commands.append(
                LESetDataLength(
                    connectionHandle: id.handle, transmitOctets: octets, transmitTime: microseconds),
                purpose: .link(id, .setDataLength))
        case .readPHY:
            effects.commands.append(LEReadPHY(connectionHandle: id.handle), purpose: .link(id, .readPHY))
        case .setPHY(let transmit, let receive):
            effects.commands.append(
                LESetPHY(
                    connectionHandle: id.handle,
                    preferences: PHYPreferences(transmitPHYs: transmit, receivePHYs: receive)),
                purpose: .link(id, .setPHY))
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
            purpose: .link(id, .updateParameters))
    }

    // MARK: Ends

    /// The procedure of a class ended: its operation is told, the next of its class begins.
    mutating func finishLinkOperation(
        _ operationClass: LinkOperations.Class, on link: Link, with result: Result<HostResult, HostFailure>,
        at now: Instant
    ) {
        let (finished, next) = link.operations.finish(operationClass, at: now)
        if let finished { effects.complete(finished.id, result) }
        if let next { begin(next.kind, on: link, at: now) }
    }

    /// The controller answered a command of a link procedure.
    mutating func linkCommandAnswered(
        _ procedure: LinkProcedure, on id: LinkID, _ status: HCIStatus, _ opcode: HCIOpcode, _ parameters: RawSpan,
        at now: Instant
    ) {
        guard let link = links[id] else { return }
        guard status.isSuccess else {
            if procedure == .disconnect { return disconnectRefused(status, on: link, at: now) }
            return linkCommandFailed(procedure, on: id, .controller(status, opcode), at: now)
        }
        var reader = PacketReader(parameters)
        switch procedure {
        case .readRSSI:
            guard let answer = try? ReadRSSI.ReturnParameters(decoding: &reader) else {
                return linkCommandFailed(procedure, on: id, .controller(.unspecifiedError, opcode), at: now)
            }
            finishLinkOperation(.readRSSI, on: link, with: .success(.rssi(answer.rssi)), at: now)
        case .readPHY:
            guard let answer = try? LEReadPHY.ReturnParameters(decoding: &reader) else {
                return linkCommandFailed(procedure, on: id, .controller(.unspecifiedError, opcode), at: now)
            }
            finishLinkOperation(
                .readPHY, on: link, with: .success(.phy(transmit: answer.transmitPHY, receive: answer.receivePHY)),
                at: now)
        case .setDataLength:
            finishLinkOperation(.setDataLength, on: link, with: .success(.dataLength(link.dataLength)), at: now)
        case .disconnect, .readRemoteVersion, .readRemoteFeatures, .updateParameters, .setPHY, .encrypt, .replyWithKey:
            // Command Status: the event that ends the procedure is still to come.
            break
        }
    }

    /// The command of a link procedure was refused or never answered.
    mutating func linkCommandFailed(
        _ procedure: LinkProcedure, on id: LinkID, _ failure: HostFailure, at now: Instant
    ) {
        if procedure == .encrypt || procedure == .replyWithKey, let link = links[id] {
            var status = HCIStatus.connectionTimeout
            if case .controller(let refusal, _) = failure { status = refusal }
            // A peripheral that is asked for a key has its encryption paused already.
            return encryptionEnded(link, isOn: false, status: status, hasBegun: procedure != .encrypt, at: now)
        }
        guard let link = links[id], let operationClass = procedure.operationClass else { return }
        finishLinkOperation(operationClass, on: link, with: .failure(failure), at: now)
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
                .readRemoteVersion, on: link,
                with: .failure(.controller(event.status, ReadRemoteVersionInformation.opcode)), at: now)
        }
        let version = RemoteVersion(
            version: event.version.rawValue, companyIdentifier: event.manufacturer.rawValue,
            subversion: event.subversion)
        link.remoteVersion = version
        finishLinkOperation(.readRemoteVersion, on: link, with: .success(.remoteVersion(version)), at: now)
    }

    mutating func remoteFeaturesRead(_ event: LEReadRemoteFeaturesComplete, at now: Instant) {
        guard let link = links[event.connectionHandle] else { return }
        guard event.status.isSuccess else {
            return finishLinkOperation(
                .readRemoteFeatures, on: link,
                with: .failure(.controller(event.status, LEReadRemoteFeatures.opcode)), at: now)
        }
        link.remoteFeatures = event.features
        finishLinkOperation(.readRemoteFeatures, on: link, with: .success(.remoteFeatures(event.features)), at: now)
    }

    mutating func connectionUpdated(_ event: LEConnectionUpdateComplete, at now: Instant) {
        guard let link = links[event.connectionHandle] else { return }
        guard event.status.isSuccess else {
            let failure: HostFailure =
                event.status == .unacceptableConnectionParameters || event.status == .unsupportedRemoteFeature
                ? .rejectedByPeer : .controller(event.status, LEConnectionUpdate.opcode)
            return finishLinkOperation(.updateParameters, on: link, with: .failure(failure), at: now)
        }
        let parameters = ConnectionParameters(
            interval: event.interval, peripheralLatency: event.latency,
            supervisionTimeout: event.supervisionTimeout)
        link.parameters = parameters
        effects.events.append(.connectionParametersChanged(link.id, parameters))
        finishLinkOperation(.updateParameters, on: link, with: .success(.connectionParameters(parameters)), at: now)
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
                .setPHY, on: link, with: .failure(.controller(event.status, LESetPHY.opcode)), at: now)
        }
        effects.events.append(.phyChanged(link.id, transmit: event.transmitPHY, receive: event.receivePHY))
        finishLinkOperation(
            .setPHY, on: link, with: .success(.phy(transmit: event.transmitPHY, receive: event.receivePHY)), at: now)
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
                finishLinkOperation(.updateParameters, on: link, with: .failure(.rejectedByPeer), at: now)
            }
        }
    }

    mutating func sendSignalling(_ command: LESignallingCommand, identifier: UInt8, link: Link, at now: Instant) {
        var packet = PacketWriter(reservingCapacity: 24)
        command.encodePacket(identifier: identifier, into: &packet)
        send(packet.bytes, on: .leSignalling, link: link, at: now)
    }
}
