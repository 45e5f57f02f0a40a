import BLEPackets

/// The controller's answers about links, and what a peer asks of the link layer.
extension Host {
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
        if purpose == .procedure { link.commandTaken(opcode, parameters, at: now, into: &effects) }
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
        case .procedure: link.finish(opcode, with: .failure(failure), at: now, into: &effects)
        // The link's end is waited for within its own time.
        case .disconnect: break
        }
    }

    /// The controller knows no such link: it is gone, and its Disconnection Complete was lost or is late.
    private mutating func disconnectRefused(_ status: HCIStatus, on link: Link, at now: Instant) {
        effects.counters.desynchronisations &+= 1
        linkEnded(link, reason: .controller(status), at: now)
    }

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
        if let channel = try link.receiveSignalling(payload, at: now, into: &effects) {
            receiveOnChannels(channel.command, identifier: channel.identifier, on: link, at: now)
        }
    }

    mutating func sendSignalling(_ command: LESignallingCommand, identifier: UInt8, link: Link, at now: Instant) {
        var packet = PacketWriter(reservingCapacity: 24)
        command.encodePacket(identifier: identifier, into: &packet)
        send(packet.bytes, on: .leSignalling, link: link, at: now)
    }
}
