import BLEPackets

/// Scanning and initiating: the two uses of the receiver.
extension Radio {
    // MARK: Scanning

    @inline(never)
    mutating func perform(_ action: ScanMachine.Action, into effects: inout Effects) {
        switch action {
        case .none: break
        case .clearAcceptList: effects.commands.append(LEClearFilterAcceptList(), purpose: .scan)
        case .addToAcceptList(let device):
            effects.commands.append(LEAddDeviceToFilterAcceptList(address: device), purpose: .scan)
        case .setParameters(let parameters):
            scanCommands.setScanParameters(
                .init(parameters: parameters, ownAddressType: scanAddressType), &effects.commands)
        case .setEnabled(let isEnabled): scanCommands.setScanEnabled(isEnabled, &effects.commands)
        case .fail(let status):
            for operation in scanner.removeAll() {
                effects.complete(operation, .failure(.controller(status, refusedOpcode)))
            }
            endSearches(status, into: &effects)
        }
    }

    /// The controller answered a command about scanning.
    /// - Parameter hasLinks: whether a link is open.
    mutating func scanAnswered(
        _ status: HCIStatus, _ opcode: HCIOpcode, hasLinks: Bool, into effects: inout Effects
    ) {
        effects.countRefusal(status)
        if changesFamily(status, opcode, into: &effects) || !status.isSuccess && changesScan(after: status, &effects) {
            return perform(scanMachine.beginAgain(at: effects.now), into: &effects)
        }
        perform(scanMachine.completed(status, hasLinks: hasLinks, at: effects.now), into: &effects)
        if status == .commandDisallowed, hasLinks, scanMachine.pausedUntil != nil, !effects.wantsRestart {
            effects.learn(.refusesScanWithLinks)
        }
    }

    /// Does without what the controller may have refused.
    /// - Returns: whether something is left to try.
    private mutating func changesScan(after status: HCIStatus, _ effects: inout Effects) -> Bool {
        guard configuration.adaptsToController else { return false }
        switch status {
        case .unsupportedFeatureOrParameterValue, .invalidCommandParameters:
            if canScanOnCodedPHY, scanMachine.scansCodedPHY, effects.learn(.cannotScanOnCodedPHY) {
                canScanOnCodedPHY = false
                return true
            }
            // Some controllers lose the random address, or never had one (checkbox#2260).
            guard status == .invalidCommandParameters, ownAddressType == .random, scanAddress != .public else {
                return false
            }
            if scanAddress == .asChosen, let ownAddress {
                scanAddress = .setAgain
                effects.commands.append(LESetRandomAddress(address: ownAddress), purpose: .unattended)
            } else {
                scanAddress = .public
            }
            return true
        default: return false
        }
    }

    private var scanAddressType: OwnAddressType { scanAddress == .public ? .public : ownAddressType }

    /// No link is open any more.
    mutating func linksEnded(into effects: inout Effects) {
        perform(scanMachine.resume(at: effects.now), into: &effects)
    }

    /// The controller stopped scanning by itself.
    mutating func scanTimedOut(into effects: inout Effects) {
        perform(scanMachine.stopped(at: effects.now), into: &effects)
    }

    /// A report came; its sender may still have to be resolved from a private address.
    @inline(__always)
    mutating func sighted(_ report: inout Scanner.Report, data: RawSpan, into effects: inout Effects) {
        effects.counters.advertisingReports &+= 1
        reception.received(isAdvertisement: report.canHaveData, isEmpty: data.byteCount == 0, at: effects.now)
        if reception.isFlooded || report.address == reportedAddress && reportedAddress != nil {
            judge(report, data: data, into: &effects)
        }
        report.listRevision = resolvingList.revision
        if let address = report.address { recordNaming(of: address) }
        report.addressOnAir = report.address
    }

    /// A report whose sender is known.
    mutating func received(
        _ report: Scanner.Report, data: RawSpan, resolving: [ResolvingKey], into effects: inout Effects
    ) {
        if Features.links, report.isConnectable, !connector.isEmpty, let address = report.address,
            connector.waits(for: address)
        {
            if doesOneAtATime || usesPrivateAddresses(address, resolving) {
                connector.sighted(address, onAir: report.addressOnAir ?? address, at: effects.now)
            }
            watchSighting(address, into: &effects)
        }
        // Directed advertising to an address that the controller cannot resolve may be for us, but is a discovery only
        // for clients that ask for it.
        if report.unresolvedTarget == nil || scanner.wantsUnresolvedTargets {
            scanner.receive(report, data: data, at: effects.now, into: &effects.events)
        }
        effects.counters.forgottenDevices = scanner.forgottenDevices
        effects.counters.droppedDiscoveries = effects.events.droppedDiscoveries
    }

    // MARK: Initiating

    @inline(never)
    mutating func perform(_ action: Initiator.Action, into effects: inout Effects) {
        switch action {
        case .none: break
        case .clearAcceptList: effects.commands.append(LEClearFilterAcceptList(), purpose: .initiate)
        case .addToAcceptList(let peer):
            effects.commands.append(LEAddDeviceToFilterAcceptList(address: peer), purpose: .initiate)
        case .create(let plan):
            watchAttempt(plan, at: effects.now)
            createConnection(plan, into: &effects)
        case .cancel: effects.commands.append(LECreateConnectionCancel(), purpose: .initiate)
        case .fail(let plan, let status): connectionRefused(plan, status, into: &effects)
        case .forgoAcceptList(let plan, let status): acceptListRefused(plan, status)
        }
    }

    /// The controller answered a command about connecting.
    mutating func initiateAnswered(
        _ status: HCIStatus, _ opcode: HCIOpcode, hasLinks: Bool, into effects: inout Effects
    ) {
        guard Features.links else { return }
        effects.countRefusal(status)
        if changesFamily(status, opcode, into: &effects) { return initiator.beginAgain() }
        if status.isSuccess, CommandFamily(opcode) != nil { connectionRefusals = 0 }
        hasOtherLinks = hasLinks
        perform(initiator.completed(status, at: effects.now), into: &effects)
    }

    /// Connection Complete came for the central role.
    mutating func attemptEnded(_ status: HCIStatus, into effects: inout Effects) {
        guard Features.links else { return }
        perform(initiator.connectionComplete(status), into: &effects)
    }

    /// The controller could not connect.
    /// - Parameter target: the peers that it tried to connect to.
    mutating func connectionFailed(_ status: HCIStatus, target: Initiator.Plan?, into effects: inout Effects) {
        // 0x02 is the answer to our own cancellation (Core 5.4, Vol 4, Part E, 7.8.13).
        guard status != .unknownConnectionIdentifier else { return }
        guard case .directed(let peer, _)? = target else { return connector.pause(at: effects.now) }
        retry(connector.removePending(peer), after: status, into: &effects)
    }

    /// Retries a link that could not be established (0x3E); another reason or too many tries end the operations.
    mutating func retry(_ operations: [Connector.Pending], after status: HCIStatus, into effects: inout Effects) {
        var again: [Connector.Pending] = []
        for var pending in operations {
            if status == .connectionFailedToBeEstablished, pending.retriesLeft > 0 {
                pending.retriesLeft -= 1
                effects.counters.connectionRetries &+= 1
                again.append(pending)
            } else {
                effects.complete(pending.operation, .failure(.connectionFailed(status)))
            }
        }
        connector.putBack(again)
    }

    private func createConnection(_ plan: Initiator.Plan, into effects: inout Effects) {
        var peer: DeviceAddress
        let offer: Initiator.Offer
        let usesAcceptList: Bool
        switch plan {
        case .directed(let address, let wished):
            (peer, offer, usesAcceptList) = (address, wished, false)
            if resolvingList.finds(address) { peer = address.asIdentity }
        case .acceptList(let addresses, let wished):
            // With the filter accept list, the peer address has no meaning; a controller that reads it nevertheless
            // gets a wanted one.
            peer = addresses.first ?? DeviceAddress(value: 0, kind: .public)
            (offer, usesAcceptList) = (wished, true)
        }
        connectionCommands.createConnection(
            .init(
                peer: peer, filterPolicy: usesAcceptList ? .acceptList : .peerAddress,
                ownAddressType: ownAddressType, duty: configuration.timing.foregroundScan,
                parameters: offer.parameters, phys: offer.phys.intersection(availablePHYs)),
            &effects.commands)
    }

    /// The controller refuses the accept list, perhaps because another stack uses it: the peers take turns in a shorter
    /// list or without one. This is no fault of the peers, so no operation ends (SPEC CEN-9).
    private mutating func acceptListRefused(_ plan: Initiator.Plan, _ status: HCIStatus) {
        acceptListLimit = 1
        if status == .memoryCapacityExceeded, case .acceptList(let peers, _) = plan {
            acceptListLimit = max(1, peers.count - 1)
        }
    }

    /// Whether the reason of a refusal may be over in a while: other links fill the controller until one of them ends;
    /// anything else gets some more chances.
    private mutating func mayPass(_ status: HCIStatus) -> Bool {
        switch status {
        case .unknownCommand, .unsupportedFeatureOrParameterValue, .invalidCommandParameters: return false
        case .connectionLimitExceeded, .rejectedLimitedResources, .memoryCapacityExceeded:
            if hasOtherLinks { return true }
        default: break
        }
        connectionRefusals += 1
        guard connectionRefusals <= Self.connectionAttempts else {
            connectionRefusals = 0
            return false
        }
        return true
    }

    /// How often a refusal that may pass is waited for.
    private static let connectionAttempts = 5

    /// The controller refused to look for a peer.
    private mutating func connectionRefused(_ plan: Initiator.Plan, _ status: HCIStatus, into effects: inout Effects) {
        let adapts = configuration.adaptsToController
        if status == .commandDisallowed || adapts, !scanMachine.isIdle, !mustNotInitiateWhileScanning {
            // Whatever the reason is, it is "busy" once (noble#632, bluetooth-next#643).
            mustNotInitiateWhileScanning = true
            if adapts, status == .commandDisallowed { effects.learn(.refusesInitiatingWhileScanning) }
            return
        }
        if status == .connectionAlreadyExists, configuration.ownership == .exclusive {
            // A link that is about to end is still in the way.
            return connector.pause(at: effects.now)
        }
        if adapts, configuration.ownership == .exclusive, mayPass(status) { return connector.pause(at: effects.now) }
        let peers: [DeviceAddress]
        switch plan {
        case .directed(let peer, _): peers = [peer]
        case .acceptList(let addresses, _): peers = addresses
        }
        for peer in peers {
            for pending in connector.removePending(peer) {
                effects.complete(pending.operation, .failure(.controller(status, refusedOpcode)))
            }
        }
    }
}
