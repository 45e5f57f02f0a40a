import BLEPackets

/// Following periodic advertising.
extension Radio {
    // MARK: Wishes

    mutating func follow(
        _ request: TrainRequest, operation: OperationID, client: ClientID, into effects: inout Effects
    ) {
        guard BuiltIn.trains else { return effects.complete(operation, .failure(.limitReached)) }
        guard configuration.ownership == .exclusive else {
            return effects.complete(operation, .failure(.invalidRequest(.notAvailableOnSharedController)))
        }
        guard request.isValid else { return effects.complete(operation, .failure(.invalidRequest(.train))) }
        let followed = trains.train(for: request)
        trains.add(.follow(request), operation: operation, client: client)
        if let followed { share(followed, with: operation, into: &effects) }
        effects.needsConvergence = true
    }

    /// Takes the trains that the peer of a link transfers.
    mutating func receiveTrains(
        on link: LinkID, _ options: TrainOptions, operation: OperationID, client: ClientID, into effects: inout Effects
    ) {
        guard BuiltIn.trains else { return effects.complete(operation, .failure(.limitReached)) }
        guard options.isValid else { return effects.complete(operation, .failure(.invalidRequest(.train))) }
        // The controller knows one setting for each link.
        guard !trains.wantsTransfers(on: link) else { return effects.complete(operation, .failure(.limitReached)) }
        trains.add(.transfers(link, options), operation: operation, client: client)
        if !trains.hasEventMask { setTrainEventMask(purpose: .unattended, into: &effects) }
        effects.commands.append(
            LESetPeriodicAdvertisingSyncTransferParameters(
                connectionHandle: link.handle,
                mode: options.reportsOnlyChanges ? .followWithFilteredReports : .followWithReports,
                skip: options.skip, synchronizationTimeout: options.timeout),
            purpose: .trainReceiver(operation, link))
    }

    /// Tells the peer of a link how to follow a train: one that an operation follows or sends.
    func transferTrain(
        of source: OperationID, to link: LinkID, serviceData: UInt16, operation: OperationID,
        into effects: inout Effects
    ) {
        if let handle = trains.handle(of: source) {
            effects.commands.append(
                LEPeriodicAdvertisingSyncTransfer(
                    connectionHandle: link.handle, serviceData: serviceData, synchronizationHandle: handle),
                purpose: .trainTransfer(operation, link))
        } else if let index = sets.index(of: source), sets.entries[index].request.train != nil {
            effects.commands.append(
                LEPeriodicAdvertisingSetInfoTransfer(
                    connectionHandle: link.handle, serviceData: serviceData,
                    advertisingHandle: sets.entries[index].handle),
                purpose: .trainTransfer(operation, link))
        } else {
            effects.complete(operation, .failure(.invalidRequest(.train)))
        }
    }

    /// - Returns: whether there was such a request.
    mutating func removeTrain(_ operation: OperationID, into effects: inout Effects) -> Bool {
        guard BuiltIn.trains else { return false }
        guard let entry = trains.remove(operation) else { return false }
        end(entry, into: &effects)
        return true
    }

    /// Ends every request, oldest first.
    mutating func removeAllTrains(into effects: inout Effects) -> [OperationID] {
        guard BuiltIn.trains else { return [] }
        let operations = trains.entries.map { $0.operation }
        for operation in operations { _ = removeTrain(operation, into: &effects) }
        return operations
    }

    private func end(_ entry: TrainTable.Entry, into effects: inout Effects) {
        for train in entry.trains where !trains.follows(train.handle) {
            effects.commands.append(
                LEPeriodicAdvertisingTerminateSync(synchronizationHandle: train.handle), purpose: .unattended)
        }
        guard case .transfers(let link, let options) = entry.wish, !entry.isClosed else { return }
        effects.commands.append(
            LESetPeriodicAdvertisingSyncTransferParameters(
                connectionHandle: link.handle, mode: .ignore, synchronizationTimeout: options.timeout),
            purpose: .unattendedOnLink(link.handle))
    }

    /// Ends a train that nobody wants. A controller that reports more of them than it can answer keeps some.
    private func refuse(_ handle: SynchronizationHandle, into effects: inout Effects) {
        guard effects.commands.count(of: .unwantedTrain) < TrainTable.transferLimit else { return }
        effects.commands.append(
            LEPeriodicAdvertisingTerminateSync(synchronizationHandle: handle), purpose: .unwantedTrain)
    }

    // MARK: Convergence

    mutating func convergeTrains(at now: Instant, into effects: inout Effects) {
        guard BuiltIn.trains else { return }
        guard !trains.isEmpty || !trains.isIdle else { return }
        perform(trains.converge(isPaused: isPaused, at: now), into: &effects)
    }

    private mutating func perform(_ action: TrainTable.Action, into effects: inout Effects) {
        switch action {
        case .none: break
        case .setEventMask: setTrainEventMask(purpose: .train, into: &effects)
        case .clearList: effects.commands.append(LEClearPeriodicAdvertiserList(), purpose: .train)
        case .addToList(let advertiser):
            effects.commands.append(
                LEAddDeviceToPeriodicAdvertiserList(
                    advertiserAddress: advertiser.address.withoutIdentityMark,
                    advertisingSetIdentifier: advertiser.identifier), purpose: .train)
        case .create(let request):
            guard let first = request.advertisers.first else { return }
            var options: PeriodicSyncOptions = request.advertisers.count > 1 ? .usesAdvertiserList : []
            if request.options.reportsOnlyChanges { options.insert(.filtersDuplicates) }
            effects.commands.append(
                LEPeriodicAdvertisingCreateSync(
                    options: options, advertisingSetIdentifier: first.identifier,
                    advertiserAddress: first.address.withoutIdentityMark, skip: request.options.skip,
                    synchronizationTimeout: request.options.timeout), purpose: .train)
        case .cancel: effects.commands.append(LEPeriodicAdvertisingCreateSyncCancel(), purpose: .train)
        case .fail(let operation, let status, let opcode):
            if removeTrain(operation, into: &effects) {
                effects.complete(operation, .failure(.controller(status, opcode)))
            }
        }
        effects.needsConvergence = effects.needsConvergence || action != .none
    }

    /// These events are switched on when the first client follows a train.
    private func setTrainEventMask(purpose: CommandPurpose, into effects: inout Effects) {
        let events: LEEventMask = [
            .periodicAdvertisingSyncEstablished, .periodicAdvertisingReport, .periodicAdvertisingSyncLost,
            .periodicAdvertisingSyncTransferReceived,
        ]
        effects.commands.append(LESetEventMask(mask: eventMask.union(events)), purpose: purpose)
    }

    /// The controller answered a command about trains.
    mutating func trainAnswered(
        _ status: HCIStatus, _ opcode: HCIOpcode, at now: Instant, into effects: inout Effects
    ) {
        guard BuiltIn.trains else { return }
        effects.note(status)
        perform(trains.completed(status, opcode, at: now), into: &effects)
        effects.needsConvergence = true
    }

    /// The controller did not answer: not every controller knows these commands.
    mutating func trainTimedOut(_ opcode: HCIOpcode, at now: Instant, into effects: inout Effects) {
        guard BuiltIn.trains else { return }
        if case .fail(let operation, _, _) = trains.completed(.connectionTimeout, opcode, at: now),
            removeTrain(operation, into: &effects)
        {
            effects.complete(operation, .failure(.commandTimeout(opcode)))
        }
        effects.needsConvergence = true
    }

    /// The controller does not scan, so that it finds no train.
    mutating func endSearches(_ status: HCIStatus, into effects: inout Effects) {
        guard BuiltIn.trains else { return }
        for operation in trains.missing where removeTrain(operation, into: &effects) {
            effects.complete(operation, .failure(.controller(status, commandSet.scanOpcode)))
            effects.needsConvergence = true
        }
    }

    /// The controller answered the setting for trains that a peer transfers.
    mutating func trainReceiverAnswered(
        _ operation: OperationID, _ status: HCIStatus, _ opcode: HCIOpcode, into effects: inout Effects
    ) {
        guard BuiltIn.trains else { return }
        guard !status.isSuccess, trains.remove(operation) != nil else { return }
        effects.complete(operation, .failure(.controller(status, opcode)))
    }

    // MARK: Events

    @inline(never)
    mutating func received(_ event: LEPeriodicAdvertisingSyncEstablished, into effects: inout Effects) {
        guard BuiltIn.trains else { return }
        let attempt = trains.established(event.status, identifier: event.advertisingSetIdentifier)
        effects.needsConvergence = true
        guard event.status.isSuccess else {
            if let attempt, !attempt.isToBeRetried, removeTrain(attempt.operation, into: &effects) {
                effects.complete(attempt.operation, .failure(.connectionFailed(event.status)))
            }
            return
        }
        let information = TrainInformation(
            advertiser: event.advertiserAddress, identifier: event.advertisingSetIdentifier, phy: event.advertiserPHY,
            interval: event.interval, serviceData: nil)
        synchronized(event.synchronizationHandle, information, for: attempt?.operation, into: &effects)
    }

    @inline(never)
    mutating func received(_ event: LEPeriodicAdvertisingSyncTransferReceived, into effects: inout Effects) {
        guard BuiltIn.trains else { return }
        guard event.status.isSuccess else { return }
        let information = TrainInformation(
            advertiser: event.advertiserAddress, identifier: event.advertisingSetIdentifier, phy: event.advertiserPHY,
            interval: event.interval, serviceData: event.serviceData)
        synchronized(
            event.synchronizationHandle, information, for: trains.receiver(on: event.connectionHandle), into: &effects)
    }

    private mutating func synchronized(
        _ handle: SynchronizationHandle, _ information: TrainInformation, for operation: OperationID?,
        into effects: inout Effects
    ) {
        let train = TrainTable.Train(handle: handle, information: information)
        guard let operation, let client = trains.add(train, to: operation) else {
            return refuse(handle, into: &effects)
        }
        effects.events.append(.train(operation, client, .synchronized(information)))
        for other in trains.seekers(of: information) { share(train, with: other, into: &effects) }
    }

    /// A train is followed already: another operation gets its reports, too.
    private mutating func share(
        _ train: TrainTable.Train, with operation: OperationID, into effects: inout Effects
    ) {
        var train = train
        train.information.serviceData = nil
        guard let client = trains.add(train, to: operation) else { return }
        effects.events.append(.train(operation, client, .synchronized(train.information)))
    }

    @inline(never)
    mutating func received(_ event: LEPeriodicAdvertisingReport, at now: Instant, into effects: inout Effects) {
        guard BuiltIn.trains else { return }
        trains.receive(event, at: now) { operation, client, report in
            effects.events.append(.train(operation, client, .report(report)))
        }
        effects.counters.droppedValues = effects.events.droppedValues
    }

    @inline(never)
    mutating func received(_ event: LEPeriodicAdvertisingSyncLost, into effects: inout Effects) {
        guard BuiltIn.trains else { return }
        let losses = trains.lost(event.synchronizationHandle)
        guard !losses.isEmpty else { return }
        for loss in losses { report(loss, ending: .success(.done), into: &effects) }
        effects.needsConvergence = true
    }

    /// A link has ended, and with it what its peer could still transfer.
    mutating func trainsEnded(with link: LinkID, _ reason: DisconnectionReason, into effects: inout Effects) {
        guard BuiltIn.trains else { return }
        guard !trains.isEmpty else { return }
        for operation in trains.linkEnded(link) { effects.complete(operation, .failure(.linkLost(reason))) }
    }

    mutating func loseTrains(into effects: inout Effects) {
        guard BuiltIn.trains else { return }
        for loss in trains.controllerReset() { report(loss, ending: .failure(.controllerLost), into: &effects) }
    }

    private func report(
        _ loss: TrainTable.Loss, ending result: Result<HostResult, HostFailure>, into effects: inout Effects
    ) {
        let train = loss.train
        effects.events.append(
            .train(loss.operation, loss.client, .lost(advertiser: train.advertiser, identifier: train.identifier)))
        if loss.hasEnded { effects.complete(loss.operation, result) }
    }
}
