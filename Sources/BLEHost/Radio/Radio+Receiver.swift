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
            commandSet.setScanParameters(
                .init(parameters: parameters, ownAddressType: ownAddressType), &effects.commands)
        case .setEnabled(let isEnabled): commandSet.setScanEnabled(isEnabled, &effects.commands)
        case .fail(let status):
            for operation in scanner.removeAll() {
                effects.complete(operation, .failure(.controller(status, commandSet.scanOpcode)))
            }
            endSearches(status, into: &effects)
        }
    }

    /// The controller answered a command about scanning.
    mutating func scanAnswered(_ status: HCIStatus, into effects: inout Effects) {
        effects.countRefusal(status)
        perform(scanMachine.completed(status, at: effects.now), into: &effects)
    }

    /// The controller stopped scanning by itself.
    mutating func scanTimedOut(into effects: inout Effects) {
        perform(scanMachine.stopped(at: effects.now), into: &effects)
    }

    /// A report came; its sender may still have to be resolved from a private address.
    @inline(__always)
    mutating func sighted(_ report: inout Scanner.Report, into effects: inout Effects) {
        effects.counters.advertisingReports &+= 1
        lastReport = effects.now
        report.listRevision = resolvingList.revision
        if let address = report.address { recordNaming(of: address) }
        report.addressOnAir = report.address
    }

    /// A report whose sender is known.
    mutating func received(
        _ report: Scanner.Report, data: RawSpan, resolving: [ResolvingKey], into effects: inout Effects
    ) {
        if Features.links, report.isConnectable, !connector.isEmpty, let address = report.address,
            connector.waits(for: address),
            doesOneAtATime || usesPrivateAddresses(address, resolving)
        {
            connector.sighted(address, onAir: report.addressOnAir ?? address, at: effects.now)
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
        case .create(let plan): createConnection(plan, into: &effects)
        case .cancel: effects.commands.append(LECreateConnectionCancel(), purpose: .initiate)
        case .fail(let plan, let status): connectionRefused(plan, status, into: &effects)
        case .forgoAcceptList(let plan, let status): acceptListRefused(plan, status)
        }
    }

    /// The controller answered a command about connecting.
    mutating func initiateAnswered(_ status: HCIStatus, into effects: inout Effects) {
        guard Features.links else { return }
        effects.countRefusal(status)
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
        commandSet.createConnection(
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

    /// The controller refused to look for a peer.
    private mutating func connectionRefused(_ plan: Initiator.Plan, _ status: HCIStatus, into effects: inout Effects) {
        if status == .commandDisallowed, !scanMachine.isIdle, !mustNotInitiateWhileScanning {
            mustNotInitiateWhileScanning = true
            return
        }
        if status == .connectionAlreadyExists, configuration.ownership == .exclusive {
            // A link that is about to end is still in the way.
            return connector.pause(at: effects.now)
        }
        let peers: [DeviceAddress]
        switch plan {
        case .directed(let peer, _): peers = [peer]
        case .acceptList(let addresses, _): peers = addresses
        }
        for peer in peers {
            for pending in connector.removePending(peer) {
                effects.complete(pending.operation, .failure(.controller(status, commandSet.connectionOpcode)))
            }
        }
    }
}
