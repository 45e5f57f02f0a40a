import BLEPackets

/// The beginning of a link and its timers; `Link+Holders` handles its clients, `Link+Sending` its end.
extension Link {
    /// How long the peer may take to exchange ATT_MTU before the clients get the link with 23.
    static let setupTimeout: Microseconds = .seconds(5)

    /// A controller that reports the beginning or the end of a link twice does so within this time.
    static let repetitionSpan: Microseconds = .milliseconds(100)

    /// The link is in its table: asks the peer for what every link needs.
    /// - Parameter information: what the controller reported about itself.
    func setUp(_ information: ControllerInformation, isExclusive: Bool, into effects: inout Effects) {
        guard isExclusive else {
            // The L2CAP channels on it belong to the other owner; here only the link layer is used.
            open(into: &effects)
            startOwn(.readRemoteFeatures, into: &effects)
            return
        }
        if role == .central {
            exchangeMTU(into: &effects)
            // Behind a closed gate the exchange waits until a client wants something for which the peer has to prove
            // its identity.
            if security.isGated, !security.isChanging { open(into: &effects) }
            startOwn(.readRemoteFeatures, into: &effects)
        } else {
            state = .open
            effects.events.append(.centralConnected(self.information))
        }
        guard information.features.contains(.dataPacketLengthExtension), information.maximumTransmitOctets > 27 else {
            return
        }
        effects.commands.append(
            LESetDataLength(
                connectionHandle: id.handle, transmitOctets: information.maximumTransmitOctets,
                transmitTime: information.maximumTransmitMicroseconds),
            purpose: .unattendedOnLink(id.handle))
    }

    /// Handles the timers that are due.
    /// - Returns: whether the link is treated as gone, because the controller does not confirm its end.
    func advance(_ rooms: inout Rooms, into effects: inout Effects) -> Bool {
        advanceAttributes(into: &effects)
        advanceProcedures(into: &effects)
        advanceSignalling(into: &effects)
        advanceBearers(into: &effects)
        advancePace(into: &effects)
        // A link that is about to end for one of these reasons must not count as stalled, nor its pairing as late.
        if !isToEnd { advanceSecurity(&rooms, into: &effects) }
        if isStalled(at: effects.now), !isClosing {
            effects.counters.stalledLinks &+= 1
            if !recoverIfAllStall(&rooms.links, into: &effects) {
                close(reason: .remoteUserTerminatedConnection, &rooms.pairings.attempts, into: &effects)
            }
        }
        switch state {
        case .settingUp(let limit) where limit <= effects.now: open(into: &effects)
        case .closing(let limit) where limit <= effects.now: return !closesAgain(into: &effects)
        case .settingUp, .open, .closing: break
        }
        return false
    }

    /// The controller may send nothing on any link any more: new links would stall, too (zephyr#14899, esp-idf#14648).
    ///
    /// Where long data are lost and short ones are not, the other links prove nothing. A peer that still sends proves that
    /// the controller works: two odd ones must not end its link.
    /// - Returns: whether it is recovered, and this link ends with all others.
    @inline(never)
    private func recoverIfAllStall(_ links: inout LinkTable, into effects: inout Effects) -> Bool {
        let others = links.all.filter { $0 !== self && !$0.isClosing }
        let areAllSilent = effects.data.stalled(besides: others, at: effects.now)
        let isReceiving = others.contains { $0.lastReception.advanced(by: ACLScheduler.silence) > effects.now }
        guard !isReceiving, areAllSilent || effects.expects(.losesLongData) else { return false }
        return effects.requestLimitedRecovery(from: .stalledLinks)
    }
}
