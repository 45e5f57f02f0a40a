import BLEPackets

/// Power control and path loss (Core 5.4, Vol 4, Part E, 7.8.117 to 7.8.121).
extension SimulatedController {
    static let leastPower: Int8 = -20
    static let greatestPower: Int8 = 10

    /// When the host gets a report of the path loss of a link.
    struct PathLossMonitor {
        var parameters: LESetPathLossReportingParameters?
        var isEnabled = false
        /// 0 low, 1 middle, 2 high; `nil` until the first report.
        var zone: UInt8?
        /// Increases with each change, so that an earlier plan becomes invalid.
        var number: UInt32 = 0
    }

    private var hasPowerControl: Bool { configuration.features.contains(.powerControlRequest) }

    var transmitPower: Int8? { hasPowerControl ? sendingPower : nil }

    // MARK: Commands

    func leEnhancedReadTransmitPowerLevel(
        _ command: LEEnhancedReadTransmitPowerLevel
    ) -> LEEnhancedReadTransmitPowerLevel.ReturnParameters {
        guard 1...4 ~= command.phy else {
            return .init(status: .invalidCommandParameters, connectionHandle: command.connectionHandle)
        }
        return .init(
            status: known(command.connectionHandle), connectionHandle: command.connectionHandle, phy: command.phy,
            current: sendingPower, maximum: Self.greatestPower)
    }

    func leReadRemoteTransmitPowerLevel(_ command: LEReadRemoteTransmitPowerLevel) -> HCIStatus {
        guard 1...4 ~= command.phy else { return .invalidCommandParameters }
        return begin(on: command.connectionHandle) { .power(phy: command.phy, by: $0) }
    }

    func leSetTransmitPowerReportingEnable(
        _ command: LESetTransmitPowerReportingEnable
    ) -> LESetTransmitPowerReportingEnable.ReturnParameters {
        if let position = position(of: command.connectionHandle) {
            ends[position].reportsOwnPower = command.reportsLocal
            ends[position].reportsPeersPower = command.reportsRemote
        }
        return .init(status: known(command.connectionHandle), connectionHandle: command.connectionHandle)
    }

    func leSetPathLossReportingParameters(
        _ command: LESetPathLossReportingParameters
    ) -> LESetPathLossReportingParameters.ReturnParameters {
        guard let position = position(of: command.connectionHandle) else {
            return .init(status: .unknownConnectionIdentifier, connectionHandle: command.connectionHandle)
        }
        let (low, high) = (Int(command.lowThreshold), Int(command.highThreshold))
        let (lowHysteresis, highHysteresis) = (Int(command.lowHysteresis), Int(command.highHysteresis))
        let isOrdered = high == 0xFF || low + lowHysteresis <= high - highHysteresis && high + highHysteresis <= 0xFF
        guard isOrdered, low - lowHysteresis >= 0 else {
            return .init(status: .invalidCommandParameters, connectionHandle: command.connectionHandle)
        }
        ends[position].pathLoss.parameters = command
        return .init(connectionHandle: command.connectionHandle)
    }

    func leSetPathLossReportingEnable(
        _ command: LESetPathLossReportingEnable
    ) -> LESetPathLossReportingEnable.ReturnParameters {
        guard let position = position(of: command.connectionHandle) else {
            return .init(status: .unknownConnectionIdentifier, connectionHandle: command.connectionHandle)
        }
        guard ends[position].pathLoss.parameters != nil else {
            return .init(status: .commandDisallowed, connectionHandle: command.connectionHandle)
        }
        ends[position].pathLoss.isEnabled = command.isEnabled
        ends[position].pathLoss.zone = nil
        ends[position].pathLoss.number &+= 1
        signalChanged(on: ends[position].link)
        return .init(connectionHandle: command.connectionHandle)
    }

    // MARK: Power

    func powerRead(_ power: Int8?, phy: UInt8, on link: AirLink) {
        guard let position = position(of: link) else { return }
        guard let power else {
            return report(on: ends[position].handle, reason: 2, phy: phy, power: 127, status: .unsupportedRemoteFeature)
        }
        report(on: ends[position].handle, reason: 2, phy: phy, power: power)
    }

    func peerPowerChanged(to power: Int8, on link: AirLink) {
        guard let position = position(of: link), ends[position].reportsPeersPower else { return }
        report(
            on: ends[position].handle, reason: 1, phy: link.transmitPHY(ends[position].side.other).rawValue,
            power: power)
    }

    /// The power of this controller has changed.
    func reportOwnPower() {
        for end in ends where end.reportsOwnPower {
            report(on: end.handle, reason: 0, phy: end.link.transmitPHY(end.side).rawValue, power: sendingPower)
        }
    }

    private func report(
        on handle: ConnectionHandle, reason: UInt8, phy: UInt8, power: Int8, status: HCIStatus = .success
    ) {
        var limits: UInt8 = 0
        if power == Self.leastPower { limits |= 1 }
        if power == Self.greatestPower { limits |= 2 }
        send(
            le: LETransmitPowerReporting(
                status: status, connectionHandle: handle, reason: reason, phy: phy, transmitPower: power,
                limits: limits, delta: 0))
    }

    // MARK: Path loss

    func signalChanged(on link: AirLink) {
        guard let position = position(of: link), ends[position].pathLoss.isEnabled,
            let parameters = ends[position].pathLoss.parameters
        else { return }
        ends[position].pathLoss.number &+= 1
        guard let (_, zone) = pathLoss(of: ends[position], parameters), zone != ends[position].pathLoss.zone else {
            return
        }
        let number = ends[position].pathLoss.number
        let wait = Int64(parameters.minimumTimeSpent) * link.interval
        let cycle = powerCycle
        air.after(wait) { [unowned self] in
            guard cycle == powerCycle, let position = self.position(of: link),
                ends[position].pathLoss.number == number, ends[position].pathLoss.isEnabled,
                let (loss, zone) = pathLoss(of: ends[position], parameters)
            else { return }
            ends[position].pathLoss.zone = zone
            send(
                le: LEPathLossThreshold(
                    connectionHandle: ends[position].handle, currentPathLoss: loss, zoneEntered: zone))
        }
    }

    /// The path loss in dB, and its zone; `nil` if the peer does not state its power.
    private func pathLoss(
        of end: LinkEnd, _ parameters: LESetPathLossReportingParameters
    ) -> (loss: UInt8, zone: UInt8)? {
        guard let peer = peer(of: end), let power = peer.transmitPower else { return nil }
        let loss = max(0, min(0xFE, Int(power) - Int(air.measuredSignal(of: peer, at: self))))
        let (low, high) = (Int(parameters.lowThreshold), Int(parameters.highThreshold))
        let (lowHysteresis, highHysteresis) = (Int(parameters.lowHysteresis), Int(parameters.highHysteresis))
        let isHigh: Bool
        let isLow: Bool
        switch end.pathLoss.zone {
        case 2:
            (isHigh, isLow) = (high != 0xFF && loss >= high - highHysteresis, loss < low - lowHysteresis)
        case 0:
            (isHigh, isLow) = (high != 0xFF && loss > high + highHysteresis, loss <= low + lowHysteresis)
        default:
            (isHigh, isLow) = (high != 0xFF && loss > high + highHysteresis, loss < low - lowHysteresis)
        }
        return (UInt8(loss), isHigh ? 2 : isLow ? 0 : 1)
    }
}
