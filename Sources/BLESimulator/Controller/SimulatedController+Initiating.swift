import BLEPackets

/// A pending request to connect.
struct InitiatingState {
    /// The scan window of one primary PHY, and the parameters of a link made there.
    struct Receiver {
        var phy: PHY
        var interval: ScanInterval
        var window: ScanInterval
        var connection: LEConnectionParameters
    }

    var isExtended: Bool
    var usesAcceptList: Bool
    var peer: DeviceAddress
    var ownAddressType: OwnAddressType
    var receivers: [Receiver]
    var beginning: Int64
}

/// Initiating (Core 5.4, Vol 4, Part E, 7.8.12, 7.8.13 and 7.8.66; Vol 6, Part B, 4.4.4).
extension SimulatedController {
    func leCreateConnection(_ command: LECreateConnection) -> HCIStatus {
        guard command.filterPolicy.rawValue <= 1, command.scanInterval.rawValue <= 0x4000 else {
            return .invalidCommandParameters
        }
        return initiate(
            InitiatingState(
                isExtended: false, usesAcceptList: command.filterPolicy == .acceptList,
                peer: command.peerAddress.withoutIdentityMark, ownAddressType: command.ownAddressType,
                receivers: [
                    .init(
                        phy: .le1M, interval: command.scanInterval, window: command.scanWindow,
                        connection: command.parameters)
                ],
                beginning: air.nowMicroseconds))
    }

    func leExtendedCreateConnection(_ command: LEExtendedCreateConnection) -> HCIStatus {
        guard command.filterPolicy.rawValue <= 1, !command.initiatingPHYs.isEmpty else {
            return .invalidCommandParameters
        }
        guard command.initiatingPHYs.isSubset(of: supportedPHYs) else { return .unsupportedFeatureOrParameterValue }
        var receivers: [InitiatingState.Receiver] = []
        let phys: [(PHYSet, PHY)] = [(.le1M, .le1M), (.le2M, .le2M), (.leCoded, .leCoded)]
        for (phy, parameters) in zip(phys.filter { command.initiatingPHYs.contains($0.0) }, command.parameters) {
            receivers.append(
                .init(
                    phy: phy.1, interval: parameters.scanInterval, window: parameters.scanWindow,
                    connection: parameters.connection))
        }
        // LE 2M is not a primary PHY.
        guard receivers.contains(where: { $0.phy != .le2M }) else { return .invalidCommandParameters }
        return initiate(
            InitiatingState(
                isExtended: true, usesAcceptList: command.filterPolicy == .acceptList,
                peer: command.peerAddress.withoutIdentityMark, ownAddressType: command.ownAddressType,
                receivers: receivers, beginning: air.nowMicroseconds))
    }

    private func initiate(_ state: InitiatingState) -> HCIStatus {
        guard settings.initiating == nil else { return faults.secondInitiationStatus ?? .commandDisallowed }
        guard mayUseRadio else { return .commandDisallowed }
        if settings.scan.isEnabled, let status = faults.initiatingWhileScanningStatus { return status }
        for receiver in state.receivers {
            guard receiver.phy == .le2M || Self.isValid(receiver), Self.isValid(receiver.connection) else {
                return .invalidCommandParameters
            }
        }
        guard ownAddress(state.ownAddressType, towards: state.peer) != nil else { return .invalidCommandParameters }
        guard canBegin(.initiating) else { return .commandDisallowed }
        guard ends.count < configuration.maximumLinks else { return .connectionLimitExceeded }
        if !state.usesAcceptList, ends.contains(where: { $0.peer.withoutIdentityMark == state.peer }) {
            return .connectionAlreadyExists
        }
        settings.initiating = state
        air.listeningBegan()
        return .success
    }

    private static func isValid(_ receiver: InitiatingState.Receiver) -> Bool {
        receiver.interval.rawValue >= 4 && 4...receiver.interval.rawValue ~= receiver.window.rawValue
    }

    /// Whether link parameters are in their ranges (Core 5.4, Vol 4, Part E, 7.8.12).
    static func isValid(_ parameters: LEConnectionParameters) -> Bool {
        let interval = parameters.maximumInterval
        guard ConnectionInterval.least <= parameters.minimumInterval, parameters.minimumInterval <= interval,
            interval <= .greatest, parameters.latency <= 499, 10...3200 ~= parameters.supervisionTimeout.rawValue,
            parameters.minimumEventLength <= parameters.maximumEventLength
        else { return false }
        return parameters.supervisionTimeout.microseconds > (1 + Int(parameters.latency)) * interval.microseconds * 2
    }

    func cancelConnection() -> HCIStatus {
        guard let state = settings.initiating else { return .commandDisallowed }
        settings.initiating = nil
        sendConnectionComplete(
            failure: .unknownConnectionIdentifier, side: .central,
            peer: state.usesAcceptList ? DeviceAddress(value: 0, kind: .public) : state.peer)
        return .success
    }

    /// Whether the host wants to connect to this advertiser now, and with which parameters.
    func wishToConnect(to advertisement: AirAdvertisement) -> Initiation? {
        guard let state = settings.initiating, isOpen, !faults.initiatesNever, let address = advertisement.address,
            let known = recognize(address).reported?.withoutIdentityMark,
            advertisement.isLegacy || state.isExtended, ends.count < configuration.maximumLinks,
            !ends.contains(where: { $0.peer.withoutIdentityMark == known }),
            let ownAddress = ownAddress(state.ownAddressType, towards: known)
        else { return nil }
        if let target = advertisement.target, !isTarget(target, ownAddress: ownAddress) { return nil }
        guard state.usesAcceptList ? isAccepted(known) : state.peer == known,
            let receiver = state.receivers.first(where: { $0.phy == advertisement.primaryPHY })
        else { return nil }
        let time = (air.nowMicroseconds - state.beginning) % Int64(max(1, receiver.interval.microseconds))
        guard time < Int64(receiver.window.microseconds) else { return nil }
        let secondary = advertisement.secondaryPHY ?? advertisement.primaryPHY
        let connection = state.receivers.first { $0.phy == secondary }?.connection ?? receiver.connection
        var initiation = Initiation(ownAddress: ownAddress, parameters: connection)
        if faults.failingConnections > 0 {
            faults.failingConnections -= 1
            guard faults.connectionFailure == .disconnection else {
                settings.initiating = nil
                sendConnectionComplete(failure: .connectionFailedToBeEstablished, side: .central, peer: address)
                return nil
            }
            initiation.isUnheard = true
        }
        return initiation
    }
}
