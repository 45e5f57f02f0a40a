import BLEPackets

/// Scanning and initiating: the two uses of the receiver, arbitrated for all clients.
extension Host {
    /// The address that scanning and initiating show. Where the controller makes private ones for bonded peers, everybody
    /// else sees the host's.
    var ownAddressType: OwnAddressType { resolvingList.makesAddresses ? .resolvableOrRandom : hostAddressType }

    mutating func convergeScanningAndInitiating(at now: Instant) {
        guard !isRadioPaused else {
            perform(scanMachine.want(nil), at: now)
            return perform(initiator.want(nil), at: now)
        }
        let resolving = peersFoundByHost
        var wantsScan = scanner.parameters(timing: configuration.timing)
        if wantsScan == nil, connector.needsScan(for: resolving) {
            wantsScan = ScanParameters(isActive: false, duty: configuration.timing.foregroundScan)
        }
        let oneAtATime = mustNotInitiateWhileScanning || !information.canInitiateWhileScanning
        let plan = connector.plan(
            timing: configuration.timing, policy: configuration.pendingConnections,
            acceptListSize: min(Int(information.filterAcceptListSize), acceptListLimit),
            onSight: oneAtATime && wantsScan != nil,
            resolving: configuration.ownership == .exclusive ? resolving : [], at: now)
        // Where only one is possible, scanning makes room for an attempt, and an attempt waits until scanning is off.
        let isInitiatorNeeded = plan != nil || initiator.isBusy
        perform(scanMachine.want(oneAtATime && isInitiatorNeeded ? nil : wantsScan), at: now)
        let mayInitiate = !oneAtATime || scanMachine.isIdle
        perform(initiator.want(mayInitiate ? plan : nil), at: now)
    }

    // MARK: Scanning

    func scanDeadlineIsDue(at now: Instant) -> Bool {
        guard let deadline = scanMachine.nextDeadline else { return false }
        return deadline <= now
    }

    mutating func scanDeadlineAction(at now: Instant) -> ScanMachine.Action? {
        guard scanDeadlineIsDue(at: now) else { return nil }
        counters.scanRestarts &+= 1
        return scanMachine.advance(to: now)
    }

    mutating func perform(_ action: ScanMachine.Action, at now: Instant) {
        switch action {
        case .none: break
        case .setParameters(let parameters):
            if information.usesExtendedCommands {
                commands.append(
                    LESetExtendedScanParameters(
                        ownAddressType: ownAddressType,
                        le1M: .init(
                            type: parameters.isActive ? .active : .passive, interval: parameters.duty.interval,
                            window: parameters.duty.window)),
                    purpose: .scan)
            } else {
                commands.append(
                    LESetScanParameters(
                        type: parameters.isActive ? .active : .passive, interval: parameters.duty.interval,
                        window: parameters.duty.window, ownAddressType: ownAddressType),
                    purpose: .scan)
            }
        case .setEnabled(let isEnabled):
            if information.usesExtendedCommands {
                commands.append(LESetExtendedScanEnable(isEnabled: isEnabled), purpose: .scan)
            } else {
                commands.append(LESetScanEnable(isEnabled: isEnabled), purpose: .scan)
            }
        case .fail(let status):
            let opcode =
                information.usesExtendedCommands ? LESetExtendedScanEnable.opcode : LESetScanEnable.opcode
            for operation in scanner.removeAll() {
                complete(operation, .failure(.controller(status, opcode)))
            }
        }
    }

    mutating func scanAnswered(_ status: HCIStatus, at now: Instant) {
        if status == .commandDisallowed { counters.desynchronisations &+= 1 }
        perform(scanMachine.completed(status, at: now), at: now)
        // An attempt may have been waiting for the receiver.
        if !connector.isEmpty || !scanMachine.isIdle { needsConvergence = true }
    }

    /// A report from the controller.
    mutating func heard(_ report: Scanner.Report, data: RawSpan, at now: Instant) {
        counters.advertisingReports &+= 1
        scanMachine.heard(at: now)
        var report = report
        report.listRevision = resolvingList.revision
        if let address = report.address { noteNaming(of: address) }
        report.addressOnAir = report.address
        guard nameIdentity(in: &report, data: data) else { return }
        received(report, data: data, at: now)
    }

    /// A report of which is known who sent it.
    mutating func received(_ report: Scanner.Report, data: RawSpan, at now: Instant) {
        if report.isConnectable, !connector.isEmpty, let address = report.address, connector.waits(for: address),
            mustNotInitiateWhileScanning || !information.canInitiateWhileScanning || usesPrivateAddresses(address)
        {
            connector.heard(address, onAir: report.addressOnAir ?? address, at: now)
            needsConvergence = true
        }
        // What calls somebody whom the controller does not know may call us, but is nobody's discovery.
        if !report.callsUnknown { scanner.receive(report, data: data, at: now, into: &events) }
        counters.forgottenDevices = scanner.forgottenDevices
        counters.droppedDiscoveries = events.droppedDiscoveries
    }

    // MARK: Initiating

    mutating func perform(_ action: Initiator.Action, at now: Instant) {
        switch action {
        case .none: break
        case .clearAcceptList:
            commands.append(LEClearFilterAcceptList(), purpose: .initiate)
        case .addToAcceptList(let peer):
            commands.append(LEAddDeviceToFilterAcceptList(address: peer), purpose: .initiate)
        case .create(let plan):
            createConnection(plan)
        case .cancel:
            commands.append(LECreateConnectionCancel(), purpose: .initiate)
        case .fail(let plan, let status):
            connectionRefused(plan, status, at: now)
        case .forgoAcceptList(let plan, let status):
            acceptListRefused(plan, status)
        }
    }

    mutating func initiateAnswered(_ status: HCIStatus, at now: Instant) {
        if status == .commandDisallowed { counters.desynchronisations &+= 1 }
        perform(initiator.completed(status, at: now), at: now)
        needsConvergence = true
    }

    private mutating func createConnection(_ plan: Initiator.Plan) {
        var peer: DeviceAddress
        let parameters: ConnectionParameterRequest
        let usesAcceptList: Bool
        switch plan {
        case .directed(let address, let wished):
            (peer, parameters, usesAcceptList) = (address, wished, false)
            if resolvingList.finds(address) { peer = address.asIdentity }
        case .acceptList(let addresses, let wished):
            // The address has no meaning beside the accept list; a controller that reads it all the same finds one of ours.
            peer = addresses.first ?? DeviceAddress(value: 0, kind: .public)
            (parameters, usesAcceptList) = (wished, true)
        }
        let duty = configuration.timing.foregroundScan
        let policy: InitiatorFilterPolicy = usesAcceptList ? .acceptList : .peerAddress
        if information.usesExtendedCommands {
            commands.append(
                LEExtendedCreateConnection(
                    filterPolicy: policy, ownAddressType: ownAddressType, peerAddress: peer,
                    le1M: .init(
                        scanInterval: duty.interval, scanWindow: duty.window,
                        connection: LEConnectionParameters(parameters))),
                purpose: .initiate)
        } else {
            commands.append(
                LECreateConnection(
                    scanInterval: duty.interval, scanWindow: duty.window, filterPolicy: policy, peerAddress: peer,
                    ownAddressType: ownAddressType, parameters: LEConnectionParameters(parameters)),
                purpose: .initiate)
        }
    }

    /// The controller, or another stack's use of it, does not let us have the accept list: the peers take turns in a
    /// shorter one, or without. None of them is to blame, so that no operation ends (SPEC CEN-9).
    private mutating func acceptListRefused(_ plan: Initiator.Plan, _ status: HCIStatus) {
        acceptListLimit = 1
        if status == .memoryCapacityExceeded, case .acceptList(let peers, _) = plan {
            acceptListLimit = max(1, peers.count - 1)
        }
        needsConvergence = true
    }

    /// The controller refused to look for a peer.
    private mutating func connectionRefused(_ plan: Initiator.Plan, _ status: HCIStatus, at now: Instant) {
        if status == .commandDisallowed, !scanMachine.isIdle, !mustNotInitiateWhileScanning {
            mustNotInitiateWhileScanning = true
            needsConvergence = true
            return
        }
        if status == .connectionAlreadyExists, configuration.ownership == .exclusive {
            // The link that is about to end still stands in the way.
            connector.pause(at: now)
            needsConvergence = true
            return
        }
        let opcode =
            information.usesExtendedCommands ? LEExtendedCreateConnection.opcode : LECreateConnection.opcode
        let peers: [DeviceAddress]
        switch plan {
        case .directed(let peer, _): peers = [peer]
        case .acceptList(let addresses, _): peers = addresses
        }
        for peer in peers {
            for pending in connector.take(peer) {
                complete(pending.operation, .failure(.controller(status, opcode)))
            }
        }
        needsConvergence = true
    }
}
