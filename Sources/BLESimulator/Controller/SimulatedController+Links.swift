import BLEPackets

/// The hosts' side of links (Core 5.4, Vol 4, Part E, 7.1, 7.5 and 7.8).
extension SimulatedController {
    func position(of link: AirLink) -> Int? { ends.firstIndex { $0.link === link } }
    func position(of handle: ConnectionHandle) -> Int? { ends.lastIndex { $0.handle == handle } }

    var capabilities: LinkCapabilities {
        LinkCapabilities(
            features: configuration.features, version: configuration.version,
            manufacturer: configuration.manufacturer, subversion: configuration.subversion,
            transmitOctets: configuration.changesDataLengthByCommandOnly ? 27 : settings.suggestedTransmitOctets,
            receiveOctets: maximumDataLength,
            phys: supportedPHYs, packetsPerConnectionEvent: configuration.packetsPerConnectionEvent)
    }

    // MARK: Commands

    func readRemoteVersionInformation(_ command: ReadRemoteVersionInformation) -> HCIStatus {
        begin(on: command.connectionHandle) { .version(by: $0) }
    }

    func leReadRemoteFeatures(_ command: LEReadRemoteFeatures) -> HCIStatus {
        begin(on: command.connectionHandle) { .features(by: $0) }
    }

    func leSetPHY(_ command: LESetPHY) -> HCIStatus {
        let status = check(command.preferences)
        guard status.isSuccess else { return status }
        return begin(on: command.connectionHandle) { .phy(command.preferences, by: $0) }
    }

    func readRSSI(_ command: ReadRSSI) -> ReadRSSI.ReturnParameters {
        guard let position = position(of: command.connectionHandle), let peer = peer(of: ends[position]) else {
            return .init(status: .unknownConnectionIdentifier, connectionHandle: command.connectionHandle)
        }
        return .init(
            connectionHandle: command.connectionHandle, rssi: air.measuredSignal(of: peer, at: self))
    }

    func readTransmitPowerLevel(_ command: ReadTransmitPowerLevel) -> ReadTransmitPowerLevel.ReturnParameters {
        .init(
            status: known(command.connectionHandle), connectionHandle: command.connectionHandle,
            transmitPower: sendingPower)
    }

    func readAuthenticatedPayloadTimeout(
        _ command: ReadAuthenticatedPayloadTimeout
    ) -> ReadAuthenticatedPayloadTimeout.ReturnParameters {
        let position = position(of: command.connectionHandle)
        return .init(
            status: known(command.connectionHandle), connectionHandle: command.connectionHandle,
            timeout: position.map { ends[$0].authenticatedPayloadTimeout } ?? 0)
    }

    func writeAuthenticatedPayloadTimeout(
        _ command: WriteAuthenticatedPayloadTimeout
    ) -> WriteAuthenticatedPayloadTimeout.ReturnParameters {
        guard let position = position(of: command.connectionHandle) else {
            return .init(status: .unknownConnectionIdentifier, connectionHandle: command.connectionHandle)
        }
        guard command.timeout > 0 else {
            return .init(status: .invalidCommandParameters, connectionHandle: command.connectionHandle)
        }
        ends[position].authenticatedPayloadTimeout = command.timeout
        return .init(connectionHandle: command.connectionHandle)
    }

    func leReadChannelMap(_ command: LEReadChannelMap) -> LEReadChannelMap.ReturnParameters {
        .init(
            status: known(command.connectionHandle), connectionHandle: command.connectionHandle,
            channelMap: settings.channelMap)
    }

    func leSetDataLength(_ command: LESetDataLength) -> LESetDataLength.ReturnParameters {
        .init(status: setDataLength(command), connectionHandle: command.connectionHandle)
    }

    func leReadPHY(_ command: LEReadPHY) -> LEReadPHY.ReturnParameters {
        guard let position = position(of: command.connectionHandle) else {
            return .init(status: .unknownConnectionIdentifier, connectionHandle: command.connectionHandle)
        }
        let end = ends[position]
        return .init(
            connectionHandle: command.connectionHandle, transmitPHY: end.link.transmitPHY(end.side),
            receivePHY: end.link.transmitPHY(end.side.other))
    }

    func leRemoteConnectionParameterRequestReply(
        _ command: LERemoteConnectionParameterRequestReply
    ) -> LERemoteConnectionParameterRequestReply.ReturnParameters {
        .init(status: acceptParameters(command), connectionHandle: command.connectionHandle)
    }

    func leRemoteConnectionParameterRequestNegativeReply(
        _ command: LERemoteConnectionParameterRequestNegativeReply
    ) -> LERemoteConnectionParameterRequestNegativeReply.ReturnParameters {
        .init(status: rejectParameters(command), connectionHandle: command.connectionHandle)
    }

    func known(_ handle: ConnectionHandle) -> HCIStatus {
        position(of: handle) == nil ? .unknownConnectionIdentifier : .success
    }

    func peer(of end: LinkEnd) -> (any AirStation)? { air.station(end.link.station(end.side.other)) }

    func begin(on handle: ConnectionHandle, _ procedure: (LinkSide) -> LinkProcedure) -> HCIStatus {
        guard let position = position(of: handle) else { return .unknownConnectionIdentifier }
        air.begin(procedure(ends[position].side), on: ends[position].link)
        return .success
    }

    func disconnect(_ command: Disconnect) -> HCIStatus {
        // The reasons that a host may use (Core 5.4, Vol 4, Part E, 7.1.6).
        guard [0x05, 0x13, 0x14, 0x15, 0x1A, 0x29, 0x3B].contains(command.reason.rawValue) else {
            return .invalidCommandParameters
        }
        guard let position = position(of: command.connectionHandle) else { return .unknownConnectionIdentifier }
        if let status = faults.refusesDisconnect { return status }
        guard !ends[position].disconnects else { return .commandDisallowed }
        ends[position].disconnects = true
        air.begin(.terminate(by: ends[position].side, reason: command.reason), on: ends[position].link)
        return .success
    }

    func leConnectionUpdate(_ command: LEConnectionUpdate) -> HCIStatus {
        guard let position = position(of: command.connectionHandle) else { return .unknownConnectionIdentifier }
        guard Self.isValid(command.parameters) else { return .invalidCommandParameters }
        let end = ends[position]
        if end.side == .central {
            air.begin(.update(LinkParameters(command.parameters), by: .central), on: end.link, events: 6)
        } else {
            guard configuration.features.contains(.connectionParametersRequestProcedure) else {
                return .commandDisallowed
            }
            air.begin(.parameterRequest(command.parameters, by: .peripheral), on: end.link)
        }
        return .success
    }

    private func setDataLength(_ command: LESetDataLength) -> HCIStatus {
        guard let position = position(of: command.connectionHandle) else { return .unknownConnectionIdentifier }
        guard 27...251 ~= command.transmitOctets, 328...17_040 ~= command.transmitTime else {
            return .invalidCommandParameters
        }
        ends[position].transmitOctets = min(command.transmitOctets, maximumDataLength)
        air.begin(.dataLength, on: ends[position].link)
        return .success
    }

    private func acceptParameters(_ command: LERemoteConnectionParameterRequestReply) -> HCIStatus {
        guard let position = position(of: command.connectionHandle) else { return .unknownConnectionIdentifier }
        guard ends[position].pendingRequest != nil else { return .commandDisallowed }
        guard Self.isValid(command.parameters) else { return .invalidCommandParameters }
        ends[position].pendingRequest = nil
        let end = ends[position]
        air.begin(.update(LinkParameters(command.parameters), by: end.side.other), on: end.link, events: 6)
        return .success
    }

    private func rejectParameters(_ command: LERemoteConnectionParameterRequestNegativeReply) -> HCIStatus {
        guard let position = position(of: command.connectionHandle) else { return .unknownConnectionIdentifier }
        guard ends[position].pendingRequest != nil else { return .commandDisallowed }
        ends[position].pendingRequest = nil
        air.begin(.parameterReject(command.reason, to: ends[position].side.other), on: ends[position].link)
        return .success
    }

    // MARK: Reports of the link layer

    func connected(_ link: AirLink, as side: LinkSide, to peer: DeviceAddress, set: UInt8?) {
        // 0x0000 to 0x0EFF (Core 5.4, Vol 4, Part E, 5.4.2).
        var handle = configuration.firstConnectionHandle % 0x0F00
        while ends.contains(where: { $0.handle.rawValue == handle }) { handle = (handle + 1) % 0x0F00 }
        if faults.reusesHandles, let last = ends.last { handle = last.handle.rawValue }
        let known = recognize(peer).reported ?? peer
        let ownAddressType =
            side == .central ? settings.initiating?.ownAddressType : set.flatMap { advertisingSet($0)?.ownAddressType }
        let end = LinkEnd(
            link: link, handle: ConnectionHandle(rawValue: handle), side: side, peer: known,
            peerResolvable: known == peer ? nil : peer,
            localResolvable: ownAddressType.flatMap { privateAddress($0, towards: known) },
            transmitOctets: min(settings.suggestedTransmitOctets, maximumDataLength))
        ends.append(end)
        if side == .central { settings.initiating = nil }
        let completedEvents = set.flatMap { advertisingSet($0)?.completedEvents } ?? 0
        if let set { stopAdvertising(set) }
        sendConnectionComplete(end)
        if configuration.features.contains(.channelSelectionAlgorithm2) {
            send(
                le: LEChannelSelectionAlgorithm(connectionHandle: end.handle, algorithm: .algorithm2),
                delay: faults.connectionCompleteDelayMicroseconds)
        }
        if let set, set != AdvertisingSet.legacyHandle {
            send(
                le: LEAdvertisingSetTerminated(
                    advertisingHandle: set, connectionHandle: end.handle,
                    completedExtendedAdvertisingEvents: UInt8(clamping: completedEvents)),
                delay: faults.connectionCompleteDelayMicroseconds)
        }
    }

    private func sendConnectionComplete(_ end: LinkEnd) {
        var peer = end.peer
        if faults.marksIdentities {
            peer = DeviceAddress(value: peer.value, kind: peer.isRandom ? .randomIdentity : .publicIdentity)
        }
        sendConnectionComplete(
            status: .success, handle: end.handle, side: end.side, peer: peer,
            resolvable: (end.localResolvable, end.peerResolvable),
            parameters: end.link.parameters, delay: faults.connectionCompleteDelayMicroseconds)
    }

    func sendConnectionComplete(failure: HCIStatus, side: LinkSide, peer: DeviceAddress) {
        sendConnectionComplete(
            status: failure, handle: ConnectionHandle(rawValue: 0), side: side, peer: peer,
            parameters: LinkParameters(
                interval: ConnectionInterval(rawValue: 0), latency: 0,
                supervisionTimeout: SupervisionTimeout(rawValue: 0)),
            delay: 0)
    }

    /// The most complete form of the event that the host has enabled (Core 5.4, Vol 4, Part E, 7.7.65.10).
    private func sendConnectionComplete(
        status: HCIStatus, handle: ConnectionHandle, side: LinkSide, peer: DeviceAddress,
        resolvable: (local: DeviceAddress?, peer: DeviceAddress?) = (nil, nil),
        parameters: LinkParameters, delay: Int64
    ) {
        let enhanced = LEEnhancedConnectionComplete(
            status: status, connectionHandle: handle, role: side.role, peerAddress: peer,
            localResolvableAddress: resolvable.local, peerResolvableAddress: resolvable.peer,
            interval: parameters.interval, latency: parameters.latency,
            supervisionTimeout: parameters.supervisionTimeout)
        let plain = LEConnectionComplete(
            status: status, connectionHandle: handle, role: side.role, peerAddress: peer,
            interval: parameters.interval, latency: parameters.latency,
            supervisionTimeout: parameters.supervisionTimeout)
        if faults.reportsConnectionTwice, status.isSuccess {
            for packet in [encoded(le: plain, isMasked: false), encoded(le: enhanced, isMasked: false)] {
                if let packet { send(packet: packet, delay: delay) }
            }
        } else if settings.leEventMask.contains(.enhancedConnectionComplete) || faults.sendsEnhancedOnly {
            send(le: enhanced, delay: delay)
        } else {
            send(le: plain, delay: delay)
        }
    }

    func closed(_ link: AirLink, reason: HCIStatus) {
        guard let position = position(of: link) else { return }
        let end = ends.remove(at: position)
        if isOn(.disconnectionComplete), !faults.keepsDisconnection {
            for _ in 0..<(faults.reportsDisconnectionTwice ? 2 : 1) {
                send(event: DisconnectionComplete(connectionHandle: end.handle, reason: reason))
            }
        }
        flushWaitingData()
    }

    func updated(_ link: AirLink, status: HCIStatus) {
        guard let position = position(of: link) else { return }
        send(
            le: LEConnectionUpdateComplete(
                status: status, connectionHandle: ends[position].handle, interval: link.parameters.interval,
                latency: link.parameters.latency, supervisionTimeout: link.parameters.supervisionTimeout))
    }

    func parametersRequested(_ request: LEConnectionParameters, on link: AirLink) -> ParameterAnswer {
        guard let position = position(of: link),
            configuration.features.contains(.connectionParametersRequestProcedure),
            isOn(.leMeta), settings.leEventMask.contains(.remoteConnectionParameterRequest)
        else { return .reject(.unsupportedRemoteFeature) }
        ends[position].pendingRequest = request
        send(
            le: LERemoteConnectionParameterRequest(
                connectionHandle: ends[position].handle, minimumInterval: request.minimumInterval,
                maximumInterval: request.maximumInterval, latency: request.latency,
                supervisionTimeout: request.supervisionTimeout))
        return .later
    }

    func featuresRead(_ features: LEFeatures, on link: AirLink) {
        guard let position = position(of: link) else { return }
        send(le: LEReadRemoteFeaturesComplete(connectionHandle: ends[position].handle, features: features))
    }

    func versionRead(of peer: LinkCapabilities, on link: AirLink) {
        guard let position = position(of: link), isOn(.readRemoteVersionInformationComplete) else { return }
        send(
            event: ReadRemoteVersionInformationComplete(
                connectionHandle: ends[position].handle, version: peer.version, manufacturer: peer.manufacturer,
                subversion: peer.subversion))
    }

    func dataLengthChanged(on link: AirLink) {
        guard let position = position(of: link) else { return }
        let side = ends[position].side
        let (transmit, receive) = (link.transmitOctets(side), link.transmitOctets(side.other))
        send(
            le: LEDataLengthChange(
                connectionHandle: ends[position].handle, maximumTransmitOctets: transmit,
                maximumTransmitTime: Self.time(octets: transmit), maximumReceiveOctets: receive,
                maximumReceiveTime: Self.time(octets: receive)))
    }

    func phyUpdated(on link: AirLink, status: HCIStatus) {
        guard let position = position(of: link) else { return }
        let side = ends[position].side
        send(
            le: LEPHYUpdateComplete(
                status: status, connectionHandle: ends[position].handle, transmitPHY: link.transmitPHY(side),
                receivePHY: link.transmitPHY(side.other)))
    }

    func phyPreferences(on link: AirLink) -> PHYPreferences { settings.phyPreferences }

    func transmitOctets(on link: AirLink) -> UInt16 {
        position(of: link).map { ends[$0].transmitOctets } ?? 27
    }

    // MARK: Masks

    func isOn(_ event: EventMask) -> Bool { settings.eventMask.contains(event) }

    /// Sends an event of the LE Meta family unless the host has masked it.
    func send<Event: LEMetaEvent>(le event: Event, delay: Int64 = 0) {
        if let packet = encoded(le: event) { send(packet: packet, delay: max(0, delay)) }
    }

    /// The packet of an event of the LE Meta family; `nil` if the host has masked it.
    /// - Parameter isMasked: whether the mask of LE events counts.
    func encoded<Event: LEMetaEvent>(le event: Event, isMasked: Bool = true) -> [UInt8]? {
        let bit = LEEventMask(rawValue: 1 << (UInt64(Event.subevent.rawValue) - 1))
        guard isOn(.leMeta), !isMasked || settings.leEventMask.contains(bit) else { return nil }
        writer.removeAll()
        event.encodePacket(into: &writer)
        return writer.bytes
    }
}
