import BLEPackets

/// The beginning of a link and its timers; `Link+Holders` handles its clients, `Link+Sending` its end.
extension Link {
    /// How long the peer may take to exchange ATT_MTU before the clients get the link with 23.
    static let setupTimeout: Microseconds = .seconds(5)

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
            close(reason: .remoteUserTerminatedConnection, &rooms.pairings.attempts, into: &effects)
        }
        switch state {
        case .settingUp(let limit) where limit <= effects.now: open(into: &effects)
        case .closing(let limit) where limit <= effects.now: return true
        case .settingUp, .open, .closing: break
        }
        return false
    }
}
