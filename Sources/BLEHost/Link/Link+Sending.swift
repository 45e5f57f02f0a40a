import BLEPackets

/// What a link sends, and its end from this side.
extension Link {
    /// How many of our requests and answers to the peer may wait for the controller; a peer that keeps asking without
    /// accepting the answers is disconnected.
    private static let unsentAnswerLimit = 64
    /// How long the controller may take to confirm a disconnection beyond the supervision timeout.
    private static let closingTimeout: Microseconds = .seconds(5)

    /// Sends a frame, or stores it until the security of the link allows it.
    func send(
        _ payload: [UInt8], on channel: L2CAPChannelIdentifier, tag: ATTSendTag = .none, into effects: inout Effects
    ) {
        if tag == .none {
            // If both sides follow the protocol, only one answer is unsent at a time (Core 5.4, Vol 3, Part F, 3.3.2).
            guard unsentAnswers < Self.unsentAnswerLimit else {
                effects.counters.floodedLinks &+= 1
                return end(.remoteDeviceLowResources, into: &effects)
            }
            unsentAnswers += 1
        }
        if security.isForfeited { return }
        if channel == .attributeProtocol, security.postpone(payload, tag: tag) { return }
        effects.data.append(OutgoingFrame(channel: channel, payload: payload, tag: tag), to: self)
    }

    func send(_ packet: SMPPacket, into effects: inout Effects) {
        send(packet.encoded(), on: .securityManager, into: &effects)
    }

    func send(_ command: LESignallingCommand, identifier: UInt8, into effects: inout Effects) {
        var packet = PacketWriter(reservingCapacity: 24)
        command.encodePacket(identifier: identifier, into: &packet)
        send(packet.bytes, on: .leSignalling, into: &effects)
    }

    // MARK: Sent

    /// Tells the write queue, the channels and the attribute server which of their frames the controller has.
    func reportPassedFrames(_ server: inout GATTServer, into effects: inout Effects) {
        recordTraffic(passedTags.count, into: &effects)
        while let tag = passedTags.popFirst() {
            switch tag {
            case .none: break
            case .command(let command):
                if gatt.commandSent(command) { completed(command, .success(.written), into: &effects) }
                performClientActions(into: &effects)
            case .server(let tag): if Features.server { server.sent(tag, to: id, at: effects.now) }
            case .channel(let number): signalling.channelFrameGone(number, at: effects.now)
            }
        }
        performChannelActions(into: &effects)
    }

    // MARK: Ending

    /// Ends the link at the end of the input, because of what arrived on it or failed to arrive.
    func end(_ reason: HCIStatus, into effects: inout Effects) {
        guard !isClosing else { return }
        isToEnd = true
        effects.deferred.append((self, .end(reason)))
    }

    /// Asks the controller to end the link, once.
    /// - Parameter isAsked: whether a client wants the end, so that what was queued before must still arrive.
    func close(
        reason: HCIStatus, isAsked: Bool = false, _ attempts: inout PairingAttempts, into effects: inout Effects
    ) {
        guard place != nil, !isClosing || isToEnd else { return }
        isToEnd = false
        state = .closing(deadline: effects.now.advanced(by: closingSpan))
        // The bond that the pairing would create is no longer wanted.
        security.pairingLost(isByPeer: false, &attempts, into: &effects)
        if security.postponeDisconnect(
            reason: reason, isAsked: isAsked, hasUnconfirmedPackets: hasUnconfirmedPackets, at: effects.now)
        {
            return
        }
        effects.commands.append(
            Disconnect(connectionHandle: id.handle, reason: reason), purpose: .link(id, .disconnect))
    }

    /// The controller refused to end the link, although it knows it. The peer may still be there, and the controller's
    /// buffers are in use as long as it is: the link stays, and is ended again later.
    func endRefused(_ status: HCIStatus, into effects: inout Effects) {
        refusedEnds += 1
        if refusedEnds > 1 { effects.requestRecovery(from: .refused(status, Disconnect.opcode)) }
    }

    /// Tries once more to end a link that the controller did not want to end.
    /// - Returns: whether there is something left to wait for.
    func closesAgain(into effects: inout Effects) -> Bool {
        guard refusedEnds > 0 else { return false }
        guard refusedEnds == 1 else {
            effects.requestRecovery(from: .unanswered(Disconnect.opcode))
            return true
        }
        // Whatever happens to this command, the next time is the last one.
        refusedEnds = 2
        state = .closing(deadline: effects.now.advanced(by: closingSpan))
        effects.commands.append(
            Disconnect(connectionHandle: id.handle, reason: .remoteUserTerminatedConnection),
            purpose: .link(id, .disconnect))
        return true
    }

    private var closingSpan: Microseconds {
        .microseconds(Self.closingTimeout.rawValue + Int64(parameters.supervisionTimeout.rawValue) * 10_000)
    }

    /// The controller has confirmed packets of this link.
    func packetsConfirmed(into effects: inout Effects) {
        guard security.waitsForConfirmation, !hasUnconfirmedPackets else { return }
        security.lastPacketGone(into: &effects)
    }
}
