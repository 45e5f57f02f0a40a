import BLEPackets

/// Measurements of a link: transmit power, path loss, and packets that prove the peer's key.
extension Link {
    /// Begins a procedure of this room.
    func beginMeasuring(_ procedure: LinkProcedure, of client: ClientID?, into effects: inout Effects) {
        let handle = id.handle
        let purpose = CommandPurpose.link(id, .procedure)
        switch procedure {
        case .readTransmitPower(let phy):
            effects.commands.append(
                LEEnhancedReadTransmitPowerLevel(connectionHandle: handle, phy: phy.rawValue), purpose: purpose,
                of: client)
        case .readRemoteTransmitPower(let phy):
            effects.commands.append(
                LEReadRemoteTransmitPowerLevel(connectionHandle: handle, phy: phy.rawValue), purpose: purpose,
                of: client)
        case .reportTransmitPower(let local, let remote):
            effects.commands.append(
                LESetTransmitPowerReportingEnable(
                    connectionHandle: handle, reportsLocal: local, reportsRemote: remote), purpose: purpose, of: client)
        case .monitorPathLoss(let zones?):
            // The second command follows when the controller has accepted the zones.
            effects.commands.append(
                LESetPathLossReportingParameters(
                    connectionHandle: handle, highThreshold: zones.high ?? 0xFF, highHysteresis: zones.highHysteresis,
                    lowThreshold: zones.low, lowHysteresis: zones.lowHysteresis,
                    minimumTimeSpent: zones.minimumEvents), purpose: purpose, of: client)
        case .monitorPathLoss(nil): switchPathLossReports(on: false, into: &effects)
        case .setAuthenticatedPayloadTimeout(let timeout):
            // The one reports no change of encryption any more after this (BTstack's hci.c), the other is harmed by it
            // (Linux btusb.c).
            guard !effects.expects([.eventMaskPageTwoMutesEncryption, .cannotWriteAuthenticatedPayloadTimeout]) else {
                let opcode = WriteAuthenticatedPayloadTimeout.opcode
                let failure = HostFailure.controller(.unsupportedFeatureOrParameterValue, opcode)
                return finish(opcode, with: .failure(failure), into: &effects)
            }
            // The only event of this page that the engine knows.
            effects.commands.append(
                SetEventMaskPage2(mask: .authenticatedPayloadTimeoutExpired), purpose: .unattendedOnLink(handle))
            effects.commands.append(
                WriteAuthenticatedPayloadTimeout(
                    connectionHandle: handle, timeout: UInt16(clamping: timeout.rawValue / 10_000)), purpose: purpose,
                of: client)
        // Of the other rooms.
        default: break
        }
    }

    private func switchPathLossReports(on isEnabled: Bool, into effects: inout Effects) {
        effects.commands.append(
            LESetPathLossReportingEnable(connectionHandle: id.handle, isEnabled: isEnabled),
            purpose: .link(id, .procedure))
    }

    /// The controller carried out a command of this room.
    func measuringSucceeded(
        _ opcode: HCIOpcode, _ parameters: RawSpan, into effects: inout Effects
    ) throws(DecodingError) {
        switch opcode {
        case LEEnhancedReadTransmitPowerLevel.opcode:
            var reader = PacketReader(parameters)
            let answer = try LEEnhancedReadTransmitPowerLevel.ReturnParameters(decoding: &reader)
            let level = TransmitPower.known(answer.current)
            let maximum = TransmitPower.known(answer.maximum)
            let power = TransmitPower(
                phy: PowerPHY(rawValue: answer.phy), level: level, maximum: maximum, isLeast: false,
                isGreatest: level != nil && level == maximum)
            finish(opcode, with: .success(.transmitPower(power)), into: &effects)
        case LESetPathLossReportingParameters.opcode: switchPathLossReports(on: true, into: &effects)
        case LESetTransmitPowerReportingEnable.opcode, LESetPathLossReportingEnable.opcode,
            WriteAuthenticatedPayloadTimeout.opcode:
            finish(opcode, with: .success(.done), into: &effects)
        // Command Status: the event that ends the procedure is yet to come.
        default: return
        }
    }

    // MARK: Events

    func receive(_ event: LETransmitPowerReporting, into effects: inout Effects) {
        let power = TransmitPower(
            phy: PowerPHY(rawValue: event.phy), level: TransmitPower.known(event.transmitPower), maximum: nil,
            isLeast: event.limits & 0x01 != 0, isGreatest: event.limits & 0x02 != 0)
        switch event.reason {
        case 2:
            let opcode = LEReadRemoteTransmitPowerLevel.opcode
            let isRead = event.status.isSuccess
            finish(
                opcode, with: isRead ? .success(.transmitPower(power)) : .failure(.controller(event.status, opcode)),
                into: &effects)
        case 0, 1:
            guard event.status.isSuccess else { return }
            effects.events.append(.linkReport(id, .transmitPower(power, isPeers: event.reason == 1)))
        default: break
        }
    }

    func receive(_ event: LEPathLossThreshold, into effects: inout Effects) {
        guard let zone = PathLoss.Zone(rawValue: event.zoneEntered) else { return }
        let decibels = event.currentPathLoss == 0xFF ? nil : event.currentPathLoss
        effects.events.append(.linkReport(id, .pathLoss(PathLoss(zone: zone, decibels: decibels))))
    }
}

extension TransmitPower {
    /// 126 and 127 stand for powers that are not managed or not known.
    fileprivate static func known(_ level: Int8) -> Int8? { level < 126 ? level : nil }
}
